"""Histories that are summed up: what a model reads from then on, and what nobody loses."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import WrongState
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.items import ImageItem, TextItem
from actors.vocabulary.settings import ApprovalPolicy, Decision
from supervisor.agents.own.transcript.wording import ASK_OPENING, OPENING
from supervisor.services.forks_and_imports import make_fork
from tests.supervisor.agents.own.turns import requests as r
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.narrow_server import WINDOW, NarrowServer

TOLD = f"model_context_window = {WINDOW}\n"
SMALL = 6_000
LONG = "word " * 300
PIXEL = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"


@contextmanager
def a_talk(
    tmp_path: Path, *, window: int = SMALL, told: bool = True, wire: str = "chat", **server: object
) -> Iterator[tuple[NarrowServer, EngineHarness, Talk]]:
    """A conversation with a model of a small window. `told`: the config says how small."""
    with NarrowServer(window, **server) as narrow:  # type: ignore[arg-type]  # passed on
        top = f"model_context_window = {window}\n" if told else ""
        with harness_at(tmp_path, narrow.base_url, wire, top=top) as harness:
            yield narrow, harness, harness.talk()


@pytest.fixture
def narrow() -> Iterator[NarrowServer]:
    with NarrowServer() as server:
        yield server


@pytest.fixture
def harness(tmp_path: Path, narrow: NarrowServer) -> Iterator[EngineHarness]:
    with harness_at(tmp_path, narrow.base_url, top=TOLD) as harness:
        yield harness


def words(number: int) -> str:
    return f"say {number} dogs and {number * 7} cats"


def last_request(server: NarrowServer) -> str:
    return json.dumps(server.requests[-1].body, ensure_ascii=False)


@pytest.mark.parametrize(
    ("turns", "window"), [(150, SMALL), pytest.param(500, WINDOW, marks=[pytest.mark.soak, pytest.mark.timeout(120)])]
)
def test_all_words_of_a_person_are_in_the_last_request_after_hundreds_of_turns(
    tmp_path: Path, turns: int, window: int
) -> None:
    with a_talk(tmp_path, window=window) as (narrow, harness, talk):
        for number in range(turns):
            talk.ask(words(number))
            harness.recorder.forget()
        last = last_request(narrow)
        assert [number for number in range(turns) if words(number) not in last] == []
        assert max(narrow.counted) <= window
        assert narrow.refused == 0
        assert 2 <= narrow.summed_up <= 40
        summary = talk.summary()
        assert summary.context_window == window
        assert summary.context_tokens is not None
        assert abs(summary.context_tokens - narrow.counted[-1]) < 100


def fill(talk: Talk, turns: int) -> None:
    """Short words of a person, long answers of a model."""
    for number in range(turns):
        talk.ask(said(number))


def said(number: int) -> str:
    return f"stream 300 word{number % 10} "


def said_in(server: NarrowServer, number: int = -1) -> list[r.Line]:
    return r.lines(server.requests[number])


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_near_the_limit_the_history_is_summed_up_and_the_turn_goes_on(tmp_path: Path, wire: str) -> None:
    with a_talk(tmp_path, wire=wire) as (narrow, _, talk):
        narrow.notes = "say They asked for words."
        fill(talk, 14)
        summed = talk.wait(ev.Compacted)
        assert (summed.why, summed.context_window, narrow.refused) == ("limit", SMALL, 0)
        assert summed.summary.startswith("They asked for words.")
        assert summed.tokens_before is not None
        assert summed.tokens_after is not None
        assert summed.tokens_after < summed.tokens_before
        assert summed.first_seq == 1
        last = last_request(narrow)
        assert OPENING[:30] in last
        assert "They asked for words." in last
        for request in narrow.requests:
            r.check_well_formed(request)


def test_the_request_for_notes_is_the_history_as_it_was_read_and_a_question_behind_it(tmp_path: Path) -> None:
    """So the provider's cache has it."""
    with a_talk(tmp_path) as (narrow, _, talk):
        fill(talk, 9)
        number = next(
            at for at, one in enumerate(narrow.requests) if any(ASK_OPENING in line[1] for line in r.lines(one))
        )
        *before, question = r.lines(narrow.requests[number])
        assert r.lines(narrow.requests[number - 1])[: len(before)] == before
        assert question[1].startswith(ASK_OPENING)
        assert narrow.requests[number].body["tools"] == narrow.requests[number - 1].body["tools"]


