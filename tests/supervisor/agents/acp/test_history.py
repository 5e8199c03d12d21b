"""The history that an agent is told: from the journal, behind what it knows, without what it gets with its prompt."""

from pathlib import Path

from msgspec.structs import replace

from actors.messages.orders import RunAgent
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, ItemId, TurnId
from actors.vocabulary.settings import Decision, Settings
from supervisor.agents.acp.catch_up import MissedHistory
from tests.fakes.journal import FakeJournal
from tests.supervisor.agents.backends import CONVERSATION, an_input
from tests.supervisor.agents.own.transcript.test_transcripts import journal_of
from tests.supervisor.work.commands import limited
from tests.support.work import command_asked

NEW = an_input("new")
ORDER = RunAgent(CONVERSATION, TurnId("t"), Settings(model="m", cwd=Path("/"), agent="claude"), 0, inputs=(NEW,))


def said(text: str, item: str = "") -> ev.UserMessage:
    return ev.UserMessage(message=text, item_id=ItemId(item))


def test_history_after_the_known_part_is_told_without_the_agents_own_input() -> None:
    async def scene() -> None:
        stored = (said("first"), ev.TaskStarted(), said("second"), ev.TaskStarted(), said("new", NEW.id))
        missed = await MissedHistory(journal_of(*stored), lambda: 1_000).record_since(replace(ORDER, seq=5), 1)
        assert missed.text("meanwhile").split("\n\n")[1:-1] == ["The person:\nsecond"]

    limited(scene())


def test_nothing_is_read_where_nothing_came_between() -> None:
    async def scene() -> None:
        assert not await MissedHistory(FakeJournal(), lambda: 1_000).record_since(replace(ORDER, seq=9), 7)
        assert not await MissedHistory(FakeJournal(), lambda: 1_000).record_since(
            replace(ORDER, seq=9, first=True), 0
        )

    limited(scene())


def test_answers_that_came_while_its_program_was_gone_are_told() -> None:
    async def scene() -> None:
        request = command_asked("rm", "x", approval="a")
        answer = ev.ApprovalResolved(approval_id=ApprovalId("a"), decision=Decision.DENIED)
        history = MissedHistory(journal_of(ev.TaskStarted(), request, answer), lambda: 1_000)
        assert "- rm x: refused" in await history.answers_text(replace(ORDER, seq=3, resume=True))

    limited(scene())
