"""`greenroom demo`: the product doing its job, on a home of its own that is gone afterwards."""

import argparse
import contextlib
import os
import queue
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from actors import events as ev
from actors.answers import Answer, Interrupted, Listing, TurnResult
from actors.errors import GreenroomError
from actors.ids import Caller, ConnectionId, ConversationId, ItemId, SubscriptionId
from actors.items import TextItem
from actors.messages import (
    Address,
    AnswerApproval,
    Attach,
    Begin,
    Command,
    Create,
    Deliver,
    EndSubscription,
    Interrupt,
    ListConversations,
    Ready,
    ReplyTo,
    Send,
    ToConversation,
)
from actors.settings import ApprovalPolicy, Decision, Settings, WorkspaceWrite
from supervisor import logs
from supervisor.config import load
from supervisor.engine import Engine
from supervisor.paths import locate

ME = ConnectionId("demo")
PATIENCE_S = 30.0  # for anything in the tour; it takes seconds in all
WORDS_BEFORE_STOP = 25
COLUMNS = 80


class Viewer:
    """The one client of the tour: an outbox that keeps what comes until it is looked at."""

    def __init__(self) -> None:
        self._inbox: queue.Queue[tuple[ReplyTo | Deliver | EndSubscription, Address]] = queue.Queue()

    def post(self, _: ConnectionId, message: ReplyTo | Deliver | EndSubscription, sender: Address) -> None:
        self._inbox.put((message, sender))

    def next(self) -> ReplyTo | list[Any]:
        """The next answer, or the next events."""
        message, sender = self._inbox.get(timeout=PATIENCE_S)
        match message:
            case Deliver():
                sender.tell(Ready(message.subscription))
                stored = [ev.durable_adapter.validate_json(record.body) for record in message.slice.records]
                return [*stored, *message.slice.deltas]
            case ReplyTo():
                return message
            case EndSubscription():
                raise RuntimeError(message.news.reason)


