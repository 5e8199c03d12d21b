"""`codex` and `codex-reply` as tasks, and the methods of tasks: get, result, list, cancel, with notifications."""

from msgspec import Struct, field
from msgspec.structs import replace

from actors.messages.conversation import FindInput
from actors.messages.effects import Slice
from actors.vocabulary.answers import TurnResult
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.events import APPROVAL_REQUESTED, APPROVAL_RESOLVED, TERMINAL
from transports import jsonrpc
from transports.dialect import Write
from transports.dialects.kit.conversation_readers import SinkReader
from transports.dialects.kit.questions import waiting_text
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, command
from transports.dialects.kit.turn_endings import end_of
from transports.dialects.mcp.calls import codex, long_work
from transports.dialects.mcp.calls.results import CallResult, ToolError, with_link
from transports.dialects.mcp.protocol import resources
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.dialects.mcp.protocol.tasks import (
    DescribedTask,
    RelatedTask,
    TaskId,
    TaskMeta,
    TaskState,
    describe_task,
    read_state,
    task_named,
    task_of,
)
from transports.dialects.mcp.protocol.turn_requests import TurnRequest

CHANGES = frozenset({*TERMINAL, APPROVAL_REQUESTED, APPROVAL_RESOLVED})  # events that may change the status


class TaskParams(McpParams):
    task_id: str


class BegunTask(Struct, frozen=True):
    task: DescribedTask
    meta: TaskMeta = field(name="_meta")


class ListedTasks(Struct, frozen=True):
    tasks: list[DescribedTask]


# --- beginning a task -----------------------------------------------------------------------------------------------


def begin(call: McpCall, name: str, arguments: object) -> Script[BegunTask]:
    """Begin a task. Errors before it is accepted are errors of the request, which has no result yet."""
    try:
        task = yield from _begin_turn(call, name, arguments)
    except ToolError as why:
        raise MethodError(jsonrpc.INVALID_PARAMS, why.message) from None
    state = yield from read_state(task)
    call.state.tasks[str(task)] = None
    yield from _follow(call.state, task, state)
    reply = f"The work has begun in conversation {task.conversation}; codex-reply with this threadId says more in it."
    return BegunTask(_describe(task, state), TaskMeta(reply, RelatedTask(str(task))))


def _begin_turn(call: McpCall, name: str, arguments: object) -> Script[TaskId]:
    if name == "codex":
        conversation, _, accepted = yield from long_work.begin_conversation(call, codex.read_first(arguments))
    else:
        conversation, params = codex.read_reply(arguments)
        accepted = yield from long_work.send_in(call, conversation, params.prompt, params.if_busy)
    return task_of(conversation, accepted)


# --- the methods ----------------------------------------------------------------------------------------------------


def get(_: McpCall, params: TaskParams) -> Script[DescribedTask]:
    task = task_named(params.task_id)
    return _describe(task, (yield from read_state(task)))


def list_all(call: McpCall, params: resources.ListPage) -> Script[ListedTasks]:
    """List the tasks that this client has begun, on this connection or those before it."""
    listed = []
    for name in tuple(call.state.tasks):
        try:
            task = task_named(name)
            listed.append(_describe(task, (yield from read_state(task))))
        except MethodError:
            call.state.tasks.pop(name, None)
    return resources.one_page(params, ListedTasks(listed))


def cancel(call: McpCall, params: TaskParams) -> Script[DescribedTask]:
    """Withdraw its input, or interrupt the turn that took it; answered when all of that is gone."""
    task = task_named(params.task_id)
    state = yield from read_state(task)
    if state.is_over:
        raise _wrong(f"the task is {state.status} already")
    yield from command(task.conversation, state.stop(task, call.client.label))
    return _describe(task, (yield from read_state(task)))


def result(call: McpCall, params: TaskParams) -> Script[CallResult | None]:
    """Wait for the end, with the events and questions of its turn, and answer like the call itself.

    A client that takes this request back has only stopped waiting.
    """
    task = task_named(params.task_id)
    state = yield from read_state(task)
    if state.withdrawn:
        raise _wrong("the task was cancelled before a turn took it, so it has no result")
    open_call = codex.begin_call(call, (), first=False)
    open_call.input, open_call.conversation, open_call.task = task.input, task.conversation, task
    outcome = yield from codex.until_its_end(call.state, open_call, _end(call, open_call, task, state.result))
    if outcome is None or open_call.cancelled:
        return None
    return replace(with_link(outcome, call.peer), meta=TaskMeta(related=RelatedTask(str(task))))


def _end(call: McpCall, open_call: TurnRequest, task: TaskId, end: TurnResult | None) -> Script[CallResult]:
    if end is None:
        codex.read_along(call.state, task.conversation, None)
        outcome = yield from command(task.conversation, FindInput(task.input, await_end=True))
        end = outcome if isinstance(outcome, TurnResult) else (yield from end_of(task.conversation, outcome))
    return codex.result_of_turn(open_call, end)


def _describe(task: TaskId, state: TaskState) -> DescribedTask:
    return describe_task(task, state, _message(state))


def _message(state: TaskState) -> str:
    if state.withdrawn:
        return "withdrawn before a turn took it"
    match state.status, state.result:
        case "cancelled", TurnResult() as end:
            return codex.interruption_text(end)
        case "failed", TurnResult() as end:
            return end.message or end.ending.value
        case "input_required", _:
            return "\n".join(
                f"{waiting_text(request)}; or call tasks/result to be asked" for request in state.questions
            )
        case _:
            return "waits behind another turn" if state.turn is None else ""


def _wrong(why: str) -> MethodError:
    return MethodError(jsonrpc.INVALID_PARAMS, why)


# --- notifications --------------------------------------------------------------------------------------------------


class TaskSink(Struct, eq=False):
    """Notifies the client of each new status, until the task is over."""

    state: McpState
    task: TaskId
    last_status: str
    reader: SinkReader | None = None
    answers: bool = False

    def take(self, slice_: Slice) -> None:
        self.state.questions.settle(slice_)
        if any(record.type in CHANGES for record in slice_.records):
            self.state.scripts.run(self.tell())

    def tell(self) -> Script[None]:
        try:
            state = yield from read_state(self.task)
        except GreenroomError:
            return self._leave()
        if state.status != self.last_status:
            self.last_status = state.status
            meta = TaskMeta(related=RelatedTask(str(self.task)))
            params = replace(_describe(self.task, state), meta=meta)
            self.state.do(Write(jsonrpc.notification("notifications/tasks/status", params)))
        if state.is_over:
            self._leave()
        return None

    def _leave(self) -> None:
        if self.reader is not None and self.reader in self.state.readers:
            self.state.readers.leave(self.reader)

    def handle_loss(self, reason: str) -> None:
        """Do nothing: a client need not be notified, and can ask."""


def _follow(client: McpState, task: TaskId, state: TaskState) -> Script[None]:
    """Read along, if the client has room for another reader."""
    if client.readers.full or state.is_over:
        return
    sink = TaskSink(client, task, state.status)
    sink.reader = client.readers.new(task.conversation, sink)
    try:
        yield from client.readers.attach(sink.reader, None)
    except GreenroomError:
        return
    client.scripts.run(sink.tell())  # it may have ended meanwhile
