"""`codex` and `codex-reply`: a call that is open for a whole turn, from its arguments to its one result."""

from typing import TypeVar
from uuid import uuid4

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from actors.messages.conversation import Archive, FindInput, Send, ToConversation
from actors.vocabulary.answers import AcceptedInput, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput, TurnFailed, UnknownConversation
from actors.vocabulary.ids import ConversationId, InputId
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import BusyPolicy
from transports.dialect import Ask, Tell
from transports.dialects.kit.creation import begin_somewhere, make_settings
from transports.dialects.kit.identifiers import conversation_id
from transports.dialects.kit.refusals import MethodError, prefix_refusals
from transports.dialects.kit.script import Script, command
from transports.dialects.kit.turn_endings import send_input
from transports.dialects.mcp.calls.results import (
    CallResult,
    ExtensionTask,
    ToolError,
    describe_extension_task,
    text,
    tool_error,
)
from transports.dialects.mcp.protocol.answers import Answers, bad_answers
from transports.dialects.mcp.protocol.arguments import CodexArguments, CodexReplyArguments
from transports.dialects.mcp.protocol.decoding import Undecodable, decode, without_effect
from transports.dialects.mcp.protocol.notifications import follow_progress
from transports.dialects.mcp.protocol.seal import digest
from transports.dialects.mcp.protocol.sinks import CallSink, call_reader
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.dialects.mcp.protocol.tasks import read_state, task_of
from transports.dialects.mcp.protocol.tool_results import TurnContent
from transports.dialects.mcp.protocol.turn_requests import TurnRequest
from transports.dialects.mcp.protocol.turn_rounds import (
    InputRequired,
    PendingQuestions,
    Round,
    give_answers,
    input_required,
    last_round,
    until_asked,
)
from transports.supervisor_requests import RememberEnvironment

UNREADABLE = "Failed to parse configuration for Codex tool"
INTERRUPTED = "Turn interrupted"
DIED = "Codex runtime error: internal error; agent loop died unexpectedly"
STOPPED_ENDINGS = frozenset({Ending.INTERRUPTED, Ending.REPLACED})

ToolAnswer = CallResult | InputRequired | ExtensionTask
AnyResult = TypeVar("AnyResult")
AnyArguments = TypeVar("AnyArguments", CodexArguments, CodexReplyArguments)


def codex(call: McpCall, arguments: object) -> Script[ToolAnswer | None]:
    if call.answers is not None:
        return (yield from _resume_turn(call, "codex", CodexArguments, arguments))
    params = read_first(arguments)
    open_call = _open_tool_call(call, "codex", CodexArguments, arguments, first=True)
    return (yield from until_its_end(call.state, open_call, _first_turn(call, open_call, params)))


def codex_reply(call: McpCall, arguments: object) -> Script[ToolAnswer | None]:
    if call.answers is not None:
        return (yield from _resume_turn(call, "codex-reply", CodexReplyArguments, arguments))
    conversation, params = read_reply(arguments)
    open_call = _open_tool_call(call, "codex-reply", CodexReplyArguments, arguments, first=False)
    open_call.conversation = conversation
    call.do(Ask(RememberEnvironment(conversation)))
    turn = _turn(call, open_call, conversation, params.prompt, None, params.if_busy)
    return (yield from until_its_end(call.state, open_call, turn))


def read_first(arguments: object) -> CodexArguments:
    if arguments is None:
        raise ToolError("Missing arguments for codex tool-call; the `prompt` field is required.")
    return _read(CodexArguments, arguments)


def read_reply(arguments: object) -> tuple[ConversationId, CodexReplyArguments]:
    if arguments is None:
        raise ToolError(
            "Missing arguments for codex-reply tool-call; the `session_id` and `prompt` fields are required."
        )
    params = _read(CodexReplyArguments, arguments)
    try:
        return conversation_id(params.session_id), params
    except ValueError as error:
        raise ToolError(f"Failed to parse session_id: {error}") from None


def _read(model: type[AnyArguments], arguments: object) -> AnyArguments:
    try:
        params = decode(model, arguments)
    except Undecodable as error:
        raise ToolError(f"{UNREADABLE}: {error}") from None
    if not params.prompt.strip():  # some APIs refuse it, and every later request with it in the history
        raise ToolError(f"{UNREADABLE}: `prompt` must not be empty")
    return params


