"""`codex` and `codex-reply`: a call that is open for a whole turn. From its arguments to its one result."""

from typing import TypeVar
from uuid import uuid4

from msgspec.structs import replace

from actors.messages.conversation import Archive, FindInput, Send, ToConversation
from actors.vocabulary.answers import Accepted, Ending, TurnResult
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput, TurnFailed, UnknownConversation
from actors.vocabulary.ids import ConversationId, InputId
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import BusyPolicy
from transports.dialect import Ask, Tell
from transports.dialects.kit.creation import begin, make_settings
from transports.dialects.kit.endings import said
from transports.dialects.kit.identifiers import conversation_id
from transports.dialects.kit.refusals import MethodError, worded
from transports.dialects.kit.script import Script
from transports.dialects.mcp.calls.results import ToolError, text, tool_error
from transports.dialects.mcp.protocol.answers import Answers, bad_answers
from transports.dialects.mcp.protocol.arguments import Codex, CodexReply
from transports.dialects.mcp.protocol.decoding import Undecodable, decoded, without_effect
from transports.dialects.mcp.protocol.notifications import follow_progress
from transports.dialects.mcp.protocol.rounds import (
    Asked,
    Round,
    give_answers,
    input_required,
    last_round,
    until_asked,
)
from transports.dialects.mcp.protocol.seal import digest
from transports.dialects.mcp.protocol.sinks import CallSink, call_reader
from transports.dialects.mcp.protocol.standing import begin_task, described
from transports.dialects.mcp.protocol.state import McpCall, McpState
from transports.dialects.mcp.protocol.turn_requests import TurnRequest
from transports.jsonrpc import JsonObject
from transports.requests import RememberEnvironment

UNREADABLE = "Failed to parse configuration for Codex tool"
INTERRUPTED = "Turn interrupted"
DIED = "Codex runtime error: internal error; agent loop died unexpectedly"
STOPPED = frozenset({Ending.INTERRUPTED, Ending.REPLACED})

Wanted = TypeVar("Wanted", Codex, CodexReply)


def codex(call: McpCall, given: object) -> Script[JsonObject | None]:
    if call.answers is not None:
        return (yield from _again(call, "codex", Codex, given))
    wanted = read_first(given)
    one = _opened(call, "codex", Codex, given, first=True)
    return (yield from until_its_end(call.state, one, _first_turn(call, one, wanted)))


def codex_reply(call: McpCall, given: object) -> Script[JsonObject | None]:
    if call.answers is not None:
        return (yield from _again(call, "codex-reply", CodexReply, given))
    conversation, wanted = read_reply(given)
    one = _opened(call, "codex-reply", CodexReply, given, first=False)
    one.conversation = conversation
    call.do(Ask(RememberEnvironment(conversation)))
    turn = _turn(call, one, conversation, wanted.prompt, None, wanted.if_busy)
    return (yield from until_its_end(call.state, one, turn))


def read_first(given: object) -> Codex:
    if given is None:
        raise ToolError("Missing arguments for codex tool-call; the `prompt` field is required.")
    return _read(Codex, given)


def read_reply(given: object) -> tuple[ConversationId, CodexReply]:
    if given is None:
        raise ToolError(
            "Missing arguments for codex-reply tool-call; the `session_id` and `prompt` fields are required."
        )
    wanted = _read(CodexReply, given)
    try:
        return conversation_id(wanted.session_id), wanted
    except ValueError as error:
        raise ToolError(f"Failed to parse session_id: {error}") from None


def _read(model: type[Wanted], given: object) -> Wanted:
    try:
        wanted = decoded(model, given)
    except Undecodable as error:
        raise ToolError(f"{UNREADABLE}: {error}") from None
    if not wanted.prompt.strip():  # some APIs refuse it, and every later request that has it in its history
        raise ToolError(f"{UNREADABLE}: `prompt` must not be empty")
    return wanted


def _again(call: McpCall, name: str, model: type[Wanted], given: object) -> Script[JsonObject | None]:
    """Go on with the turn of an earlier call, which its client makes again with answers."""
    state, answers = call.state, call.answers or Answers()
    kept = last_round(state, answers, digest(name, given))
    one = _opened(call, name, model, given, first=False)
    one.key, one.conversation, one.reports = kept.key, kept.conversation, kept.reports
    return (yield from until_its_end(state, one, _next_round(state, one, answers, kept)))


def _next_round(state: McpState, one: TurnRequest, answers: Answers, kept: Round) -> Script[JsonObject]:
    passed_on = yield from give_answers(state, answers, kept)
    same = FindInput(key=kept.key, await_end=True, gone_s=state.options.gone_s)
    try:
        outcome = yield from until_asked(state, one, kept.conversation, same, kept.seq, passed_on)
    except InvalidInput as why:
        raise bad_answers(f"`requestState` is of no use any more: {why.message}") from None
    return ended(state, one, outcome)


def _opened(call: McpCall, name: str, model: type[Wanted], given: object, *, first: bool) -> TurnRequest:
    one = opened(call, without_effect(name, model, given), first=first)
    one.digest = digest(name, given) if call.peer.stateless else ""
    return one


def opened(call: McpCall, ignored: tuple[str, ...], *, first: bool) -> TurnRequest:
    state, input_ = call.state, InputId(str(uuid4()))
    one = TurnRequest(call.request, state.scripts.number(), input_, first, call.peer, call.progress, notices=ignored)
    one.key = call.saying.key
    state.calls.add(one)
    for notice in ignored:
        state.log.once("warning", notice)
    follow_progress(state, one, state.options.progress_seconds)
    return one


