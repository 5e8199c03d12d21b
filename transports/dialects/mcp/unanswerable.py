"""Approvals that wait while this client can't be asked: denied when nobody who could answer came in time.

Who could is everybody who reads the conversation and does not only watch. Others are left to answer at their pace.
"""

from collections.abc import Callable, Iterable
from typing import Any

from actors.answers import Summary
from actors.ids import ApprovalId, ConnectionId, ConversationId
from actors.messages import AnswerApproval, Inspect, ToConversation
from actors.settings import Decision
from transports.dialect import Action, Tell, Wake
from transports.dialects.mcp.expected import Expected

Label = Callable[[], str]  # who we are, as histories say it

WAKE = "unanswerable"
LOOK_AGAIN_S = 1.0  # at least so long between two looks, even if nobody is to be waited for at all


class Unanswerable:
    def __init__(self, label: Label, expected: Expected, patience_s: float) -> None:
        self._label = label
        self._expected = expected
        self._patience_s = patience_s
        self._waiting: dict[ApprovalId, ConversationId] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def admit(self, approval: ApprovalId) -> bool:
        return approval not in self._waiting

    def wait(self, approval: ApprovalId, conversation: ConversationId) -> Iterable[Action]:
        self._waiting[approval] = conversation
        yield Wake(f"{WAKE}:{approval}", self._patience_s)

    def over(self, approval: ApprovalId) -> None:
        self._waiting.pop(approval, None)

    def abandon(self, conversation: ConversationId) -> None:
        self._waiting = {key: one for key, one in self._waiting.items() if one != conversation}

    def woken(self, approval: ApprovalId) -> Iterable[Action]:
        conversation = self._waiting.get(approval)
        if conversation is None:
            return ()

        def seen(summary: Any) -> Iterable[Action]:
            if approval not in self._waiting:
                return
            if not isinstance(summary, Summary) or not _waits(summary, approval):
                del self._waiting[approval]  # settled, and nobody of ours was there to see it
                return
            if somebody_can(summary):
                yield Wake(f"{WAKE}:{approval}", max(self._patience_s, LOOK_AGAIN_S))
                return
            del self._waiting[approval]
            reason = f"no attached client was able to answer it within {self._patience_s:g} s"
            answer = AnswerApproval(None, approval, Decision.DENIED, self._label(), reason)
            yield Tell(ToConversation(conversation, answer))

        caller = self._expected.reply(seen)
        return (Tell(ToConversation(conversation, Inspect(caller))),)


def _waits(summary: Summary, approval: ApprovalId) -> bool:
    return any(one.approval_id == approval for one in summary.pending)


def somebody_can(summary: Summary) -> bool:
    return any(not reader.read_only for reader in summary.readers)


def somebody_else_can(summary: Summary, than: ConnectionId) -> bool:
    return any(not reader.read_only and reader.connection != than for reader in summary.readers)
