"""A control dialect whose partners are played by a script: one answer for each kind of message."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors.messages.conversation import CancelRequest, ToConversation
from actors.messages.effects import Deliver, EndSubscription
from actors.messages.routing import ToRegistry
from actors.vocabulary import answers as a
from actors.vocabulary import spent_amounts
from actors.vocabulary.answers import ConversationSummary
from actors.vocabulary.conditions import Condition, Ending
from actors.vocabulary.ids import ConnectionId, ConversationId, InputId, TurnId
from actors.vocabulary.records import Head, HeadPage, ListPlace, ListQuery, Page, Record
from actors.vocabulary.settings import Settings
from tests.support.control_judge import judge
from transports.dialect import Action, Ask, Client, Tell, Write
from transports.dialects.control.dialect import ControlDialect
from transports.supervisor_answers import (
    Agent,
    Agents,
    AgentTrial,
    ApprovalPlaces,
    BudgetRead,
    BudgetRow,
    Budgets,
    Clients,
    ConfigValue,
    DaemonStatus,
    ExportedHistory,
    HistoryRead,
    ImportedConversation,
    InheritedThing,
    Job,
    JobOutput,
    Jobs,
    NewsRead,
    ReloadedConfig,
    SearchHit,
    SearchHits,
    Server,
    Servers,
    SettingsMade,
    StoppingDaemon,
    StoredConversation,
    Usage,
    UsageRow,
    UsageSums,
)

ONE = ConversationId("11111111-1111-4111-8111-111111111111")
TWO = ConversationId("22222222-2222-4222-8222-222222222222")
SETTINGS = Settings(model="m", cwd=Path("/src"))
AMOUNTS: dict[str, Any] = {name: getattr(spent_amounts.NOTHING, name) for name in spent_amounts.AMOUNTS}
AGENT = Agent("claude", "Claude Code", default=False, state="missing", brings=(InheritedThing("w", "/"),))
TRIAL = AgentTrial("claude", program="claude 7", took_s=0.5, models=("opus",))
JOB: dict[str, Any] = {
    "job": "3f2a",
    "conversation": ONE,
    "command": ("make",),
    "cwd": "/src",
    "began": 1.0,
    "keeps": True,
    "running": True,
    "state": "running for 3 s",
    "exit_code": None,
    "written": 6,
}
TURN = TurnId("turn")


def head(conversation: ConversationId, updated: float = 1.0, **more: Any) -> Head:
    fields: dict[str, Any] = {
        "name": None,
        "cwd": "/src",
        "model": "m",
        "state": Condition.IDLE,
        "preview": "",
        "settings": b"",
        "checkpoint": b"",
        "checkpoint_seq": 0,
        "created": 1.0,
        "updated": updated,
        "last_seq": 1,
        "generation": 1,
    }
    return Head(conversation, **{**fields, **more})


def summary(conversation: ConversationId = ONE) -> ConversationSummary:
    return ConversationSummary(
        conversation=conversation,
        state=Condition.IDLE,
        name=None,
        settings=SETTINGS,
        seq=3,
        turn=None,
        created=1.0,
        updated=2.0,
        preview="said first",
    )


def page_of(heads: Iterable[Head], query: ListQuery) -> HeadPage:
    """The page of these, as a journal has it that got them in this order."""
    wanted = [
        (ListPlace(one.updated, key), one)
        for key, one in enumerate(heads)
        if query.state in {None, one.state} and query.cwd in {None, one.cwd} and query.name in {None, one.name}
    ]
    wanted.sort(key=lambda row: (row[0].at, row[0].key), reverse=True)
    after = query.after
    left = [row for row in wanted if after is None or (row[0].at, row[0].key) < (after.at, after.key)]
    page = left[: query.limit]
    return HeadPage(tuple(one for _, one in page), page[-1][0] if len(left) > len(page) else None, len(wanted))


Reply = Callable[[Any], object]
SERVER = Server(name="files", kind="stdio", command=("files",), variables=("KEY",))

USUAL: dict[str, Reply] = {
    "Create": lambda message: a.StartedConversation(message.conversation, SETTINGS),
    "Resolve": lambda _: a.ResolvedReference(ONE),
    "ListConversations": lambda message: page_of((head(ONE), head(TWO, 2.0)), message.query),
    "ListAwake": lambda _: a.ConversationList((head(ONE), head(TWO, 2.0))),
    "ListApprovals": lambda _: a.PendingApprovals(()),
    "Remove": lambda _: a.Done(),
    "Inspect": lambda _: summary(),
    "InspectQueue": lambda _: a.WaitingInputs(paused=False, turn=None, waiting=()),
    "InspectSpending": lambda _: a.ConversationSpending(SETTINGS, spent_amounts.NOTHING, spent_amounts.NOTHING),
    "Send": lambda message: (
        a.TurnResult(TURN, Ending.COMPLETED, "hi", 7)
        if message.await_end
        else a.AcceptedInput(InputId("input"), TURN, 3)
    ),
    "Interrupt": lambda _: a.InterruptedTurn(TURN, Ending.INTERRUPTED),
    "Attach": lambda message: a.AttachedReader(message.subscription, summary(), 3),
    "AnswerApproval": lambda message: a.AnsweredApproval(message.approval, message.decision),
    "ChangeSettings": lambda message: a.ChangedSettings(message.settings, "n", (), TURN),
    "AlterSettings": lambda message: SettingsMade(message.current, fields=tuple(message.values)),
    "MakeSettings": lambda _: SettingsMade(SETTINGS, "a notice"),
    "RememberEnvironment": lambda _: None,
    "ReadHistory": lambda _: HistoryRead(Page((Record(1, 1.0, None, "error", _EVENT),), 1, 1), complete=True),
    "ReadNews": lambda _: NewsRead(((ONE, Record(1, 1.0, None, "error", _EVENT)),), 1),
    "Search": lambda _: SearchHits((SearchHit(ONE, None, "/tmp", 3, 1.5, "user", "a walrus", ((2, 8),)),), "7", 0.5),
    "ReadBudget": lambda message: BudgetRead(message.settings, Budgets((BudgetRow("turn", "requests", 1.0, None),))),
    "ReadSharedBudgets": lambda _: Budgets((BudgetRow("day", "usd", 1.0, 2.0, "x", 1.0),)),
    "ReadUsage": lambda _: Usage((UsageRow(group="m", **AMOUNTS),), UsageSums(**AMOUNTS), "2026-01-31"),
    "ListAgents": lambda _: Agents((AGENT,)),
    "CheckAgent": lambda _: TRIAL,
    "ListServers": lambda _: Servers((SERVER,)),
    "ListJobs": lambda _: Jobs((Job(**JOB),)),
    "ReadJob": lambda _: JobOutput(**JOB, output="ready\n", next=6, lost=0),
    "WriteJob": lambda _: Job(**JOB),
    "WaitForJob": lambda _: Job(**JOB),
    "EndJob": lambda _: Job(**JOB),
    "FindApprovalPlaces": lambda message: ApprovalPlaces(tuple(None for _ in message.questions)),
    "Fork": lambda message: StoredConversation(message.fork),
    "Export": lambda _: ExportedHistory(2),
    "Import": lambda message: ImportedConversation(message.new_id or ONE, ()),
    "AskStatus": lambda _: DaemonStatus(**_STATUS),
    "ListClients": lambda _: Clients(()),
    "KillClient": lambda _: a.Done(),
    "ReloadConfig": lambda _: ReloadedConfig((), ()),
    "StopDaemon": lambda _: StoppingDaemon(0.0),
    "ReadConfig": lambda _: ConfigValue(1, None),
}
_EVENT: bytes = b'{"type":"error","message":"no"}'
_STATUS: dict[str, Any] = {
    "pid": 1,
    "version": "1",
    "instance": "i",
    "uptime_s": 0.1,
    "config": None,
    "warnings": (),
    "journal": "/j",
    "journal_bytes": 1,
    "journal_repaired": None,
    "log": "/l",
    "sandbox": True,
    "clients": 1,
}


def content(message: Any) -> Any:
    """The content of an envelope."""
    match message:
        case ToConversation():
            return message.command
        case ToRegistry():
            return message.query
        case Ask():
            return message.request
        case _:
            return message


def kind_of(message: object) -> str:
    return type(content(message)).__name__


@dataclass
class Scripted:
    """`held` are kinds that are not answered until `release`. All that was ever told is in `told`."""

    replies: dict[str, Reply] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    in_flight: int = 64
    subscriptions: int = 256

    def __post_init__(self) -> None:
        self.client = Client(ConnectionId("c"), "tester", pid=7)
        self.dialect = ControlDialect(self.client, self.in_flight, self.subscriptions)
        self.told: list[Any] = []
        self.lines: list[dict[str, Any]] = []
        self._methods: dict[object, str] = {}
        self._waiting: list[Any] = []

    # --- the client's side ----------------------------------------------------------------------------------------

    def request(self, method: str, params: Any = None, request: int | str = 1) -> dict[str, Any] | None:
        """Send a request; returns its answer, if that comes at once."""
        self._methods.setdefault(request, method)
        body = {"jsonrpc": "2.0", "id": request, "method": method}
        return self.line(json.dumps(body if params is None else {**body, "params": params}).encode(), request)

    def line(self, line: bytes, request: int | str | None = None) -> dict[str, Any] | None:
        before = len(self.lines)
        self.perform(self.dialect.receive_line(line))
        return next((one for one in self.lines[before:] if one.get("id") == request), None)

    def answer(self, request: int | str = 1) -> dict[str, Any]:
        (found,) = [one for one in self.lines if one.get("id") == request and type(one["id"]) is type(request)]
        return found

    def kinds(self) -> list[str]:
        return [kind_of(message) for message in self.told]

    def last(self, kind: str) -> Any:
        return content(next(message for message in reversed(self.told) if kind_of(message) == kind))

    # --- the others' side -----------------------------------------------------------------------------------------

    def release(self, kind: str) -> None:
        self.held.discard(kind)
        waiting, self._waiting = self._waiting, []
        for message in waiting:
            if kind_of(message) in self.held:
                self._waiting.append(message)
            else:
                self._reply(message)

    def deliver(self, deliver: Deliver) -> list[Write]:
        actions = list(self.dialect.take_slice(deliver))
        self.perform(actions)
        return [action for action in actions if isinstance(action, Write)]

    def end(self, ended: EndSubscription) -> None:
        self.perform(self.dialect.end_subscription(ended))

    def perform(self, actions: Iterable[Action]) -> None:
        for action in tuple(actions):
            match action:
                case Write(data):
                    self._written(data)
                case Tell(message):
                    self._take(message)
                case Ask():
                    self._take(action)
                case _:
                    raise AssertionError(f"unexpected: {action}")

    def _written(self, data: bytes) -> None:
        assert data.endswith(b"\n")
        for line in data.splitlines():
            message = json.loads(line)
            still_open = "error" in message and "not answered yet" in message["error"]["message"]
            judge(None if still_open else self._methods.pop(message.get("id"), None), message)
            self.lines.append(message)

    def _take(self, message: Any) -> None:
        self.told.append(message)
        if kind_of(message) in self.held:
            self._waiting.append(message)
        else:
            self._reply(message)

    def _reply(self, message: Any) -> None:
        if isinstance(message, CancelRequest):
            return
        inner = content(message)
        reply = {**USUAL, **self.replies}.get(type(inner).__name__, lambda _: a.Done())
        if message.caller is not None:
            self.perform(self.dialect.take_answer(message.caller, reply(inner)))
