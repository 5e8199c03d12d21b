"""Callers that wait to hear that a conversation has come or gone: by a long poll, without a gap."""

from actors.messages.conversation import Archive, ConnectionClosed, Rename
from actors.messages.routing import Remove, ToRegistry, WatchList
from actors.vocabulary.answers import Answer, ListChanged
from actors.vocabulary.errors import UnknownConversation
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId
from tests.fakes.daemon import StagedDaemon

A = ConversationId("aaaa-0001")
B = ConversationId("bbbb-0002")


def watch(daemon: StagedDaemon, seen: int | None = None, connection: str = "watcher") -> Caller:
    caller = daemon.caller(connection)
    daemon.registry.tell(ToRegistry(WatchList(seen), caller))
    daemon.run()
    return caller


def told(daemon: StagedDaemon, caller: Caller) -> Answer:
    daemon.run()
    return daemon.answer(caller)


def is_waiting(daemon: StagedDaemon) -> bool:
    daemon.run()
    return daemon.routing.statistics()["watchers"] == 1


def test_a_new_conversation_is_told_when_it_is_in_the_list(daemon: StagedDaemon) -> None:
    caller = watch(daemon)
    daemon.create(A)
    assert told(daemon, caller) == ListChanged(1)


def test_a_conversation_that_goes_is_told(daemon: StagedDaemon) -> None:
    daemon.create(A)
    daemon.create(B)
    daemon.run()
    archived = watch(daemon)
    daemon.say(A, Archive())
    assert told(daemon, archived) == ListChanged(3)
    removed = watch(daemon)
    daemon.ask(Remove(B))
    assert told(daemon, removed) == ListChanged(4)


def test_a_watcher_is_told_at_once_of_changes_since_its_last_question(daemon: StagedDaemon) -> None:
    first = told_after_creating(daemon, A)
    daemon.create(B)
    daemon.run()
    assert told(daemon, watch(daemon, first)) == ListChanged(first + 1)


def told_after_creating(daemon: StagedDaemon, conversation: ConversationId) -> int:
    caller = watch(daemon)
    daemon.create(conversation)
    answer = told(daemon, caller)
    assert isinstance(answer, ListChanged)
    return answer.number


def test_a_watcher_is_not_told_of_changes_outside_the_list(daemon: StagedDaemon) -> None:
    seen = told_after_creating(daemon, A)
    watch(daemon, seen)
    daemon.say(A, Rename("a name"))
    daemon.send_and_run(A)
    assert isinstance(daemon.ask(Remove(B)), UnknownConversation)
    assert is_waiting(daemon)


def test_a_watcher_that_has_left_waits_no_more(daemon: StagedDaemon) -> None:
    watch(daemon, connection="gone")
    daemon.registry.tell(ConnectionClosed(ConnectionId("gone")))
    watch(daemon)
    assert is_waiting(daemon)
