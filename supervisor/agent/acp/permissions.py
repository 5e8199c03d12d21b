"""An agent's requests for permission: each is an approval of ours, asked once for each tool call. Loop thread.

An agent may ask twice for one call, about different things: its directory, then its command. Those are two questions.
The sandbox around the agent bounds what it can do; the question is for people who want to know before.
"""

import asyncio
from collections.abc import Iterable, Iterator
from secrets import token_hex
from typing import Any, Literal

from msgspec import Struct

from actors.conversation.orders import AgentNews
from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, approval_in
from actors.vocabulary.settings import ApprovalPolicy, Decision
from supervisor.agent.acp.shapes import shapes, short, text
from supervisor.agent.acp.tool_use import ToolUse
from supervisor.agent.acp.updates import Updates
from supervisor.agent.acp.wire import Json
from supervisor.agent.turn import ApprovalAnswer, Turn

OPTIONS = 20  # that are offered; agents offer three
OPTION_ID = 200  # characters; a longer id could not be told apart from others by people
QUESTIONS = 1_000  # of one turn that are remembered, to answer the same alike
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
PREFERRED = {
    Decision.APPROVED: ("allow_once", "allow_always"),
    Decision.APPROVED_FOR_SESSION: ("allow_always", "allow_once"),
    Decision.DENIED: ("reject_once", "reject_always"),
    Decision.ABORT: ("reject_once", "reject_always"),
}
LOOKS = {"read", "search", "think"}
UNASKED = {ApprovalPolicy.ON_REQUEST, ApprovalPolicy.ON_FAILURE}
CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}
YES = ApprovalAnswer(Decision.APPROVED)


class Asking(Struct, frozen=True):
    """A question of this turn, and its answer when it comes."""

    about: tuple[object, ...]
    answer: "asyncio.Task[ApprovalAnswer]"


class Deadline(Struct, frozen=True):
    """The time that a question waits, and the answer that it has then."""

    after_s: float | None = None
    default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED


class Permissions:
    """The questions of one turn."""

    def __init__(self, turn: Turn, agent: str, updates: Updates, deadline: Deadline = Deadline()) -> None:  # noqa: B008 - frozen
        self._turn = turn
        self._agent = agent
        self._updates = updates
        self._deadline = deadline
        self._asked: dict[CallId, list[Asking]] = {}
        self._noticed: set[str] = set()

    async def ask(self, params: Json) -> Json:
        """Return the outcome: a person's answer, or what the policy says. The same is asked once, answered alike."""
        use = self._updates.permission(params.get("toolCall"))
        options = tuple(options_of(params.get("options")))
        if not any(one.kind.startswith("allow") for one in options):
            self._notice(f"{self._agent} asked for a permission and offered no yes, so nobody was asked")
            self._settle(use, approved=False)
            return CANCELLED
        answer = await self._answer(use, options)
        if answer is None:
            return CANCELLED
        self._settle(use, approved=answer.approved)
        return outcome(answer, options)

    async def _answer(self, use: ToolUse, options: tuple[ev.ApprovalOption, ...]) -> ApprovalAnswer | None:
        """Return the answer; None if the turn is stopped meanwhile."""
        if (unasked := self._by_policy(use)) is not None:
            return unasked
        asking = self._same(use, options) or self._new(use, options)
        await asyncio.wait({asking})
        return None if asking.cancelled() else asking.result()

    def _by_policy(self, use: ToolUse) -> ApprovalAnswer | None:
        """Looking is never asked for, as it isn't with our own tools; with policy `never`, nothing is."""
        policy = self._turn.settings.approval_policy
        if policy is ApprovalPolicy.NEVER:
            self._notice(f"what {self._agent} asks for is allowed without a question: the approval policy is never")
            return YES
        looks = use.kind in LOOKS and not (use.command or use.changes)
        return YES if looks and policy in UNASKED else None

    def _same(self, use: ToolUse, options: tuple[ev.ApprovalOption, ...]) -> "asyncio.Task[ApprovalAnswer] | None":
        """The same question, asked before in this turn; its answer still holds. A call without an id has none."""
        known = self._asked.get(use.call_id, ()) if use.call_id else ()
        return next((one.answer for one in known if one.about == _about(use, options)), None)

    def _new(self, use: ToolUse, options: tuple[ev.ApprovalOption, ...]) -> "asyncio.Task[ApprovalAnswer]":
        request = ev.ToolUseApprovalRequest(
            **use.facts(),
            arguments=use.arguments,
            agent=self._agent,
            options=options,
            approval_id=approval_in(self._turn.order.conversation, token_hex(6)),
            deadline_s=self._deadline.after_s,
            default=self._deadline.default,
        )
        self._say(self._updates.end_words())  # which outlive, with it, a daemon that is killed
        asking = asyncio.create_task(self._turn.ask(request), name=f"ask-{use.call_id}")
        self._asked.setdefault(use.call_id, []).append(Asking(_about(use, options), asking))
        self._forget_the_oldest()
        return asking

    def _forget_the_oldest(self) -> None:
        if sum(map(len, self._asked.values())) > QUESTIONS:
            oldest = next(iter(self._asked))
            kept = [one for one in self._asked[oldest][1:] if not one.answer.done()]
            self._asked.pop(oldest)
            if kept:
                self._asked[oldest] = kept

    def _settle(self, use: ToolUse, *, approved: bool) -> None:
        news = self._updates.allowed if approved else self._updates.refused
        self._say(news(use.call_id))

    def _notice(self, message: str) -> None:
        """Tell a person, once in a turn."""
        if message not in self._noticed:
            self._noticed.add(message)
            self._say((ev.BackgroundEvent(message=message),))

    def _say(self, news: Iterable[AgentNews]) -> None:
        if told := tuple(news):
            self._turn.emit(*told)

    @property
    def waits(self) -> bool:
        """True while a person has to answer."""
        return any(not one.answer.done() for known in self._asked.values() for one in known)

    def cancel(self) -> None:
        """Answer everything that is open with `cancelled`: the turn is being stopped."""
        for known in self._asked.values():
            for one in known:
                one.answer.cancel()


def _about(use: ToolUse, options: tuple[ev.ApprovalOption, ...]) -> tuple[object, ...]:
    return use.kind, use.title, use.command, use.arguments, use.shown, options


def options_of(offered: Any) -> Iterator[ev.ApprovalOption]:
    """The options that can be chosen: each with an id that no other has, and of a kind that the protocol knows."""
    known = set[str]()
    for one in shapes(offered, OPTIONS):
        option, kind = text(one.get("optionId")), one.get("kind")
        if option and len(option) <= OPTION_ID and option not in known and kind in KINDS:
            known.add(option)
            yield ev.ApprovalOption(id=option, name=short(one.get("name")) or option, kind=kind)


def outcome(answer: ApprovalAnswer, options: Iterable[ev.ApprovalOption]) -> Json:
    """Return the option that was named, or the one that means the answer; `cancelled` where there is none."""
    offered = tuple(options)
    by_kind = {one.kind: one.id for one in reversed(offered)}
    named = next((one.id for one in offered if one.id == answer.option), None)
    meant = (by_kind[kind] for kind in PREFERRED.get(answer.decision, ()) if kind in by_kind)
    chosen = named if named is not None else next(meant, None)
    return CANCELLED if chosen is None else {"outcome": {"outcome": "selected", "optionId": chosen}}