def _resume_turn(call: McpCall, name: str, model: type[AnyArguments], arguments: object) -> Script[ToolAnswer | None]:
    """Resume the turn of an earlier call, which its client repeats with answers."""
    state, answers = call.state, call.answers or Answers()
    round_ = last_round(state, answers, digest(name, arguments))
    open_call = _open_tool_call(call, name, model, arguments, first=False)
    open_call.key, open_call.conversation, open_call.reports = round_.key, round_.conversation, round_.reports
    return (yield from until_its_end(state, open_call, _next_round(state, open_call, answers, round_)))


def _next_round(state: McpState, open_call: TurnRequest, answers: Answers, round_: Round) -> Script[ToolAnswer]:
    passed_on = yield from give_answers(state, answers, round_)
    same = FindInput(key=round_.key, await_end=True, gone_s=state.options.gone_s)
    try:
        outcome = yield from until_asked(state, open_call, round_.conversation, same, round_.seq, passed_on)
    except InvalidInput as why:
        raise bad_answers(f"`requestState` is of no use any more: {why.message}") from None
    return result_of_call(state, open_call, outcome)


def _open_tool_call(
    call: McpCall, name: str, model: type[AnyArguments], arguments: object, *, first: bool
) -> TurnRequest:
    open_call = begin_call(call, without_effect(name, model, arguments), first=first)
    open_call.digest = digest(name, arguments) if call.peer.stateless else ""
    return open_call


def begin_call(call: McpCall, ignored: tuple[str, ...], *, first: bool) -> TurnRequest:
    state, input_ = call.state, InputId(str(uuid4()))
    open_call = TurnRequest(
        call.request, state.scripts.number(), input_, first, call.peer, call.progress, notices=ignored
    )
    open_call.key = call.saying.key
    state.calls.add(open_call)
    for notice in ignored:
        state.log.once("warning", notice)
    follow_progress(state, open_call, state.options.progress_seconds)
    return open_call


def until_its_end(
    state: McpState, open_call: TurnRequest, turn: Script[AnyResult]
) -> Script[AnyResult | CallResult | None]:
    """Keep the call open as long as its turn; the last call of a conversation removes their reader.

    None if the client took the call back, and such calls are not answered.
    """
    result: AnyResult | CallResult
    try:
        result = yield from turn
    except MethodError:
        raise
    except GreenroomError as why:
        result = _refusal_result(open_call, why)
    finally:
        state.calls.remove(open_call)
    reader = call_reader(state, open_call.conversation) if open_call.conversation is not None else None
    if reader is not None and not state.calls.in_conversation(reader.conversation):
        state.readers.leave(reader)
    silent = open_call.peer.stateless or not state.options.answer_cancelled
    return None if open_call.cancelled and silent else result


def _first_turn(call: McpCall, open_call: TurnRequest, params: CodexArguments) -> Script[ToolAnswer]:
    state, (conversation, is_there) = call.state, (yield from call.saying.place())
    if is_there:
        open_call.conversation = conversation
        call.do(Ask(RememberEnvironment(conversation)))
        return (yield from _turn(call, open_call, conversation, params.prompt, None))
    with prefix_refusals(ToolError, "Failed to load Codex configuration from overrides"):
        made = yield from make_settings(state, params)
    open_call.notices += tuple(warning for warning in made.warnings if warning not in open_call.notices)
    try:
        with prefix_refusals(ToolError, "Failed to start Codex session"):
            conversation = yield from begin_somewhere(state, conversation, made.settings)
    except Cancelled:  # its id was never sent, so lists must not show it either
        state.do(Tell(ToConversation(conversation, Archive())))
        raise
    open_call.conversation = conversation
    return (yield from _turn(call, open_call, conversation, params.prompt, 0))


