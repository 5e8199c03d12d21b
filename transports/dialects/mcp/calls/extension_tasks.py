"""`tasks/get`, `tasks/update` and `tasks/cancel`: how a task stands, what it asks, and its end by its client."""

from collections.abc import Mapping

from actors.messages.conversation import Interrupt, PassOn, ToConversation, WithdrawInput
from actors.vocabulary.answers import Ending
from actors.vocabulary.ids import ApprovalId
from transports.dialect import Tell
from transports.dialects.kit.questions import waiting_text
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script
from transports.dialects.mcp.calls.codex import STOPPED, ended
from transports.dialects.mcp.calls.results import linked
from transports.dialects.mcp.protocol.answers import answers_in
from transports.dialects.mcp.protocol.introduction import MISSING_CAPABILITY, TASKS
from transports.dialects.mcp.protocol.revisions import McpParams
from transports.dialects.mcp.protocol.rounds import Round, give_answers, question
from transports.dialects.mcp.protocol.standing import Standing, described, standing
from transports.dialects.mcp.protocol.state import McpCall
from transports.dialects.mcp.protocol.tasks import TaskId, task_named
from transports.dialects.mcp.protocol.turn_requests import TurnRequest
from transports.jsonrpc import JsonObject


class NamedTask(McpParams):
    task_id: str


class UpdateTask(NamedTask):
    input_responses: object


def get(call: McpCall, wanted: NamedTask) -> Script[JsonObject]:
    insist_on_tasks(call)
    task = task_named(wanted.task_id)
    now = yield from standing(task)
    if now.withdrawn:
        return described(task, now, "cancelled", statusMessage="the message was withdrawn before its turn")
    if now.result is not None:
        return _ended(call, task, now)
    if now.questions and call.peer.elicits:
        asked = {one.approval_id: question(one, task.conversation, str(task)) for one in now.questions}
        return described(task, now, "input_required", inputRequests=asked)
    for one in now.questions:
        _pass_on(call, task, one.approval_id)
    waiting = {"statusMessage": waiting_text(now.questions[0])} if now.questions else {}
    return described(task, now, "working", **waiting)


def update(call: McpCall, wanted: UpdateTask) -> Script[JsonObject]:
    """Answer what is asked; responses to what is not mean nothing."""
    insist_on_tasks(call)
    task = task_named(wanted.task_id)
    answers = answers_in({"inputResponses": wanted.input_responses})
    now = yield from standing(task)
    open_ = tuple(one.approval_id for one in now.questions)
    if answers is not None:
        yield from give_answers(call.state, answers, Round(task.conversation, "", "", 0, open_))
    return {}


def cancel(call: McpCall, wanted: NamedTask) -> Script[JsonObject]:
    """Interrupt the turn or withdraw the message; of one that has ended, nothing."""
    insist_on_tasks(call)
    task = task_named(wanted.task_id)
    now = yield from standing(task)
    if now.result is None and not now.withdrawn:
        by = call.client.label
        stop = WithdrawInput(task.input, "cancelled by its sender", by) if now.turn is None else Interrupt(by)
        call.do(Tell(ToConversation(task.conversation, stop)))
    return {}


def insist_on_tasks(call: McpCall) -> None:
    if not call.peer.tasks:
        data: Mapping[str, object] = {"requiredCapabilities": {"extensions": {TASKS: {}}}}
        raise MethodError(MISSING_CAPABILITY, f"Missing required client capability: the extension {TASKS}", data)


def _ended(call: McpCall, task: TaskId, now: Standing) -> JsonObject:
    result = now.result
    assert result is not None  # noqa: S101  # its caller has looked
    one = TurnRequest(call.request, 0, task.input, False, call.peer, conversation=task.conversation)
    told = ended(call.state, one, result)
    if result.ending in STOPPED:
        return described(task, now, "cancelled", statusMessage=told["content"][0]["text"])
    said = {} if result.ending is Ending.COMPLETED else {"statusMessage": told["content"][0]["text"]}
    return described(task, now, "completed", **said, result={"resultType": "complete", **linked(told, call.peer)})


def _pass_on(call: McpCall, task: TaskId, approval: ApprovalId) -> None:
    """Let the conversation deny it after a while, unless somebody comes who can answer."""
    passed = PassOn(call.client.connection, approval, asked=False, by=call.client.label)
    call.do(Tell(ToConversation(task.conversation, passed)))
