"""Answers of the supervisor to dialects: their order, failures, and no effect besides the answer."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from actors.messages.effects import Settle
from actors.messages.journal import Chore, ChoreDone
from actors.messages.routing import ClaimName, KnownHeads, NameClaimed
from actors.runtime.shared import call_on_loop
from actors.vocabulary.errors import GreenroomError, NameTaken
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, TurnId
from supervisor.agents.client_mcp_servers import GivenServers
from supervisor.config.config_problems import without_secrets
from supervisor.config.load import LoadedConfig, load
from supervisor.engine.chores import Chores
from supervisor.journal import SqliteJournal
from supervisor.paths import locate
from supervisor.services.services import Services
from tests.supervisor.services.test_forks_and_imports import BORN, ONE, keep
from tests.transports.house import LoopThread, Probe, running_loop
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.hello import Identity
from transports.messages import ServiceAnswer, ServiceRequest
from transports.supervisor_answers import ConfigValue, Server, StoredConversation
from transports.switchboard import Switchboard

ME = Client(ConnectionId("me"), "me", pid=1)


class Journalist:
    """A journalist that does chores at once, on the caller's thread."""

    def tell(self, chore: object) -> None:
        assert isinstance(chore, Chore)
        try:
            result = chore.work()
        except GreenroomError as error:
            result = error
        chore.reply_to.tell(ChoreDone(result))


class Registry(Probe):
    """A registry that knows of no names but those on disk, and hears the rest."""

    def __init__(self, journal: SqliteJournal) -> None:
        super().__init__()
        self._journal = journal
        self.open: set[Caller] = set()  # claims that are not settled

    def tell(self, message: object) -> None:
        match message:
            case ClaimName():
                self.open.add(message.caller)
                taken = self._journal.find_name(message.name) is not None
                message.reply_to.tell(NameClaimed(NameTaken("another has it") if taken else None))
            case Settle():
                self.open.remove(message.caller)
            case _:
                super().tell(message)


class Remembering:
    def __init__(self) -> None:
        self.forgotten: list[ConversationId] = []

    def hurry(self, turn: TurnId) -> None:
        """Nothing has a grace here but commands, which are the runner's."""

    def forget(self, conversation: ConversationId) -> None:
        self.forgotten.append(conversation)


class SmallEngine:
    """The part of an engine that services touch."""

    def __init__(self, loop: LoopThread, home: Path) -> None:
        self.loop = loop
        self.paths = locate({"GREENROOM_HOME": str(home)})
        self.journal = SqliteJournal(home / "journal.sqlite3")
        self.registry = Registry(self.journal)
        self.chores = Chores(loop.loop, Journalist())
        self.client_servers = GivenServers()
        self.transcripts = self.environments = Remembering()
        self.loaded_config = load(environ={"GREENROOM_HOME": str(home)})
        self.reloaded: list[LoadedConfig] = []

    @property
    def config(self) -> Any:
        return self.loaded_config.config

    @property
    def whole_bytes(self) -> int:
        return 1 << 24

    def reload(self, loaded: LoadedConfig) -> None:
        self.reloaded.append(loaded)


class ServicesHarness:
    def __init__(self, loop: LoopThread, home: Path) -> None:
        self.engine = SmallEngine(loop, home)
        self.order: list[str] = []
        self._numbers = count(1)
        self.reread: Callable[[], LoadedConfig] = lambda: self.engine.loaded_config
        engine: Any = self.engine
        self.services = Services(
            engine, Switchboard(), Identity("1", "i"), lambda _: self.order.append("stop"), self._reread
        )

    def _reread(self) -> LoadedConfig:
        return self.reread()

    def ask(self, request: ask.SupervisorRequest) -> Any:
        """Send a request; its one answer."""
        probe, caller = Probe(), Caller(ME.connection, next(self._numbers))
        call_on_loop(self.engine.loop.loop, self.services.tell, ServiceRequest(request, caller, ME, probe))
        served = probe.expect(ServiceAnswer)
        assert served.caller == caller
        return served.answer


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[ServicesHarness]:
    with running_loop() as loop:
        harness = ServicesHarness(loop, tmp_path)
        yield harness
        loop.call(lambda: None)
        harness.engine.journal.close()
        asyncio.run_coroutine_threadsafe(loop.loop.shutdown_default_executor(), loop.loop).result(10)


