"""`codex` and `codex-reply` as tasks, and the methods of tasks: get, result, list, cancel, with notifications."""

from msgspec import Struct

from actors.messages.conversation import FindInput, Inspect, Interrupt, WithdrawInput
from actors.messages.effects import Slice
from actors.vocabulary.answers import InputFound, TurnResult
from actors.vocabulary.errors import GreenroomError, InvalidInput, UnknownConversation
from actors.vocabulary.events import APPROVAL_REQUESTS, TERMINAL
from actors.vocabulary.ids import ConversationId
from transports import jsonrpc
from transports.dialect import Write
from transports.dialects.kit.conversation_readers import SinkReader
from transports.dialects.kit.questions import APPROVAL_RESOLVED, waiting_text
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, command
from transports.dialects.kit.turn_endings import end_of
from transports.dialects.mcp.calls import codex, long_work
from transports.dialects.mcp.calls.results import ToolError, with_link
from transports.dialects.mcp.protocol import resources
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.dialects.mcp.protocol.tasks import (
    TaskId,
    describe_task,
    no_task,
    related_task_meta,
    status_of,
    task_named,
    task_of,
)
from transports.dialects.mcp.protocol.turn_requests import TurnRequest
from transports.jsonrpc import JsonObject

CANCEL_REASON = "its task was cancelled"
CHANGES = frozenset({*TERMINAL, *APPROVAL_REQUESTS, APPROVAL_RESOLVED})  # events that may change the status
FINAL_STATUSES = frozenset({"completed", "failed", "cancelled"})


class TaskParams(McpParams):
    task_id: str


class TaskSnapshot(Struct, frozen=True):
    """A task as it is at this moment."""

    id: str
    conversation: ConversationId
    found: InputFound
    end: TurnResult | None

    @property
    def status(self) -> str:
        return status_of(self.found, self.end)


# --- beginning a task -----------------------------------------------------------------------------------------------


def begin(call: McpCall, name: str, arguments: object) -> Script[JsonObject]:
    """Begin a task. Errors before it is accepted are errors of the request, which has no result yet."""
    try:
        task_id = yield from _begin_turn(call, name, arguments)
    except ToolError as why:
        raise MethodError(jsonrpc.INVALID_PARAMS, why.message) from None
    task = yield from _find_task(str(task_id))
    call.state.tasks[task.id] = None
    yield from _follow(call.state, task)
    reply = (
        f"The work has begun in conversation {task_id.conversation}; codex-reply with this threadId says more in it."
    )
    meta = {"io.modelcontextprotocol/model-immediate-response": reply, **related_task_meta(task.id)}
    return {"task": (yield from _describe(task)), "_meta": meta}


def _begin_turn(call: McpCall, name: str, arguments: object) -> Script[TaskId]:
    if name == "codex":
        conversation, _, accepted = yield from long_work.begin_conversation(call, codex.read_first(arguments))
    else:
        conversation, params = codex.read_reply(arguments)
        accepted = yield from long_work.send_in(call, conversation, params.prompt, params.if_busy)
    return task_of(conversation, accepted)


# --- the methods ----------------------------------------------------------------------------------------------------


def get(_: McpCall, params: TaskParams) -> Script[JsonObject]:
    return (yield from _describe((yield from _find_task(params.task_id))))


def list_all(call: McpCall, params: resources.ListPage) -> Script[JsonObject]:
    """List the tasks that this client has begun, on this connection or those before it."""
    listed = []
    for task_id in tuple(call.state.tasks):
        try:
            listed.append((yield from _describe((yield from _find_task(task_id)))))
        except MethodError:
            call.state.tasks.pop(task_id, None)
    return resources.one_page(params, {"tasks": listed})


def cancel(call: McpCall, params: TaskParams) -> Script[JsonObject]:
    """Withdraw its input, or interrupt the turn that took it; answered when all of that is gone."""
    task, by = (yield from _find_task(params.task_id)), call.client.label
    if task.status in FINAL_STATUSES:
        raise _wrong(f"the task is {task.status} already")
    if task.found.turn is None:
        yield from command(task.conversation, WithdrawInput(task.found.input, CANCEL_REASON, by))
        return describe_task(task.id, task.found, "cancelled", "withdrawn before a turn took it")
    yield from command(task.conversation, Interrupt(by, message=CANCEL_REASON, turn=task.found.turn))
    return (yield from _describe((yield from _find_task(task.id))))