class Tour:
    def __init__(self, engine: Engine, viewer: Viewer, conversation: ConversationId) -> None:
        self._engine = engine
        self._viewer = viewer
        self._conversation = conversation
        self._requests = 0
        self._streaming = False
        self._shown: dict[ItemId, str] = {}  # what was streamed of each message

    def create(self, cwd: Path) -> None:
        settings = Settings(
            model="demo",
            provider="demo",
            cwd=cwd,
            approval_policy=ApprovalPolicy.ON_REQUEST,
            sandbox=WorkspaceWrite(),
            include_apply_patch_tool=True,
            include_plan_tool=True,
        )
        self._engine.registry.tell(Create(self._conversation, Begin(self._caller(), settings, name="tour")))
        self._answer()

    def attach(self) -> None:
        """From now on: what was before is in the journal, and was seen."""
        self._tell(Attach(self._caller(), ME, SubscriptionId("tour"), after=None))
        self._answer()

    def say(self, prompt: str, *, stop_after: int | None = None) -> None:
        print(f"\n> {prompt}")
        self._tell(Send(self._caller(), (TextItem(text=prompt),), await_end=True, by="demo"))
        self._watch(stop_after)

    def list(self) -> None:
        self._engine.registry.tell(ListConversations(self._caller()))
        listing = self._answer()
        assert isinstance(listing, Listing)  # noqa: S101  # the one answer to a listing
        print(f"\n{'ID':10}{'NAME':8}{'STATE':10}{'EVENTS':>7}  FIRST PROMPT")
        for head in listing.heads:
            line = f"{head.conversation[:8]:10}{head.name or '':8}{head.state:10}{head.last_seq:>7}  {head.preview}"
            print(line if len(line) <= COLUMNS else f"{line[: COLUMNS - 1]}…")

    def _watch(self, stop_after: int | None) -> None:
        """Show events until the turn's answer is there and its last event was seen."""
        words, result = 0, None
        ended = False
        while not (ended and result is not None):
            news = self._viewer.next()
            if isinstance(news, ReplyTo):
                result = self._checked(news.answer) if isinstance(news.answer, TurnResult) else result
                continue
            for event in news:
                self._show(event)
                ended = ended or isinstance(event, ev.TaskComplete | ev.TurnAborted)
                words += isinstance(event, ev.AgentMessageDelta) and len(event.delta.split())
            if stop_after is not None and words >= stop_after:
                stop_after = None
                self._line("[another terminal interrupts the turn]")
                self._tell(Interrupt(self._caller(), by="another terminal"))

    def _show(self, event: object) -> None:
        match event:
            case ev.AgentMessageDelta():
                self._streaming = True
                self._shown[event.item_id] = self._shown.get(event.item_id, "") + event.delta
                print(event.delta, end="", flush=True)
            case ev.AgentMessage():
                self._finish(event)
            case ev.ExecCommandBegin():
                self._line(f"$ {event.command[-1]}")
            case ev.ExecCommandEnd():
                self._line(_indented(event.stdout, event.stderr, f"exit {event.exit_code}"))
            case ev.PatchApplyEnd():
                self._line(_indented(event.stdout or event.stderr))
            case ev.PlanUpdate():
                self._line(
                    "\n".join(f"  [{'x' if one.status == 'completed' else ' '}] {one.step}" for one in event.plan)
                )
            case ev.ExecApprovalRequest():
                self._line(f"? may it run `{event.command[-1]}`? {event.reason}")
                self._line("[another terminal approves]")
                by = "another terminal"
                self._tell(AnswerApproval(self._caller(), event.approval_id, Decision.APPROVED, by))
            case ev.TurnAborted():
                self._line(f"[turn aborted: {event.reason}]")
            case _:
                pass

    def _finish(self, message: ev.AgentMessage) -> None:
        """A finished message says everything again, also what no delta had time to say."""
        rest = message.message[len(self._shown.get(message.item_id, "")) :]
        if rest or self._streaming:
            print(rest)
        self._streaming = False

    def _line(self, text: str) -> None:
        """On a line of its own, also in the middle of a stream."""
        print(f"\n{text}".rstrip("\n") if self._streaming else text)
        self._streaming = False

    def _tell(self, command: Command) -> None:
        self._engine.registry.tell(ToConversation(self._conversation, command))

    def _caller(self) -> Caller:
        self._requests += 1
        return Caller(ME, self._requests)

    def _answer(self) -> Answer:
        while True:
            news = self._viewer.next()
            if isinstance(news, ReplyTo) and not isinstance(news.answer, Interrupted):
                return self._checked(news.answer)

    def _checked(self, answer: Answer) -> Answer:
        if isinstance(answer, GreenroomError):
            raise answer
        return answer


def _indented(*texts: str) -> str:
    return "\n".join(f"  {line}" for text in texts for line in text.splitlines())


def run(_: argparse.Namespace) -> int:
    logs.configure(None, "error", terminal=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="greenroom-demo-") as home:
        workspace = Path(home, "workspace")
        workspace.mkdir()
        conversation = ConversationId(str(uuid.uuid4()))
        environ = {**os.environ, "GREENROOM_HOME": home}
        with _engine(environ) as (engine, viewer):
            tour = Tour(engine, viewer, conversation)
            tour.create(workspace)
            tour.attach()
            tour.say("say Hello. What I say is in the journal before you see it.")
            tour.say("plan look around, write a note, read it")
            tour.say("write note.txt: remember the milk; then run cat note.txt")
            tour.say("ask uname -s")
            tour.say("count 500", stop_after=WORDS_BEFORE_STOP)
            tour.list()
        print("\n[stopped; a new one starts on the same journal]")
        with _engine(environ) as (engine, viewer):
            tour = Tour(engine, viewer, conversation)
            tour.list()
            tour.attach()
            tour.say("say The conversation went on after a restart.")
    print("\nThat was the tour. Next: README.md.")
    return 0


@contextlib.contextmanager
def _engine(environ: dict[str, str]) -> Iterator[tuple[Engine, Viewer]]:
    viewer = Viewer()
    engine = Engine(load(environ=environ), locate(environ), environ, viewer)
    engine.start()
    try:
        yield engine, viewer
    finally:
        engine.stop()