def until_its_end(state: McpState, one: TurnRequest, turn: Script[JsonObject]) -> Script[JsonObject | None]:
    """Keep the call open as long as its turn; the last call of a conversation removes their reader.

    None if its client took it back, and such calls are not answered.
    """
    try:
        result = yield from turn
    except MethodError:
        raise
    except GreenroomError as why:
        result = _refused(one, why)
    finally:
        state.calls.remove(one)
    reader = call_reader(state, one.conversation) if one.conversation is not None else None
    if reader is not None and not state.calls.of(reader.conversation):
        state.readers.leave(reader)
    silent = one.peer.stateless or not state.options.answer_cancelled
    return None if one.cancelled and silent else result


def _first_turn(call: McpCall, one: TurnRequest, wanted: Codex) -> Script[JsonObject]:
    state, (conversation, begun) = call.state, (yield from call.saying.place())
    if begun:
        one.conversation = conversation
        call.do(Ask(RememberEnvironment(conversation)))
        return (yield from _turn(call, one, conversation, wanted.prompt, None))
    with worded(ToolError, "Failed to load Codex configuration from overrides"):
        made = yield from make_settings(state, wanted)
    one.notices += tuple(warning for warning in made.warnings if warning not in one.notices)
    try:
        with worded(ToolError, "Failed to start Codex session"):
            yield from begin(state, conversation, made.settings)
    except Cancelled:  # nobody knows its id, so nobody shall find it in lists
        state.do(Tell(ToConversation(conversation, Archive())))
        raise
    one.conversation = conversation
    return (yield from _turn(call, one, conversation, wanted.prompt, 0))


def _turn(
    call: McpCall,
    one: TurnRequest,
    conversation: ConversationId,
    prompt: str,
    after: int | None,
    policy: BusyPolicy = BusyPolicy.STEER,
) -> Script[JsonObject]:
    """Attach a reader first, so that nothing of the turn is missed; then send the input."""
    state = call.state
    words = Send(
        (TextItem(text=prompt),),
        policy,
        key=one.key,
        await_end=True,
        by=state.client.label,
        gone_s=state.options.gone_s,
        input=one.input,
        anew=not call.saying.again,
    )
    if one.peer.tasks:
        task, now = yield from begin_task(conversation, replace(words, await_end=False, gone_s=None))
        return {"resultType": "task", **described(task, now, "working")}
    if one.peer.stateless:
        return ended(state, one, (yield from until_asked(state, one, conversation, words, after)))
    read_along(state, conversation, after)
    one.sent = True
    return ended(state, one, (yield from said(conversation, words)))


def read_along(state: McpState, conversation: ConversationId, after: int | None) -> None:
    if call_reader(state, conversation) is None:
        reader = state.readers.new(conversation, CallSink(state, conversation))
        state.scripts.run(state.readers.attach(reader, after))


# --- results ----------------------------------------------------------------------------------------------------


def ended(state: McpState, one: TurnRequest, outcome: Accepted | TurnResult | Asked | None) -> JsonObject:
    match outcome:
        case Asked():
            assert one.conversation is not None  # noqa: S101  # the question is asked in it
            return input_required(state, one, one.conversation, outcome)
        case TurnResult(ending=Ending.COMPLETED, message=message):
            told = message or ""
            return {"content": text(told, *one.remarks), **_structured(one, told)}
        case TurnResult(ending=ending) if ending in STOPPED:
            return _failed(one, stopped(outcome), INTERRUPTED)
        case TurnResult(ending=Ending.LOST, message=message):
            return _failed(one, f"{message or 'the turn was lost with the daemon'}; codex-reply goes on from there")
        case TurnResult(ending=ending, message=message):
            return _failed(one, message or f"the turn ended: {ending.value}")
        case _:
            return _failed(one, "this was said before, and how it ended is not kept any more")


def _refused(one: TurnRequest, why: GreenroomError) -> JsonObject:
    match why:
        case ToolError():
            return tool_error(why.message)
        case Cancelled() if one.cancelled:
            return _failed(one, f"{INTERRUPTED} by its caller before it began", INTERRUPTED)
        case UnknownConversation():
            return tool_error(f"Session not found for session_id: {one.conversation}")
        case TurnFailed():
            return _failed(one, DIED)
        case _:
            return _failed(one, why.message)


def stopped(ended: TurnResult) -> str:
    """The words for a turn that was interrupted: by whom, and why."""
    by = f" by {', '.join(ended.by)}" if ended.by else ""
    replaced = "a new message took its place" if ended.ending is Ending.REPLACED else ""
    why = ended.message or replaced
    return f"{INTERRUPTED}{by}{': ' if why else ''}{why}"


def _failed(one: TurnRequest, said: str, error: str = "") -> JsonObject:
    """The result of a failure; clients of July 2025 look for `error`, and there for its words to the letter."""
    return {**tool_error(said, *one.remarks), **_structured(one, said), "error": error or said}


def _structured(one: TurnRequest, said: str) -> JsonObject:
    """The result with its conversation, so that a model, which sees no notifications, learns where to reply."""
    if one.conversation is None:
        return {}
    structure = {"threadId": one.conversation, "sessionId": one.conversation, "content": said}
    notices = [*one.notices, *one.remarks]
    return {"structuredContent": {**structure, "notices": notices} if notices else structure}