def result(call: McpCall, params: TaskParams) -> Script[JsonObject | None]:
    """Wait for the end, with the events and questions of its turn, and answer like the call itself.

    A client that takes this request back has only stopped waiting.
    """
    task = yield from _find_task(params.task_id)
    open_call = codex.begin_call(call, (), first=False)
    open_call.input, open_call.conversation, open_call.task = task.found.input, task.conversation, task.id
    outcome = yield from codex.until_its_end(call.state, open_call, _end(call, open_call, task.conversation))
    if outcome is None or open_call.cancelled:
        return None
    return {**with_link(outcome, call.peer), "_meta": related_task_meta(task.id)}


def _end(call: McpCall, open_call: TurnRequest, conversation: ConversationId) -> Script[JsonObject]:
    codex.read_along(call.state, conversation, None)
    outcome = yield from command(conversation, FindInput(open_call.input, await_end=True))
    end = outcome if isinstance(outcome, TurnResult) else (yield from end_of(conversation, outcome))
    return codex.result_of_call(call.state, open_call, end)


# --- the status -----------------------------------------------------------------------------------------------------


def _find_task(task: str) -> Script[TaskSnapshot]:
    task_id = task_named(task)
    try:
        found = yield from command(task_id.conversation, FindInput(task_id.input))
    except (InvalidInput, UnknownConversation) as why:
        raise no_task(task, why.message) from None
    if isinstance(found, TurnResult):
        raise TypeError("the end of the turn was not waited for")
    return TaskSnapshot(task, task_id.conversation, found, (yield from end_of(task_id.conversation, found)))


def _describe(task: TaskSnapshot) -> Script[JsonObject]:
    return describe_task(task.id, task.found, task.status, (yield from _message(task)))


def _message(task: TaskSnapshot) -> Script[str]:
    if task.status == "input_required":
        pending = (yield from command(task.conversation, Inspect())).pending
        return "\n".join(f"{waiting_text(request)}; or call tasks/result to be asked" for request in pending)
    if task.end is not None and task.status != "completed":
        return (
            codex.interruption_text(task.end)
            if task.status == "cancelled"
            else task.end.message or task.end.ending.value
        )
    return "waits behind another turn" if task.found.turn is None else ""


def _wrong(why: str) -> MethodError:
    return MethodError(jsonrpc.INVALID_PARAMS, why)


# --- notifications --------------------------------------------------------------------------------------------------


class TaskSink(Struct, eq=False):
    """Notifies the client of each new status, until the task is over."""

    state: McpState
    task: str
    last_status: str
    reader: SinkReader | None = None
    answers: bool = False

    def take(self, slice_: Slice) -> None:
        self.state.questions.settle(slice_)
        if any(record.type in CHANGES for record in slice_.records):
            self.state.scripts.run(self.tell())

    def tell(self) -> Script[None]:
        try:
            task = yield from _find_task(self.task)
            params = {**(yield from _describe(task)), "_meta": related_task_meta(self.task)}
        except GreenroomError:  # withdrawn
            return self._leave()
        if task.status != self.last_status:
            self.last_status = task.status
            self.state.do(Write(jsonrpc.notification("notifications/tasks/status", params)))
        if task.status in FINAL_STATUSES:
            self._leave()
        return None

    def _leave(self) -> None:
        if self.reader is not None and self.reader in self.state.readers:
            self.state.readers.leave(self.reader)

    def handle_loss(self, reason: str) -> None:
        """Do nothing: a client need not be notified, and can ask."""


def _follow(state: McpState, task: TaskSnapshot) -> Script[None]:
    """Read along, if the client has room for another reader."""
    if state.readers.full or task.status in FINAL_STATUSES:
        return
    sink = TaskSink(state, task.id, task.status)
    sink.reader = state.readers.new(task.conversation, sink)
    try:
        yield from state.readers.attach(sink.reader, None)
    except GreenroomError:
        return
    state.scripts.run(sink.tell())  # it may have ended meanwhile
