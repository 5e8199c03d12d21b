"""The transcript that a turn begins with: the remembered one if it surely is the journal's, else the journal's."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.messages.orders import RunAgent
from actors.vocabulary import events as ev
from actors.vocabulary.errors import UnknownConversation
from actors.vocabulary.ids import CallId, ConversationId, TurnId
from actors.vocabulary.records import Append, Record
from actors.vocabulary.settings import Settings
from supervisor.agents import journal_pages
from supervisor.agents.own.model.request import HistoryPiece, text_message
from supervisor.agents.own.model.wire import form
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.agents.own.transcript.transcripts import TranscriptCache
from supervisor.config.bounds import Bounds
from supervisor.config.shared_keys import WireApi
from tests.fakes.journal import FakeJournal
from tests.supervisor.agents.backends import CONVERSATION, an_input, an_order
from tests.supervisor.work.commands import limited
from tests.support.heads import idle_head
from tests.support.plain_form import PLAIN, items_of
from tests.support.work import command


def journal_of(*events: ev.DurableEvent) -> FakeJournal:
    journal = FakeJournal()
    records = tuple(
        Record(seq, 0.0, TurnId("t"), event.type, event.model_dump_json().encode())
        for seq, event in enumerate(events, 1)
    )
    head = idle_head(CONVERSATION, len(records), settings=b"", checkpoint=b"", generation=0)
    assert journal.commit([Append(CONVERSATION, records, head)]) == [None]
    return journal


def order(seq: int, *, resume: bool = False) -> RunAgent:
    return RunAgent(CONVERSATION, TurnId("t"), Settings(model="m", cwd=Path("/")), seq, resume, (an_input("new"),))


STORED = (
    ev.TaskStarted(),
    ev.UserMessage(message="old"),
    ev.AgentMessage(message="answer"),
    ev.TaskComplete(),
    ev.TaskStarted(),
    ev.UserMessage(message="new"),
)


def test_the_first_turn_after_a_start_reads_the_journal_with_its_own_input() -> None:
    async def scene() -> None:
        transcript = await TranscriptCache(journal_of(*STORED)).open(order(len(STORED)), PLAIN)
        assert items_of(transcript) == [
            text_message("user", "old"),
            text_message("assistant", "answer"),
            text_message("user", "new"),
        ]
        assert transcript.user_messages == ["new"]

    limited(scene())


def test_the_turn_that_a_conversation_begins_with_reads_nothing() -> None:
    async def scene() -> None:
        transcript = await TranscriptCache(FakeJournal()).open(replace(order(3), first=True), PLAIN)
        assert items_of(transcript) == [text_message("user", "new")]
        assert transcript.user_messages == ["new"]

    limited(scene())


def test_nothing_beyond_the_orders_seq_is_read() -> None:
    async def scene() -> None:
        transcript = await TranscriptCache(journal_of(*STORED)).open(order(3), PLAIN)
        assert items_of(transcript) == [text_message("user", "old"), text_message("assistant", "answer")]

    limited(scene())


def test_a_long_history_is_read_in_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        monkeypatch.setattr(journal_pages, "PAGE", 4)
        many = [ev.AgentMessage(message=str(number)) for number in range(50)]
        transcript = await TranscriptCache(journal_of(*many)).open(order(50), PLAIN)
        assert items_of(transcript) == [text_message("assistant", str(number)) for number in range(50)]

    limited(scene())


def test_messages_and_actions_of_another_agent_are_in_the_transcript() -> None:
    async def scene() -> None:
        use = ev.WorkEnded(
            call_id=CallId("c"),
            kind="command",
            subject=command("npm", "test"),
            agent_call=ev.AgentCall(title="Run the tests", sort="execute"),
            status="failed",
            exit_code=1,
        )
        stored = (ev.UserMessage(message="old"), use, ev.AgentMessage(message="It fails."))
        transcript = await TranscriptCache(journal_of(*stored)).open(order(3), PLAIN)
        assert items_of(transcript) == [
            text_message("user", "old"),
            text_message("user", "<another_agent>\nused a tool: npm test: exit status 1\n</another_agent>"),
            text_message("assistant", "It fails."),
        ]
        assert not transcript.calls.open

    limited(scene())


def test_a_transcript_that_was_kept_is_used_with_the_new_input() -> None:
    async def scene() -> None:
        cache = TranscriptCache(FakeJournal())
        kept = ModelTranscript(PLAIN)
        kept.take(ev.AgentMessage(message="remembered"))
        cache.keep(CONVERSATION, kept)
        transcript = await cache.open(order(9), PLAIN)
        assert items_of(transcript) == [text_message("assistant", "remembered"), text_message("user", "new")]

    limited(scene())


@pytest.mark.parametrize("why", ["resumed", "forgotten", "taken"])
def test_a_transcript_that_may_differ_from_the_journal_is_read_again(why: str) -> None:
    """The transcript is taken out when a turn begins, so that a turn which ends badly leaves none behind."""

    async def scene() -> None:
        cache = TranscriptCache(journal_of(*STORED))
        cache.keep(CONVERSATION, ModelTranscript(PLAIN))
        if why == "forgotten":
            cache.forget(CONVERSATION)
        elif why == "taken":
            await cache.open(order(len(STORED)), PLAIN)
        transcript = await cache.open(order(len(STORED), resume=why == "resumed"), PLAIN)
        assert len(items_of(transcript)) == 3

    limited(scene())


def test_only_so_many_are_kept_and_the_oldest_goes_first() -> None:
    async def scene() -> None:
        cache = TranscriptCache(journal_of(*STORED), Bounds(transcripts=3))
        cache.keep(CONVERSATION, ModelTranscript(PLAIN))
        for number in range(3):
            cache.keep(ConversationId(f"other-{number}"), ModelTranscript(PLAIN))
        assert len(items_of(await cache.open(order(len(STORED)), PLAIN))) == 3

    limited(scene())


def test_transcripts_are_kept_up_to_so_many_bytes_together() -> None:
    def kept(text: str) -> ModelTranscript:
        transcript = ModelTranscript(PLAIN)
        transcript.take(ev.AgentMessage(message=text))
        return transcript

    async def scene() -> None:
        cache = TranscriptCache(journal_of(*STORED), Bounds(transcripts_bytes=15_000))
        cache.keep(CONVERSATION, kept("x" * 6_000))
        cache.keep(CONVERSATION, kept("y" * 6_000))  # replaces the first, so it counts once
        assert items_of(await cache.open(order(len(STORED)), PLAIN))[0] == text_message("assistant", "y" * 6_000)
        cache.keep(CONVERSATION, kept("z" * 6_000))
        cache.keep(ConversationId("other"), kept("x" * 6_000))
        assert len(items_of(await cache.open(order(len(STORED)), PLAIN))) == 3
        cache.forget(CONVERSATION)  # the turn that has just opened it is over
        cache.keep(ConversationId("huge"), kept("x" * 15_001))
        assert cache.statistics() == {"transcripts": 0, "size": 0}

    limited(scene())


def test_a_transcript_in_the_form_of_another_wire_is_read_again() -> None:
    """The provider of a conversation may change between two turns."""

    async def scene() -> None:
        cache = TranscriptCache(journal_of(*STORED))
        cache.keep(CONVERSATION, await cache.open(order(len(STORED)), form(WireApi.CHAT, "m")))
        transcript = await cache.open(order(len(STORED)), form(WireApi.RESPONSES, "m"))
        assert transcript.form is form(WireApi.RESPONSES, "m")
        assert [json.loads(piece.data)["type"] for piece in transcript.items if isinstance(piece, HistoryPiece)] == [
            "message"
        ] * 3

    limited(scene())


def test_a_history_as_long_as_a_request_may_be_is_kept_and_not_read_again() -> None:
    async def scene() -> None:
        journal = journal_of(*STORED)
        cache = TranscriptCache(journal)
        long = await cache.open(order(len(STORED)), PLAIN)
        for _ in range(31):
            long.take(ev.AgentMessage(message="x" * (1 << 20)))
        cache.keep(CONVERSATION, long)
        journal.close()
        assert len(items_of(await cache.open(order(len(STORED)), PLAIN))) == 3 + 31 + 1

    limited(scene())


def test_transcripts_of_running_turns_push_out_those_between_turns() -> None:
    async def scene() -> None:
        cache = TranscriptCache(journal_of(*STORED), Bounds(transcripts_bytes=30_000))
        idle, other = ModelTranscript(PLAIN), ModelTranscript(PLAIN)
        idle.take(ev.AgentMessage(message="x" * 10_000))
        other.take(ev.AgentMessage(message="y" * 10_000))
        cache.keep(CONVERSATION, other)
        running = await cache.open(order(len(STORED)), PLAIN)
        cache.keep(ConversationId("idle"), idle)
        assert cache.statistics()["transcripts"] == 1
        cache.keep(ConversationId("another"), idle)
        assert cache.statistics()["transcripts"] == 1
        cache.keep(CONVERSATION, running)
        assert cache.statistics()["transcripts"] == 2
        for conversation in (CONVERSATION, ConversationId("idle"), ConversationId("another")):
            cache.forget(conversation)
        assert cache.statistics() == {"transcripts": 0, "size": 0}

    limited(scene())


def test_a_journal_that_ends_too_early_is_an_error_and_not_a_shorter_history() -> None:
    async def scene() -> None:
        with pytest.raises(UnknownConversation, match="ends at 6, not at 7"):
            await TranscriptCache(journal_of(*STORED)).open(order(7), PLAIN)
        with pytest.raises(UnknownConversation):
            await TranscriptCache(FakeJournal()).open(an_order(), PLAIN)

    limited(scene())


def test_items_without_a_letter_have_a_size_too() -> None:
    """A model may say a thousand of them in one answer."""
    cache = TranscriptCache(FakeJournal(), Bounds(transcripts_bytes=100_000))
    for number in range(10):
        transcript = ModelTranscript(form(WireApi.CHAT, "m"))
        for _ in range(1000):
            transcript.take(ev.AgentMessage(message=""))
        cache.keep(ConversationId(f"c{number}"), transcript)
    assert cache.statistics()["transcripts"] < 3
