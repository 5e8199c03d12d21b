"""An engine in this process, and one client of it that writes down everything it is told.

Real actors, a real SQLite journal, real processes, models over real HTTP. Every wait ends: with what was awaited, or
with a failure that says what came instead.
"""

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from actors.messages.conversation import (
    Address,
    AnswerApproval,
    Attach,
    Begin,
    ChangeSettings,
    Command,
    ConnectionClosed,
    Inspect,
    Interrupt,
    Ready,
    Restart,
    Send,
    ToConversation,
)
from actors.messages.effects import Deliver, EndSubscription, ReplyTo
from actors.messages.routing import Create, ToRegistry
from actors.vocabulary import events as ev
from actors.vocabulary.answers import (
    Answer,
    AnsweredApproval,
    AttachedReader,
    ChangedSettings,
    ConversationSummary,
    Done,
    InterruptedTurn,
    StartedConversation,
    TurnResult,
)
from actors.vocabulary.conditions import Ending
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ConversationId, SubscriptionId, TurnId
from actors.vocabulary.items import InputItem, TextItem
from actors.vocabulary.settings import ApprovalPolicy, BusyPolicy, DangerFullAccess, Decision, Settings, Task
from supervisor.config.load import load
from supervisor.engine.engine import AGENTS, Engine
from supervisor.paths import locate
from tests.support.work import kind_of

ME = ConnectionId("harness")
WAIT_S = 30.0  # far above what anything here takes: only a test that would hang gets there
GRACE_MS = 150  # short, for stubborn commands do their best to use it up
OWN_THREADS = ("loop", "journalist", "librarian", "directory")

Kind = TypeVar("Kind", bound=ev.BaseEvent)
Answering = TypeVar("Answering")


@dataclass(frozen=True, slots=True)
class Seen:
    """An event as it reached the client. `seq` is None for deltas; `at` is the client's monotonic clock."""

    conversation: ConversationId
    seq: int | None
    turn: TurnId | None
    event: ev.DurableEvent | ev.Delta
    at: float


class Recorder:
    """An outbox that keeps all messages in order, and asks for the next slice at once."""

    def __init__(self) -> None:
        self.changed = threading.Condition()  # guards everything below
        self.seen: list[Seen] = []
        self.answers: dict[int | str, Answer] = {}
        self.ended: list[str] = []

    def deliver(self, message: Deliver, session: Address[Ready]) -> None:
        with self.changed:
            self.seen += _seen(message)
            self.changed.notify_all()
        session.tell(Ready(message.subscription))

    def post(self, _: ConnectionId, message: ReplyTo | EndSubscription) -> None:
        with self.changed:
            match message:
                case ReplyTo() if message.caller.connection != AGENTS:  # numbered by themselves
                    self.answers.setdefault(message.caller.request, message.answer)
                case ReplyTo():
                    pass
                case EndSubscription():
                    self.ended.append(message.news.reason)
            self.changed.notify_all()

    def forget(self) -> None:
        """Drop the events seen so far, in a test with many turns."""
        with self.changed:
            self.seen.clear()

    def wait_for(self, found: Callable[[], Answering | None], what: str) -> Answering:
        with self.changed:
            self.changed.wait_for(lambda: found() is not None, WAIT_S)
            result = found()
        assert result is not None, f"{what} did not come; there were:\n{self._told()}"
        return result

    def _told(self) -> str:
        events = "\n".join(f"  {one.seq}: {one.event!r:.300}" for one in self.seen if one.seq is not None)
        return f"{events}\n  answers: {self.answers}\n  ended: {self.ended}"


def _seen(message: Deliver) -> Iterator[Seen]:
    slice_, now = message.slice, time.monotonic()
    for record in slice_.records:
        event = ev.durable_adapter.validate_json(record.body)
        yield Seen(slice_.conversation, record.seq, record.turn, event, now)
    for delta in slice_.deltas:
        yield Seen(slice_.conversation, None, slice_.turn, delta, now)


