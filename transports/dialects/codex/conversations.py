"""Methods that make a conversation, send input, and interrupt."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Literal

from msgspec import Struct

from actors.messages.conversation import Inspect, Interrupt, Send
from actors.vocabulary.answers import Done
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import GreenroomError, InvalidInput, UnknownConversation
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import Settings
from transports import jsonrpc
from transports.dialect import Ask
from transports.dialects.codex import params as p
from transports.dialects.kit.creation import begin, make_settings, tell_notices
from transports.dialects.kit.identifiers import fresh_conversation, uri_of
from transports.dialects.kit.methods import MethodCall
from transports.dialects.kit.reading_state import ReadingState
from transports.dialects.kit.refusals import MethodError, prefix_refusals
from transports.dialects.kit.script import Script, ask, command
from transports.supervisor_requests import PermitSettings, RememberEnvironment

CodexCall = MethodCall[ReadingState]

invalid_request = partial(MethodError, jsonrpc.INVALID_REQUEST)
invalid_params = partial(MethodError, jsonrpc.INVALID_PARAMS)
internal_error = partial(MethodError, jsonrpc.INTERNAL_ERROR)


@contextmanager
def codex_wording(conversation: ConversationId) -> Iterator[None]:
    """Word the refusals of a conversation as Codex did."""
    try:
        yield
    except UnknownConversation:
        raise invalid_request(f"conversation not found: {conversation}") from None
    except InvalidInput as why:
        raise invalid_params(why.message) from None


class NewConversation(Struct, frozen=True, rename="camel"):
    conversation_id: ConversationId
    model: str
    rollout_path: str


class AbortedTurn(Struct, frozen=True, rename="camel"):
    abort_reason: Literal["replaced", "interrupted"]


def new_conversation(call: CodexCall, params: p.NewConversationParams) -> Script[NewConversation]:
    conversation = fresh_conversation()
    with prefix_refusals(invalid_request, "error deriving config"):
        made = yield from make_settings(call.state, params)
    with prefix_refusals(internal_error, "error creating conversation"):
        begun = yield from begin(call.state, conversation, made.settings)
    call.state.without_listener[conversation] = None
    return NewConversation(conversation, begun.settings.model, uri_of(conversation))


def send_user_message(call: CodexCall, params: p.SendUserMessageParams) -> Script[Done]:
    _refuse_nothing(params.items)
    return (yield from _send(call, params.conversation, params.items, None))


def send_user_turn(call: CodexCall, params: p.SendUserTurnParams) -> Script[Done]:
    """Send input with settings for its own turn; if a turn is running, that is the next one."""
    _refuse_nothing(params.items)
    with codex_wording(params.conversation):
        current = (yield from command(params.conversation, Inspect())).settings
    own = {
        "cwd": Path(call.client.cwd) / params.cwd,
        "approval_policy": params.approval_policy,
        "sandbox": params.sandbox_policy,
        "model": params.model,
        "effort": params.effort or current.effort,
        "summary": params.summary,
    }
    settings = current.model_copy(update=own)
    try:
        permitted = yield from ask(PermitSettings(settings, current, call.state.person))
    except GreenroomError as why:
        raise invalid_request(why.message) from None
    tell_notices(call.state, permitted)
    return (yield from _send(call, params.conversation, params.items, permitted.settings, tuple(own)))


def interrupt_conversation(call: CodexCall, params: p.CodexConversationParams) -> Script[AbortedTurn]:
    """Interrupt; the conversation answers when its turn is over, or at once if none runs."""
    with codex_wording(params.conversation):
        stopped = yield from command(params.conversation, Interrupt(call.client.label))
    return AbortedTurn("replaced" if stopped.ending is Ending.REPLACED else "interrupted")


def _refuse_nothing(items: tuple[InputItem, ...]) -> None:
    if not items:
        raise invalid_params("items must not be empty")


def _send(
    call: CodexCall,
    conversation: ConversationId,
    items: tuple[InputItem, ...],
    settings: Settings | None,
    own: tuple[str, ...] = (),
) -> Script[Done]:
    call.do(Ask(RememberEnvironment(conversation)))
    with codex_wording(conversation):
        yield from command(conversation, Send(items, settings=settings, by=call.client.label, own=own))
    return Done()