def _turn(
    call: McpCall,
    open_call: TurnRequest,
    conversation: ConversationId,
    prompt: str,
    after: int | None,
    policy: BusyPolicy = BusyPolicy.STEER,
) -> Script[ToolAnswer]:
    """Attach a reader, so that it misses nothing of the turn; then send the input."""
    state = call.state
    message = Send(
        (TextItem(text=prompt),),
        policy,
        key=open_call.key,
        await_end=True,
        by=state.client.label,
        gone_s=state.options.gone_s,
        input=open_call.input,
        anew=not call.saying.again,
    )
    if open_call.peer.tasks:
        accepted = yield from command(conversation, replace(message, await_end=False, gone_s=None))
        assert isinstance(accepted, AcceptedInput)  # noqa: S101  # the end of its turn is not awaited
        task = task_of(conversation, accepted)  # which exists as soon as the message is stored
        return replace(describe_extension_task(task, (yield from read_state(task)), "working"), result_type="task")
    if open_call.peer.stateless:
        return result_of_call(
            state, open_call, (yield from until_asked(state, open_call, conversation, message, after))
        )
    read_along(state, conversation, after)
    open_call.sent = True
    return result_of_call(state, open_call, (yield from send_input(conversation, message)))


def read_along(state: McpState, conversation: ConversationId, after: int | None) -> None:
    if call_reader(state, conversation) is None:
        reader = state.readers.new(conversation, CallSink(state, conversation))
        state.scripts.run(state.readers.attach(reader, after))


# --- results ----------------------------------------------------------------------------------------------------


def result_of_call(
    state: McpState, open_call: TurnRequest, outcome: AcceptedInput | TurnResult | PendingQuestions | None
) -> CallResult | InputRequired:
    if isinstance(outcome, PendingQuestions):
        assert open_call.conversation is not None  # noqa: S101  # the question is asked in it
        return input_required(state, open_call, open_call.conversation, outcome)
    return result_of_turn(open_call, outcome)


def result_of_turn(open_call: TurnRequest, outcome: AcceptedInput | TurnResult | None) -> CallResult:
    if not isinstance(outcome, TurnResult):
        return _failure_result(open_call, "this was said before, and how it ended is not kept any more")
    words = turn_text(outcome)
    if outcome.ending is not Ending.COMPLETED:
        return _failure_result(open_call, words, INTERRUPTED if outcome.ending in STOPPED_ENDINGS else "")
    content = text(words, *open_call.remarks)
    return CallResult(content=content, structured_content=_structured_content(open_call, words))


def turn_text(outcome: TurnResult) -> str:
    """The last message of a turn that was completed, and of any other, why it ended."""
    match outcome:
        case TurnResult(ending=Ending.COMPLETED, message=message):
            return message or ""
        case TurnResult(ending=ending) if ending in STOPPED_ENDINGS:
            return interruption_text(outcome)
        case TurnResult(ending=Ending.LOST, message=message):
            return f"{message or 'the turn was lost with the daemon'}; codex-reply goes on from there"
        case TurnResult(ending=ending, message=message):
            return message or f"the turn ended: {ending.value}"


def _refusal_result(open_call: TurnRequest, why: GreenroomError) -> CallResult:
    match why:
        case ToolError():
            return tool_error(why.message)
        case Cancelled() if open_call.cancelled:
            return _failure_result(open_call, f"{INTERRUPTED} by its caller before it began", INTERRUPTED)
        case UnknownConversation():
            return tool_error(f"Session not found for session_id: {open_call.conversation}")
        case TurnFailed():
            return _failure_result(open_call, DIED)
        case _:
            return _failure_result(open_call, why.message)


def interruption_text(result: TurnResult) -> str:
    """The text about an interrupted turn: by whom, and why."""
    by = f" by {', '.join(result.by)}" if result.by else ""
    replaced = "a new message took its place" if result.ending is Ending.REPLACED else ""
    why = result.message or replaced
    return f"{INTERRUPTED}{by}{': ' if why else ''}{why}"


def _failure_result(open_call: TurnRequest, words: str, error: str = "") -> CallResult:
    """The result of a failure; clients of July 2025 look for `error`, with exactly these words."""
    content = tool_error(words, *open_call.remarks)
    return replace(content, structured_content=_structured_content(open_call, words), error=error or words)


def _structured_content(open_call: TurnRequest, words: str) -> TurnContent | UnsetType:
    """The structure that names the conversation: a model sees no notifications, and learns here where to reply."""
    conversation, notices = open_call.conversation, (*open_call.notices, *open_call.remarks)
    return UNSET if conversation is None else TurnContent(conversation, conversation, words, notices)