class EngineHarness:
    """An engine in a temporary home. `config` is the text of its config.toml, `environ` what its client exports."""

    def __init__(self, home: Path, config: str = "", environ: Mapping[str, str] | None = None) -> None:
        self.home = home
        self.workspace = home / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        (home / "config").mkdir(exist_ok=True)
        (home / "config" / "config.toml").write_text(config)
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "GREENROOM_HOME": str(home / "config"),
            **(environ or {}),
        }
        self.recorder = Recorder()
        self._requests = 0
        self._talks: list[Talk] = []
        self._before: set[threading.Thread] = set()
        self._start()

    def _start(self) -> None:
        self._before = set(threading.enumerate())
        loaded = load(environ=self.environ)
        self.engine = Engine(loaded, locate(self.environ), self.environ, self.recorder)
        self.engine.start()

    def stop(self) -> None:
        self.engine.stop()
        for thread in set(threading.enumerate()) - self._before:
            if thread.name.startswith(OWN_THREADS):
                thread.join(WAIT_S)
                assert not thread.is_alive(), f"{thread.name} outlived the engine"

    def restart(self) -> None:
        """Stop in order, and start a new engine on the same home. Each reader attaches again at its cursor."""
        self.stop()
        self._start()
        for talk in self._talks:
            talk.attach()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def leave(self) -> None:
        """Close the client's connection; its turns go on. `attach` connects again."""
        self.engine.registry.tell(ConnectionClosed(ME))

    def caller(self) -> Caller:
        self._requests += 1
        return Caller(ME, self._requests)

    def answer(self, caller: Caller, kind: type[Answering]) -> Answering:
        answer = self.recorder.wait_for(lambda: self.recorder.answers.get(caller.request), f"an answer to {caller}")
        assert isinstance(answer, kind), answer
        return answer

    def talk(self, **settings: Any) -> "Talk":
        """A new conversation in the workspace: provider `mock`, no sandbox, no approvals, unless told otherwise."""
        whole = {
            "model": "mock-model",
            "provider": "mock",
            "cwd": self.workspace,
            "approval_policy": ApprovalPolicy.NEVER,
            "sandbox": DangerFullAccess(),
            "include_plan_tool": True,
            "include_apply_patch_tool": True,
            **settings,
        }
        talk = Talk(self, ConversationId(str(uuid.uuid4())), Settings.model_validate(whole))
        self._talks.append(talk)
        return talk