def test_servers_that_a_client_gives_are_listed_without_values(harness: ServicesHarness) -> None:
    one = ConversationId("one")
    files = ask.GivenServer("files", command=("files-mcp",), env={"KEY": "s3cret"})
    given = ServiceRequest(ask.GiveServers(one, (files,)), None, ME, Probe())
    call_on_loop(harness.engine.loop.loop, harness.services.tell, given)
    (listed,) = harness.ask(ask.ListServers(one)).servers
    assert listed == Server(name="files", kind="stdio", command=("files-mcp",), variables=("KEY",))


def test_the_answer_to_down_goes_before_the_stop(harness: ServicesHarness) -> None:
    class Noting(Probe):
        def tell(self, message: object) -> None:
            harness.order.append("answer")
            super().tell(message)

    probe = Noting()
    call_on_loop(
        harness.engine.loop.loop,
        harness.services.tell,
        ServiceRequest(ask.StopDaemon(0.0), Caller(ME.connection, 1), ME, probe),
    )
    probe.expect(ServiceAnswer)
    harness.engine.loop.call(lambda: None)
    assert harness.order == ["answer", "stop"]


def test_a_fork_is_known_without_what_only_its_owner_needs(harness: ServicesHarness) -> None:
    keep(harness.engine.journal, BORN)
    fork = ConversationId("33333333-3333-4333-8333-333333333333")
    assert harness.ask(ask.Fork(ONE, fork, None, "branch")) == StoredConversation(fork)
    (head,) = harness.engine.registry.expect(KnownHeads).heads
    assert (head.conversation, head.name, head.settings, head.checkpoint) == (fork, "branch", b"", b"")
    again = harness.ask(ask.Fork(ONE, ConversationId("44444444-4444-4444-8444-444444444444"), None, "branch"))
    assert getattr(again, "code", "") == "name_taken"
    assert harness.engine.registry.open == set(), "a claim outlived its fork"


def test_a_root_that_does_not_exist_is_warned_of_when_the_conversation_is_made(
    harness: ServicesHarness, tmp_path: Path
) -> None:
    config = {"sandbox_mode": "workspace-write", "sandbox_workspace_write.writable_roots": [str(tmp_path / "gone")]}
    made = harness.ask(ask.MakeSettings(model_provider="demo", cwd=str(tmp_path), config=config))
    (warning,) = made.warnings
    assert warning.startswith(f"writable root left out, there is no such directory: {tmp_path / 'gone'}; make it")
    assert {pin.name: pin.path for pin in made.settings.roots}[tmp_path / "gone"] is None


def test_a_config_that_is_broken_is_not_taken_over(harness: ServicesHarness) -> None:
    def broken() -> LoadedConfig:
        raise GreenroomError("line 3: no")

    harness.reread = broken
    assert harness.ask(ask.ReloadConfig()) == GreenroomError("line 3: no")
    assert harness.engine.reloaded == []


def test_a_bug_in_one_service_is_an_answer_and_the_next_is_served(harness: ServicesHarness) -> None:
    def bug() -> LoadedConfig:
        raise ZeroDivisionError

    harness.reread = bug
    answer = harness.ask(ask.ReloadConfig())
    assert answer == GreenroomError("an internal error; see the daemon's log")
    assert "Zero" not in answer.message
    assert isinstance(harness.ask(ask.ReadConfig()), ConfigValue)


def test_secrets_are_masked_wherever_they_stand_and_the_rest_is_as_it_was() -> None:
    tree = {"model": "m", "model_providers": {"p": {"http_headers": {"Authorization": "Bearer x"}, "env_key": "K"}}}
    shown = without_secrets(tree)
    assert "Bearer" not in str(shown)
    assert shown["model"] == "m"
    assert tree["model_providers"]["p"]["http_headers"]["Authorization"] == "Bearer x", "the original is untouched"  # type: ignore[index]  # a tree