@pytest.mark.parametrize("wire", ["chat", "responses", "messages"])
def test_after_a_restart_the_model_reads_byte_for_byte_what_it_read_before(tmp_path: Path, wire: str) -> None:
    with a_talk(tmp_path, wire=wire) as (narrow, harness, talk):
        fill(talk, 12)
        talk.result(talk.compact())
        fill(talk, 2)
        before = r.lines(narrow.requests[-1])
        harness.restart()
        talk.ask("say again")
        assert r.lines(narrow.requests[-1])[: len(before)] == before
        assert talk.all(ev.Compacted)


@pytest.mark.parametrize("reports", [True, False], ids=["names its window", "says too long"])
def test_a_refused_history_is_summed_up_and_the_turn_goes_on(tmp_path: Path, *, reports: bool) -> None:
    with a_talk(tmp_path, told=False, reports=reports) as (narrow, _, talk):
        fill(talk, 16)
        assert {one.why for one in talk.all(ev.Compacted)} <= {"refused", "limit"}
        assert talk.all(ev.Compacted)[0].why == "refused"
        assert narrow.refused >= 1
        assert len(talk.all(ev.TaskComplete)) == 16
        assert talk.all(ev.ErrorEvent) == []
        if reports:
            assert narrow.refused == 1
            assert talk.summary().context_window == SMALL


def test_a_message_that_does_not_fit_even_alone_ends_the_turn_with_a_clear_error(tmp_path: Path) -> None:
    with a_talk(tmp_path, told=False) as (_, __, talk):
        fill(talk, 2)
        result = talk.result(talk.start("say " + "x" * 60_000))
        assert result.ending is Ending.ERROR
        assert result.message is not None
        assert "does not fit into" in result.message
        assert talk.ask("say short").message == "short"


def test_a_history_of_a_larger_model_is_summed_up_in_pieces_for_a_smaller_one(tmp_path: Path) -> None:
    with a_talk(tmp_path, window=60_000) as (narrow, harness, talk):
        fill(talk, 60)
        assert talk.all(ev.Compacted) == []
        narrow.window = 8_000
        (harness.home / "config" / "config.toml").write_text(
            (harness.home / "config" / "config.toml").read_text().replace("60000", "8000")
        )
        harness.restart()
        talk.ask("say small")
        summed = talk.wait(ev.Compacted)
        assert summed.requests > 2
        assert summed.left_out == 0
        assert (narrow.refused, narrow.summed_up) == (0, summed.requests)


def test_of_a_window_that_nobody_knows_pieces_are_halved_until_they_fit(tmp_path: Path) -> None:
    with a_talk(tmp_path, window=60_000, told=False, reports=False) as (narrow, _, talk):
        fill(talk, 40)
        narrow.window = 8_000
        talk.ask("say small")
        summed = talk.wait(ev.Compacted)
        assert summed.why == "refused"
        assert max(narrow.counted[-3:]) <= 8_000


def test_notes_without_a_word_are_asked_for_again_and_then_an_error_that_changes_nothing(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, _, talk):
        narrow.notes = 'call shell ["true"]'
        talk.ask("say hello")
        result = talk.result(talk.compact())
        assert result.ending is Ending.ERROR
        assert result.message is not None
        assert "history stays as it was" in result.message
        assert narrow.summed_up == 2
        narrow.notes = "say notes"
        talk.ask("say on")
        assert [line for line in said_in(narrow) if OPENING[:20] in line[1]] == []
        assert ("user", "say hello") in said_in(narrow)