class Talk:
    """One conversation, from its client's side."""

    def __init__(self, harness: EngineHarness, conversation: ConversationId, settings: Settings) -> None:
        self._harness = harness
        self.conversation = conversation
        self.settings = settings
        self._attached = 0
        caller = harness.caller()
        harness.engine.registry.tell(ToRegistry(Create(conversation, Begin(settings)), caller))
        harness.answer(caller, StartedConversation)
        self.attach()

    def attach(self) -> None:
        """Attach after the last event that was seen."""
        self._attached += 1
        caller, subscription = self._harness.caller(), SubscriptionId(f"{self.conversation}/{self._attached}")
        after = max((one.seq for one in self.seen() if one.seq is not None), default=0)
        self.tell(Attach(ME, subscription, after), caller)
        self._harness.answer(caller, AttachedReader)

    def wait_parked(self) -> None:
        """Wait until the conversation's actor has ended, as it does when nothing needs it."""
        session = self._harness.engine._registry._sessions.get(self.conversation)
        assert session is None or session.wait_for_end(WAIT_S), f"{session} was not parked"

    def tell(self, command: Command, caller: Caller) -> None:
        self._harness.engine.registry.tell(ToConversation(self.conversation, command, caller))

    # --- what the client says -------------------------------------------------------------------------------------

    def start(
        self,
        *said: str | InputItem,
        policy: BusyPolicy = BusyPolicy.STEER,
        settings: Settings | None = None,
        await_end: bool = True,
    ) -> Caller:
        caller = self._harness.caller()
        items = tuple(TextItem(text=one) if isinstance(one, str) else one for one in said)
        self.tell(Send(items, policy, settings, await_end=await_end, by="harness"), caller)
        return caller

    def compact(self) -> Caller:
        """Ask for the history to be summed up."""
        caller = self._harness.caller()
        self.tell(Send((), task=Task.COMPACT, await_end=True, by="harness"), caller)
        return caller

    def result(self, caller: Caller) -> TurnResult:
        """Wait for the last event of the turn; its result."""
        result = self._harness.answer(caller, TurnResult)
        self._harness.recorder.wait_for(
            lambda: result if any(one.seq == result.seq for one in self.seen()) else None, f"event {result.seq}"
        )
        return result

    def ask(self, *said: str | InputItem, settings: Settings | None = None) -> TurnResult:
        """Send a message and wait for its turn to complete without error."""
        result = self.result(self.start(*said, settings=settings))
        assert result.ending is Ending.COMPLETED, result
        return result

    def interrupt(self, *, kill: bool = False) -> Caller:
        caller = self._harness.caller()
        self.tell(Interrupt(by="harness", kill=kill), caller)
        return caller

    def interrupted(self, caller: Caller) -> InterruptedTurn:
        return self._harness.answer(caller, InterruptedTurn)

    def decide(
        self,
        approval: ApprovalId,
        decision: Decision,
        reason: str = "",
        *,
        option: str = "",
        content: Mapping[str, object] | None = None,
        outside: bool = False,
    ) -> AnsweredApproval:
        caller = self._harness.caller()
        self.tell(AnswerApproval(approval, decision, "harness", reason, option, content or {}, outside), caller)
        return self._harness.answer(caller, AnsweredApproval)

    def change(self, settings: Settings) -> None:
        caller = self._harness.caller()
        self.tell(ChangeSettings(settings), caller)
        self._harness.answer(caller, ChangedSettings)
        self.settings = settings

    def restart(self) -> None:
        caller = self._harness.caller()
        self.tell(Restart("harness"), caller)
        self._harness.answer(caller, Done)

    def summary(self) -> ConversationSummary:
        caller = self._harness.caller()
        self.tell(Inspect(), caller)
        return self._harness.answer(caller, ConversationSummary)

    # --- what the client sees -------------------------------------------------------------------------------------

    def seen(self) -> list[Seen]:
        return [one for one in self._harness.recorder.seen if one.conversation == self.conversation]

    @property
    def events(self) -> list[ev.DurableEvent]:
        return [one.event for one in self.seen() if one.seq is not None and isinstance(one.event, ev.DurableEvent)]

    def all(self, kind: type[Kind], *, of: str = "") -> list[Kind]:
        """All events of a kind; `of`: those with this kind of subject alone."""
        found = (one.event for one in self.seen() if isinstance(one.event, kind))
        return [event for event in found if not of or kind_of(event) == of]

    def types(self, *, since: int = 0) -> list[str]:
        """The kinds of the stored events, from the one after `since` on."""
        return [one.event.type for one in self.seen() if one.seq is not None and one.seq > since]

    def wait(self, kind: type[Kind], number: int = 1, *, of: str = "") -> Kind:
        """Wait for so many events of a kind; the last."""

        def found() -> Kind | None:
            of_kind = self.all(kind, of=of)
            return of_kind[number - 1] if len(of_kind) >= number else None

        return self._harness.recorder.wait_for(found, f"{kind.__name__} number {number}")

    def wait_said(self, text: str) -> None:
        """Wait until the model has said this, in deltas or in a finished message, which replaces them."""

        def heard() -> bool | None:
            deltas = "".join(one.delta for one in self.all(ev.AgentMessageDelta))
            return text in deltas or any(text in one.message for one in self.all(ev.AgentMessage)) or None

        self._harness.recorder.wait_for(heard, f"the words {text!r}")


def provider(base_url: str, wire: str = "chat", **more: object) -> str:
    """The lines of a config that make the scripted server the provider `mock`."""
    options = {"request_max_retries": 1, "stream_max_retries": 2, **more}
    lines = "\n".join(f"{key} = {str(value).lower()}" for key, value in options.items())
    return f'[model_providers.mock]\nname = "mock"\nbase_url = "{base_url}"\nwire_api = "{wire}"\n{lines}\n'


@contextmanager
def harness_at(
    home: Path,
    base_url: str,
    wire: str = "chat",
    *,
    stream_max_retries: int = 2,
    top: str = "",
    greenroom: str = "",
    tables: str = "",
    grace_ms: int = GRACE_MS,
    **environ: str,
) -> Iterator[EngineHarness]:
    """`top`, `greenroom` and `tables` are lines of the config: before all tables, in ours, and behind it."""
    ours = f"[greenroom]\ninterrupt_grace_ms = {grace_ms}\n{greenroom}\n{tables}"
    with EngineHarness(
        home, f"{top}\n{provider(base_url, wire, stream_max_retries=stream_max_retries)}{ours}", environ
    ) as harness:
        yield harness
