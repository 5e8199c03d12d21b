"""`codex` and `codex-reply`: a call that is open for a whole turn. From its arguments to its one result."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from actors.answers import Ending, TurnResult
from actors.errors import Cancelled, GreenroomError, TurnFailed, UnknownConversation
from actors.ids import ConversationId
from actors.items import TextItem
from actors.messages import Archive, Begin, Send
from actors.registry_messages import Create, ToConversation
from actors.settings import BusyPolicy
from transports import requests as ask
from transports.dialect import Action, Ask, Tell
from transports.dialects.mcp import arguments, creation, progress
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.call_sink import CallSink
from transports.dialects.mcp.decoding import Undecodable, decoded
from transports.dialects.mcp.identifiers import conversation_id
from transports.dialects.mcp.running import TurnCall

INTERRUPTED = "Turn interrupted"
DIED = "Codex runtime error: internal error; agent loop died unexpectedly"
NO_WORDS = "Failed to parse configuration for Codex tool: `prompt` must not be empty"
STOPPED = frozenset({Ending.INTERRUPTED, Ending.REPLACED})


def codex(call: Call, given: Any) -> Iterable[Action]:
    if given is None:
        return call.tool_error("Missing arguments for codex tool-call; the `prompt` field is required.")
    try:
        wanted = decoded(arguments.Codex, given)
    except Undecodable as error:
        return call.tool_error(f"Failed to parse configuration for Codex tool: {error}")
    if _says_nothing(wanted.prompt):
        return call.tool_error(NO_WORDS)
    return _begin(call, wanted, creation.without_effect("codex", arguments.Codex, given))


def codex_reply(call: Call, given: Any) -> Iterable[Action]:
    if given is None:
        return call.tool_error(
            "Missing arguments for codex-reply tool-call; the `session_id` and `prompt` fields are required."
        )
    try:
        wanted = decoded(arguments.CodexReply, given)
    except Undecodable as error:
        return call.tool_error(f"Failed to parse configuration for Codex tool: {error}")
    if _says_nothing(wanted.prompt):
        return call.tool_error(NO_WORDS)
    try:
        conversation = conversation_id(wanted.session_id)
    except ValueError as error:
        return call.tool_error(f"Failed to parse session_id: {error}")
    ignored = creation.without_effect("codex-reply", arguments.CodexReply, given)
    return _continue(call, conversation, wanted, ignored)


def _says_nothing(prompt: str) -> bool:
    """Some model APIs refuse an empty message, and would refuse every later request that has it in its history."""
    return not prompt.strip()


def _begin(call: Call, wanted: arguments.Codex, ignored: tuple[str, ...]) -> Iterable[Action]:
    turn = _open(call, ignored, first=True)
    conversation = ConversationId(str(uuid4()))

    def made(answer: Any) -> Iterable[Action]:
        if call.over:
            return
        if isinstance(answer, GreenroomError):
            text = f"Failed to load Codex configuration from overrides: {answer.message}"
            yield from _close(turn, _error(text))
            return
        yield from creation.notices(call, answer)
        turn.notices += tuple(one for one in answer.warnings if one not in turn.notices)
        yield Ask(ask.RememberEnvironment(None, conversation))
        yield from call.tell(lambda caller: Create(conversation, Begin(caller, answer.settings)), begun)

    def begun(answer: Any) -> Iterable[Action]:
        if call.over:  # nobody knows its id, so nobody shall find it in lists
            yield Tell(ToConversation(conversation, Archive(None)))
            return
        if isinstance(answer, GreenroomError):
            yield from _close(turn, _error(f"Failed to start Codex session: {answer.message}"))
            return
        turn.conversation = conversation
        yield from _say(turn, conversation, wanted.prompt, 0)

    yield from _warn(turn)
    yield from progress.begun(turn, call.desk.options.progress_seconds)
    yield from call.ask(lambda token: creation.settings_request(token, call.desk.options.person, wanted), made)


def _continue(
    call: Call, conversation: ConversationId, wanted: arguments.CodexReply, ignored: tuple[str, ...]
) -> Iterable[Action]:
    turn = _open(call, ignored, first=False)
    yield from _warn(turn)
    turn.conversation = conversation
    yield from progress.begun(turn, call.desk.options.progress_seconds)
    yield Ask(ask.RememberEnvironment(None, conversation))
    yield from _say(turn, conversation, wanted.prompt, None, wanted.if_busy)


def _open(call: Call, ignored: tuple[str, ...], *, first: bool) -> TurnCall:
    desk = call.desk
    number = desk.expected.number()
    turn = TurnCall(call, number, f"{desk.client.label}#{number}", first, notices=ignored)
    desk.running.add(turn)
    return turn


def _warn(turn: TurnCall) -> Iterable[Action]:
    for notice in turn.notices:
        yield from turn.call.desk.loudness.once("warning", notice)


def _say(
    turn: TurnCall,
    conversation: ConversationId,
    prompt: str,
    after: int | None,
    policy: BusyPolicy = BusyPolicy.STEER,
) -> Iterable[Action]:
    """First a reader, so that nothing of the turn is missed; then the words."""
    desk = turn.call.desk
    if desk.call_reader(conversation) is None:
        yield from desk.readers.attach(desk.readers.new(conversation, CallSink(desk, conversation)), after)
    caller = turn.caller = desk.expected.reply(lambda answer: _ended(turn, answer))
    items = (TextItem(text=prompt),)
    said = Send(caller, items, policy, await_end=True, by=turn.by, gone_s=desk.options.gone_s)
    yield Tell(ToConversation(conversation, said))


def _ended(turn: TurnCall, answer: Any) -> Iterable[Action]:
    yield from _close(turn, result_of(turn, answer))
    conversation = turn.conversation
    if conversation is None:
        return
    desk = turn.call.desk
    reader = desk.call_reader(conversation)
    if reader is not None and not desk.running.of(conversation):
        yield from desk.leave(reader)


def cancel(turn: TurnCall) -> Iterable[Action]:
    """Before its words were sent there is nothing to stop; after that the conversation decides what they became."""
    turn.cancelled = True
    if turn.caller is None:
        yield from _close(turn, result_of(turn, Cancelled("")))
    else:
        yield from creation.take_back(turn.call.desk, turn.caller)


def _close(turn: TurnCall, result: Mapping[str, Any]) -> Iterable[Action]:
    call = turn.call
    call.desk.running.remove(turn)
    if turn.cancelled and not call.desk.options.answer_cancelled:
        yield from call.drop()
    else:
        yield from call.finish(result)


# --- results ----------------------------------------------------------------------------------------------------


def result_of(turn: TurnCall, answer: Any) -> dict[str, Any]:
    match answer:
        case TurnResult(ending=Ending.COMPLETED, message=message):
            text = message or ""
            return {"content": _text(text, *turn.remarks), **_structured(turn, text)}
        case TurnResult(ending=ending) if ending in STOPPED:
            return _failed(turn, INTERRUPTED)
        case TurnResult(ending=ending, message=message):
            return _failed(turn, message or f"the turn ended: {ending.value}")
        case Cancelled() if turn.cancelled:
            return _failed(turn, INTERRUPTED)
        case UnknownConversation():
            return _error(f"Session not found for session_id: {turn.conversation}")
        case TurnFailed():
            return _failed(turn, DIED)
        case GreenroomError():
            return _failed(turn, answer.message)
        case _:
            raise TypeError(f"no result for {type(answer).__name__}")


def _failed(turn: TurnCall, text: str) -> dict[str, Any]:
    """`error` is what clients of July 2025 look for."""
    return {**_error(text, *turn.remarks), **_structured(turn, text), "error": text}


def _error(*texts: str) -> dict[str, Any]:
    return {"content": _text(*texts), "isError": True}


def _structured(turn: TurnCall, text: str) -> dict[str, Any]:
    """So that a model, which sees no notifications, learns where to reply."""
    if turn.conversation is None:
        return {}
    said = {"threadId": turn.conversation, "sessionId": turn.conversation, "content": text}
    notices = [*turn.notices, *turn.remarks]
    return {"structuredContent": {**said, "notices": notices} if notices else said}


def _text(*texts: str) -> list[dict[str, str]]:
    return [{"text": text, "type": "text"} for text in texts]
