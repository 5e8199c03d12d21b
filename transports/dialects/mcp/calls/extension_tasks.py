"""`tasks/get`, `tasks/update` and `tasks/cancel`: the status of a task, its questions, and its cancellation."""

from collections.abc import Mapping

from msgspec import UNSET
from msgspec.structs import replace

from actors.messages.conversation import PassOn, ToConversation
from actors.vocabulary.answers import Done, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.ids import ApprovalId
from transports.dialect import Tell
from transports.dialects.kit.questions import waiting_text
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script
from transports.dialects.mcp.calls.codex import result_of_turn, turn_text
from transports.dialects.mcp.calls.results import ExtensionTask, describe_extension_task, with_link
from transports.dialects.mcp.protocol.answers import answers_in
from transports.dialects.mcp.protocol.introduction import MISSING_CAPABILITY, TASKS
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.state import McpCall
from transports.dialects.mcp.protocol.tasks import TaskId, TaskState, read_state, task_named
from transports.dialects.mcp.protocol.turn_requests import TurnRequest
from transports.dialects.mcp.protocol.turn_rounds import Round, give_answers, question


class ExtensionTaskParams(McpParams):
    task_id: str


class UpdateTask(ExtensionTaskParams):
    input_responses: object


def get(call: McpCall, params: ExtensionTaskParams) -> Script[ExtensionTask]:
    insist_on_tasks(call)
    task = task_named(params.task_id)
    task_state = yield from read_state(task)
    if task_state.withdrawn:
        withdrawn = describe_extension_task(task, task_state, "cancelled")
        return replace(withdrawn, status_message="the message was withdrawn before its turn")
    if task_state.result is not None:
        return _describe_finished(call, task, task_state, task_state.result)
    if task_state.questions and call.peer.elicits:
        questions = {
            request.approval_id: question(request, task.conversation, str(task)) for request in task_state.questions
        }
        return replace(describe_extension_task(task, task_state, "input_required"), input_requests=questions)
    for request in task_state.questions:
        _pass_on(call, task, request.approval_id)
    message = waiting_text(task_state.questions[0]) if task_state.questions else UNSET
    return replace(describe_extension_task(task, task_state, "working"), status_message=message)


def update(call: McpCall, params: UpdateTask) -> Script[Done]:
    """Answer the open questions; other responses are ignored."""
    insist_on_tasks(call)
    task = task_named(params.task_id)
    answers = answers_in({"inputResponses": params.input_responses})
    task_state = yield from read_state(task)
    open_ = tuple(request.approval_id for request in task_state.questions)
    if answers is not None:
        yield from give_answers(call.state, answers, Round(task.conversation, "", "", 0, open_))
    return Done()


def cancel(call: McpCall, params: ExtensionTaskParams) -> Script[Done]:
    """Interrupt the turn or withdraw the message; nothing if the task has ended."""
    insist_on_tasks(call)
    task = task_named(params.task_id)
    task_state = yield from read_state(task)
    if not task_state.is_over:
        call.do(Tell(ToConversation(task.conversation, task_state.stop(task, call.client.label))))
    return Done()


def insist_on_tasks(call: McpCall) -> None:
    if not call.peer.tasks:
        data: Mapping[str, object] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MethodError(MISSING_CAPABILITY, f"Missing required client capability: the extension {TASKS}", data)


def _describe_finished(call: McpCall, task: TaskId, task_state: TaskState, result: TurnResult) -> ExtensionTask:
    if task_state.status == "cancelled":
        described = describe_extension_task(task, task_state, "cancelled")
        return replace(described, status_message=turn_text(result))
    open_call = TurnRequest(call.request, 0, task.input, False, call.peer, conversation=task.conversation)
    call_result = with_link(result_of_turn(open_call, result), call.peer)
    return replace(
        describe_extension_task(task, task_state, "completed"),
        status_message=UNSET if result.ending is Ending.COMPLETED else turn_text(result),
        result=replace(call_result, result_type="complete"),
    )


def _pass_on(call: McpCall, task: TaskId, approval: ApprovalId) -> None:
    """Let the conversation deny it after a while, unless a client comes that can answer."""
    message = PassOn(call.client.connection, approval, asked=False, by=call.client.label)
    call.do(Tell(ToConversation(task.conversation, message)))