def test_a_person_asks_for_room_and_what_was_said_last_stays_word_for_word(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, _, talk):
        talk.ask('call update_plan {"plan":[{"step":"feed the dog","status":"in_progress"}]}; then; say planned')
        fill(talk, 3)
        talk.ask("say the last words")
        result = talk.result(talk.compact())
        assert result.ending is Ending.COMPLETED
        summed = talk.wait(ev.Compacted)
        assert (summed.why, [one.step for one in summed.plan]) == ("asked", ["feed the dog"])
        talk.ask("say on")
        lines = said_in(narrow)
        stands = next(line[1] for line in lines if line[1].startswith(OPENING))
        assert "feed the dog" in stands
        assert all(said(number).strip() in stands for number in range(3))
        assert ("assistant", "the last words") in lines
        assert [line[0] for line in lines].count("call") == 0


def test_with_nothing_said_it_is_refused(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (_, harness, talk):
        assert isinstance(harness.answer(talk.compact(), WrongState), WrongState)


def test_while_a_turn_runs_it_waits_and_comes_after_it(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, _, talk):
        fill(talk, 2)
        running = talk.start("say a; hold gate; say b")
        narrow.wait_held("gate")
        waiting = talk.compact()
        narrow.open("gate")
        assert talk.result(running).ending is Ending.COMPLETED
        assert talk.result(waiting).ending is Ending.COMPLETED
        assert [one.task for one in talk.all(ev.TaskStarted)] == ["answer", "answer", "answer", "compact"]


def test_interrupting_it_leaves_the_history_as_it_was(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, _, talk):
        fill(talk, 3)
        narrow.notes = "say half of; hold notes; say the notes"
        asked = talk.compact()
        narrow.wait_held("notes")
        assert talk.interrupted(talk.interrupt()).ending is Ending.INTERRUPTED
        assert talk.result(asked).ending is Ending.INTERRUPTED
        assert talk.all(ev.Compacted) == []
        assert [one for one in talk.all(ev.AgentMessage) if one.partial] == []
        talk.ask("say on")
        assert [one for one in said_in(narrow) if one[0] == "user"][1:] == [
            *(("user", said(number)) for number in range(3)),
            ("user", "say on"),
        ]


def test_a_message_during_a_compaction_joins_the_turn_after_it(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, harness, talk):
        fill(talk, 7)
        narrow.notes = "hold notes; say the notes"
        running = talk.start(f"say now {LONG}; raw x")
        narrow.wait_held("notes")
        harness.answer(talk.start("say steered", await_end=False), AcceptedInput)
        narrow.open("notes")
        assert talk.result(running).ending is Ending.COMPLETED
        last = last_request(narrow)
        assert "say steered" in last
        assert "say now" in last


def test_in_the_middle_of_a_turn_calls_keep_their_outputs(tmp_path: Path) -> None:
    print_ = 'call shell ["sh","-c","yes | head -c 3000"]'
    with a_talk(tmp_path) as (narrow, harness, talk):
        talk.ask("; then; ".join([print_] * 12) + "; then; say done")
        assert len(talk.all(ev.Compacted)) >= 2
        for request in narrow.requests:
            r.check_well_formed(request)
        assert narrow.refused == 0
        harness.restart()
        talk.ask("say on")
        r.check_well_formed(narrow.requests[-1])


def test_words_that_do_not_fit_even_alone_are_shortened_the_oldest_first_and_it_is_said(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, _, talk):
        for number in range(14):
            talk.ask(f"say ok; raw {number} {LONG}")
        summed = talk.all(ev.Compacted)[-1]
        assert summed.words_cut_seq is not None
        told = [one.message for one in talk.all(ev.BackgroundEvent) if one.message.startswith("your messages up to")]
        assert told
        stands = next(line[1] for line in said_in(narrow) if line[1].startswith(OPENING))
        assert "raw 0 word" in stands
        assert "[…]" in stands
        assert narrow.refused == 0


def test_pictures_of_what_was_summed_up_are_named_and_no_longer_sent(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, _, talk):
        talk.ask(ImageItem(image_url=PIXEL), TextItem(text="say look"))
        talk.ask("say more")
        assert PIXEL in last_request(narrow)
        talk.result(talk.compact())
        talk.ask("say on")
        assert PIXEL not in last_request(narrow)
        assert "say look [with 1 pictures, no longer shown]" in last_request(narrow)


def test_a_turn_that_waited_over_a_restart_goes_on_behind_the_summary(tmp_path: Path) -> None:
    with NarrowServer(SMALL) as narrow, harness_at(tmp_path, narrow.base_url, top=TOLD) as harness:
        talk = harness.talk(approval_policy=ApprovalPolicy.UNTRUSTED)
        fill(talk, 3)
        narrow.notes = "say Words were streamed."
        talk.result(talk.compact())
        talk.start('call shell ["touch","made"]; then; say done')
        question = talk.wait(ev.ApprovalRequested)
        harness.restart()
        talk.decide(question.approval_id, Decision.APPROVED)
        talk.wait(ev.TaskComplete, 5)
        last = last_request(narrow)
        assert "Words were streamed." in last
        assert [number for number in range(3) if said(number).strip() not in last] == []
        r.check_well_formed(narrow.requests[-1])
        assert (harness.workspace / "made").exists()


def test_pictures_left_out_by_a_restart_stay_out_behind_the_summary(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (narrow, _, talk):
        talk.ask("say one")
        talk.result(talk.compact())
        talk.ask(ImageItem(image_url=PIXEL), TextItem(text="say look"))
        assert PIXEL in last_request(narrow)
        talk.result(talk.start("status 400 times=all no such picture"))
        talk.restart()
        talk.ask("say on")
        assert PIXEL not in last_request(narrow)
        r.check_well_formed(narrow.requests[-1])


def test_a_fork_before_it_has_the_whole_history_and_one_behind_it_the_summary(tmp_path: Path) -> None:
    with a_talk(tmp_path) as (_, harness, talk):
        fill(talk, 3)
        before = talk.summary().seq
        talk.result(talk.compact())
        journal = harness.engine.journal
        early = make_fork(journal, talk.conversation, ConversationId("early"), before, None)
        late = make_fork(journal, talk.conversation, ConversationId("late"), None, None)
        seq = next(one.seq for one in talk.seen() if isinstance(one.event, ev.Compacted))
        compacted = [json.loads(one.head.checkpoint)["compacted"] for one in (early, late)]
        assert compacted == [0, seq]


def test_interrupted_at_any_moment_it_is_whole_or_not_there_and_the_next_request_is_well_formed(
    tmp_path: Path,
) -> None:
    """Each interrupt comes one event later than the one before: counted, not slept."""
    with a_talk(tmp_path) as (narrow, harness, talk):
        fill(talk, 3)
        narrow.notes = "stream 5 note "
        for events in range(8):
            there = len(harness.recorder.seen)
            asked = talk.compact()

            def later(there: int = there, events: int = events, asked: Caller = asked) -> bool | None:
                over = harness.recorder.answers.get(asked.request) is not None
                return over or len(harness.recorder.seen) >= there + events or None

            harness.recorder.wait_for(later, f"{events} more events")
            talk.interrupted(talk.interrupt())
            talk.ask("say on")
            users = [line[1] for line in said_in(narrow) if line[0] == "user"]
            assert any(OPENING[:20] in one for one in users) == bool(talk.all(ev.Compacted))
            assert all(said(number).strip() in last_request(narrow) for number in range(3))
            r.check_well_formed(narrow.requests[-1])


def test_a_window_is_shown_as_soon_as_a_response_has_come(harness: EngineHarness, narrow: NarrowServer) -> None:
    talk = harness.talk()
    assert (talk.summary().context_tokens, talk.summary().context_window) == (None, None)
    talk.ask("say one")
    counted = talk.wait(ev.TokenCount)
    assert (counted.context_tokens, counted.context_window) == (narrow.counted[-1] + 12, WINDOW)
    assert (talk.summary().context_tokens, talk.summary().context_window) == (narrow.counted[-1] + 12, WINDOW)
    talk.ask("say two")
    assert talk.all(ev.TaskStarted)[-1].model_context_window == WINDOW


def test_a_window_that_the_server_tells_counts_without_any_config(tmp_path: Path) -> None:
    with a_talk(tmp_path, told=False) as (narrow, _, talk):
        narrow.tells = {"/props": {"default_generation_settings": {"n_ctx": SMALL}}}
        fill(talk, 14)
        assert {one.why for one in talk.all(ev.Compacted)} == {"limit"}
        assert narrow.refused == 0
