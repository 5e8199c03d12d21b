"""`codex` and `codex-reply` as tasks, and the methods of tasks: get, result, list, cancel. What changes is told."""

from msgspec import Struct

from actors.messages.conversation import FindInput, Inspect, Interrupt, WithdrawInput
from actors.messages.effects import Slice
from actors.vocabulary.answers import InputFound, TurnResult
from actors.vocabulary.errors import GreenroomError, InvalidInput, UnknownConversation
from actors.vocabulary.events import APPROVAL_REQUESTS, TERMINAL
from actors.vocabulary.ids import ConversationId
from transports import jsonrpc
from transports.dialect import Write
from transports.dialects.kit.endings import end_of
from transports.dialects.kit.questions import RESOLVED, waiting_text
from transports.dialects.kit.readers import SinkReader
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, command
from transports.dialects.mcp.calls import codex, long_work
from transports.dialects.mcp.calls.results import ToolError, linked
from transports.dialects.mcp.protocol import resources
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.dialects.mcp.protocol.tasks import TaskId, no_task, related, shown, status_of, task_named, task_of
from transports.dialects.mcp.protocol.turn_requests import TurnRequest
from transports.jsonrpc import JsonObject

CANCELLED = "its task was cancelled"
CHANGES = frozenset({*TERMINAL, *APPROVAL_REQUESTS, RESOLVED})  # events after which its status may be another
OVER = frozenset({"completed", "failed", "cancelled"})


class NamedTask(McpParams):
    task_id: str


class Task(Struct, frozen=True):
    """A task as it is at this moment."""

    id: str
    conversation: ConversationId
    found: InputFound
    end: TurnResult | None

    @property
    def status(self) -> str:
        return status_of(self.found, self.end)


# --- one that begins ------------------------------------------------------------------------------------------------


def begin(call: McpCall, name: str, given: object) -> Script[JsonObject]:
    """Begin a task. Whatever is wrong before it stands is an error of the request, which has no result yet."""
    try:
        begun = yield from _begun(call, name, given)
    except ToolError as why:
        raise MethodError(jsonrpc.INVALID_PARAMS, why.message) from None
    task = yield from _looked_up(str(begun))
    call.state.tasks[task.id] = None
    yield from _follow(call.state, task)
    told = f"The work has begun in conversation {begun.conversation}; codex-reply with this threadId says more in it."
    meta = {"io.modelcontextprotocol/model-immediate-response": told, **related(task.id)}
    return {"task": (yield from _shown(task)), "_meta": meta}


def _begun(call: McpCall, name: str, given: object) -> Script[TaskId]:
    if name == "codex":
        conversation, _, taken = yield from long_work.begun(call, codex.read_first(given))
    else:
        conversation, wanted = codex.read_reply(given)
        taken = yield from long_work.said_in(call, conversation, wanted.prompt, wanted.if_busy)
    return task_of(conversation, taken)


# --- the methods ----------------------------------------------------------------------------------------------------


def get(_: McpCall, wanted: NamedTask) -> Script[JsonObject]:
    return (yield from _shown((yield from _looked_up(wanted.task_id))))


def list_all(call: McpCall, wanted: resources.ListPage) -> Script[JsonObject]:
    """List the tasks that this client has begun, on this connection or those before it."""
    listed = []
    for one in tuple(call.state.tasks):
        try:
            listed.append((yield from _shown((yield from _looked_up(one)))))
        except MethodError:
            call.state.tasks.pop(one, None)
    return resources.one_page(wanted, {"tasks": listed})


def cancel(call: McpCall, wanted: NamedTask) -> Script[JsonObject]:
    """Withdraw its input, or interrupt the turn that took it; answered when all of that is gone."""
    task, by = (yield from _looked_up(wanted.task_id)), call.client.label
    if task.status in OVER:
        raise _wrong(f"the task is {task.status} already")
    if task.found.turn is None:
        yield from command(task.conversation, WithdrawInput(task.found.input, CANCELLED, by))
        return shown(task.id, task.found, "cancelled", "withdrawn before a turn took it")
    yield from command(task.conversation, Interrupt(by, message=CANCELLED, turn=task.found.turn))
    return (yield from _shown((yield from _looked_up(task.id))))


