"""Names that are made of a conversation's first words: when, of what, and never the same twice."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.messages.conversation import CancelRequest, ConnectionClosed, Inspect, Interrupt, Rename
from actors.messages.routing import Resolve
from actors.vocabulary import events as ev
from actors.vocabulary.answers import ConversationSummary, Done, ResolvedReference
from actors.vocabulary.errors import GreenroomError, StorageFailed
from actors.vocabulary.events import durable_adapter
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.naming import LONGEST, names_for, refused_name
from supervisor.cli.kit.formatting import width
from supervisor.cli.kit.ids import check_name
from tests.actors.routing.test_finding import looking, park
from tests.fakes.agents import says
from tests.fakes.daemon import StagedDaemon

A, B = ConversationId("aaaa-0001"), ConversationId("bbbb-0002")


# --- the words ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("why does the test fail?", "why-does-the-test"),
        ("Fix the login page, please", "fix-the-login-page"),
        ("don't do it", "dont-do-it"),
        ("@last -- rm -rf /", "last-rm-rf"),
        ("Ünïcödé wörds", "ünïcödé-wörds"),
        ("日本語のプロンプトはどうなりますか", "日本語のプロンプトは"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
        ("supercalifragilisticexpialidocious", "supercalifragilistic"),
        ("\u202egnp\u200bexe\x1b[31m", "gnp-exe-31m"),
    ],
)
def test_a_name_is_the_first_words_in_small_letters(words: str, name: str) -> None:
    assert names_for(words, A)[0] == name


@pytest.mark.parametrize("words", ["", "   ", "🙂🙂", "?!", "---", "\u200b"])
def test_words_without_a_letter_make_no_name(words: str) -> None:
    assert names_for(words, A) == ()


@given(st.text(max_size=60), st.uuids())
def test_every_name_can_be_seen_and_typed_and_has_room_in_a_table(words: str, conversation: object) -> None:
    names = names_for(words, str(conversation))
    assert len({*names}) == len(names)
    for name in names:
        assert check_name(name) == name
        assert refused_name(name) is None
    assert not names or width(names[0]) <= LONGEST
    assert names == names_for(words, str(conversation))


# --- the conversations ----------------------------------------------------------------------------------------------


def name_of(daemon: StagedDaemon, conversation: ConversationId) -> str | None:
    caller = daemon.caller()
    daemon.tell(conversation, Inspect(), caller)
    daemon.run()
    found = daemon.answer(caller)
    assert isinstance(found, ConversationSummary)
    return found.name


def types(daemon: StagedDaemon, conversation: ConversationId) -> list[str]:
    return [record.type for record in daemon.journal.history(conversation)]


@pytest.fixture
def speaking(daemon: StagedDaemon) -> StagedDaemon:
    daemon.agents.script = lambda _: says("hello")
    return daemon


def test_the_first_message_names_the_conversation_for_every_client(speaking: StagedDaemon) -> None:
    speaking.create(A)
    speaking.send(A, "fix the login")
    speaking.run()
    assert name_of(speaking, A) == "fix-the-login"
    assert speaking.ask(Resolve("fix-the-login")) == ResolvedReference(A)
    said = [durable_adapter.validate_json(record.body) for record in speaking.journal.history(A)]
    assert [one.names for one in said if isinstance(one, ev.UserMessage)] == ["fix-the-login"]
    park(speaking)
    speaking.send(A, "something else")
    speaking.run()
    assert name_of(speaking, A) == "fix-the-login"
    assert set(speaking.routing._routing._names._claims) == set()


def test_a_name_that_a_client_gave_or_took_away_stays_so(speaking: StagedDaemon) -> None:
    speaking.create(A, "mine")
    speaking.send(A, "fix the login")
    speaking.create(B)
    speaking.run()
    speaking.send(B, "fix the login")
    speaking.run()
    assert (name_of(speaking, A), name_of(speaking, B)) == ("mine", "fix-the-login")
    speaking.tell(B, Rename(None, by="a client"), speaking.caller())
    speaking.run()
    speaking.send(B, "and more")
    speaking.run()
    assert name_of(speaking, B) is None


@pytest.mark.parametrize("together", [True, False])
def test_of_many_with_the_same_words_each_has_a_name_of_its_own(speaking: StagedDaemon, together: bool) -> None:
    ids = [ConversationId(f"{number:08}-0000-4000-8000-{number:012}") for number in range(12)]
    for one in ids:
        speaking.create(one)
    speaking.run()
    for one in ids:
        speaking.send(one, "fix it")
        if not together:
            speaking.run()
    speaking.run()
    names = [name_of(speaking, one) for one in ids]
    assert len(set(names)) == len(ids)
    assert {"fix-it", "fix-it-2", "fix-it-3"} < set(names)


def test_a_name_that_sleeps_on_disk_is_not_given_again(speaking: StagedDaemon) -> None:
    speaking.create(A)
    speaking.send(A, "fix it")
    speaking.run()
    park(speaking)
    speaking.create(B)
    speaking.send(B, "fix it")
    speaking.run()
    assert name_of(speaking, B) == "fix-it-2"


def test_a_conversation_that_slept_before_its_first_message_gets_its_name_then(speaking: StagedDaemon) -> None:
    speaking.create(A)
    speaking.run()
    park(speaking)
    speaking.send(A, "fix it")
    speaking.run()
    assert name_of(speaking, A) == "fix-it"


@pytest.mark.parametrize("order", list(permutations(("interrupt", "cancel", "inspect"))))
def test_messages_during_the_search_for_a_name_arrive_after_the_first_message(
    daemon: StagedDaemon, order: tuple[str, ...]
) -> None:
    """An interrupt, or a cancel, that is sent right behind the first message stops its turn, as ever."""
    daemon.create(A)
    daemon.run()
    stop, look = daemon.caller(), daemon.caller()
    with looking(daemon):
        sent = daemon.send(A, "fix it")
        for what in order:
            match what:
                case "interrupt":
                    daemon.tell(A, Interrupt(), stop)
                case "cancel":
                    daemon.registry.tell(CancelRequest(sent))
                case _:
                    daemon.tell(A, Inspect(), look)
        daemon.run()
        assert types(daemon, A) == ["session_configured"]
    assert "user_message" in types(daemon, A)
    assert types(daemon, A)[-1] == "turn_aborted"
    assert isinstance(daemon.answer(look), ConversationSummary)


def test_a_client_that_leaves_while_a_name_is_looked_for_has_still_said_it(speaking: StagedDaemon) -> None:
    speaking.create(A)
    speaking.run()
    with looking(speaking):
        caller = speaking.send(A, "fix it")
        speaking.registry.tell(ConnectionClosed(caller.connection))
        speaking.run()
    assert name_of(speaking, A) == "fix-it"
    assert speaking.routing.statistics()["requests"] == 0


def test_a_disk_that_can_not_be_read_names_nothing_and_the_message_goes_on(
    speaking: StagedDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: str) -> ConversationId | None:
        raise StorageFailed("no")

    speaking.create(A)
    speaking.run()
    with monkeypatch.context() as patched:
        patched.setattr(speaking.journal, "find_name", broken)
        sent = speaking.send(A, "fix it")
        speaking.run()
        assert not isinstance(speaking.answer(sent), GreenroomError)
        assert name_of(speaking, A) is None
    speaking.send(A, "and now")
    speaking.run()
    assert name_of(speaking, A) == "fix-it"


def test_a_name_is_free_again_after_its_conversation_has_another(speaking: StagedDaemon) -> None:
    speaking.create(A)
    speaking.send(A, "fix it")
    speaking.run()
    renamed = speaking.caller()
    speaking.tell(A, Rename("other", by="a client"), renamed)
    speaking.run()
    assert speaking.answer(renamed) == Done()
    speaking.create(B)
    speaking.send(B, "fix it")
    speaking.run()
    assert name_of(speaking, B) == "fix-it"