def result(call: McpCall, wanted: NamedTask) -> Script[JsonObject | None]:
    """Wait for the end, with the events and questions of its turn, and answer as the call itself would have been.

    A client that takes this back has only stopped waiting.
    """
    task = yield from _looked_up(wanted.task_id)
    one = codex.opened(call, (), first=False)
    one.input, one.conversation, one.task = task.found.input, task.conversation, task.id
    ended = yield from codex.until_its_end(call.state, one, _end(call, one, task.conversation))
    if ended is None or one.cancelled:
        return None
    return {**linked(ended, call.peer), "_meta": related(task.id)}


def _end(call: McpCall, one: TurnRequest, conversation: ConversationId) -> Script[JsonObject]:
    codex.read_along(call.state, conversation, None)
    found = yield from command(conversation, FindInput(one.input, await_end=True))
    end = found if isinstance(found, TurnResult) else (yield from end_of(conversation, found))
    return codex.ended(call.state, one, end)


# --- how it is ------------------------------------------------------------------------------------------------------


def _looked_up(task: str) -> Script[Task]:
    named = task_named(task)
    try:
        found = yield from command(named.conversation, FindInput(named.input))
    except (InvalidInput, UnknownConversation) as why:
        raise no_task(task, why.message) from None
    if isinstance(found, TurnResult):
        raise TypeError("the end of the turn was not waited for")
    return Task(task, named.conversation, found, (yield from end_of(named.conversation, found)))


def _shown(task: Task) -> Script[JsonObject]:
    return shown(task.id, task.found, task.status, (yield from _message(task)))


def _message(task: Task) -> Script[str]:
    if task.status == "input_required":
        asked = (yield from command(task.conversation, Inspect())).pending
        return "\n".join(f"{waiting_text(one)}; or call tasks/result to be asked" for one in asked)
    if task.end is not None and task.status != "completed":
        return codex.stopped(task.end) if task.status == "cancelled" else task.end.message or task.end.ending.value
    return "waits behind another turn" if task.found.turn is None else ""


def _wrong(why: str) -> MethodError:
    return MethodError(jsonrpc.INVALID_PARAMS, why)


# --- what changes ---------------------------------------------------------------------------------------------------


class TaskSink(Struct, eq=False):
    """Tells the client of each new status, until the task is over."""

    state: McpState
    task: str
    told: str
    reader: SinkReader | None = None
    answers: bool = False

    def take(self, slice_: Slice) -> None:
        self.state.questions.settle(slice_)
        if any(record.type in CHANGES for record in slice_.records):
            self.state.scripts.run(self.tell())

    def tell(self) -> Script[None]:
        try:
            task = yield from _looked_up(self.task)
            params = {**(yield from _shown(task)), "_meta": related(self.task)}
        except GreenroomError:  # withdrawn
            return self._leave()
        if task.status != self.told:
            self.told = task.status
            self.state.do(Write(jsonrpc.notification("notifications/tasks/status", params)))
        if task.status in OVER:
            self._leave()
        return None

    def _leave(self) -> None:
        if self.reader is not None and self.reader in self.state.readers:
            self.state.readers.leave(self.reader)

    def lost(self, reason: str) -> None:
        """Do nothing: a client need not be told, and can look."""


def _follow(state: McpState, task: Task) -> Script[None]:
    """Read along for a client with room for another reader."""
    if state.readers.full or task.status in OVER:
        return
    sink = TaskSink(state, task.id, task.status)
    sink.reader = state.readers.new(task.conversation, sink)
    try:
        yield from state.readers.attach(sink.reader, None)
    except GreenroomError:
        return
    state.scripts.run(sink.tell())  # it may have ended since it was looked up
