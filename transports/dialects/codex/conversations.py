"""Make a conversation, say something in it, stop it."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

from actors.answers import Accepted, Ending, Interrupted, Summary
from actors.errors import GreenroomError, InvalidInput, UnknownConversation
from actors.ids import ConversationId
from actors.messages import Begin, Inspect, Interrupt, Send
from actors.registry_messages import Create
from actors.settings import Settings
from transports import jsonrpc
from transports import requests as ask
from transports.dialect import Action, Ask
from transports.dialects.codex import params as p
from transports.dialects.mcp import creation
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.resources import uri_of


def new_conversation(call: Call, wanted: p.NewConversation) -> Iterable[Action]:
    conversation = ConversationId(str(uuid4()))

    def made(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            yield from call.fail(jsonrpc.INVALID_REQUEST, f"error deriving config: {answer.message}")
            return
        yield from creation.notices(call, answer)
        yield Ask(ask.RememberEnvironment(None, conversation))
        yield from call.tell(lambda caller: Create(conversation, Begin(caller, answer.settings)), begun)

    def begun(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            yield from call.fail(jsonrpc.INTERNAL_ERROR, f"error creating conversation: {answer.message}")
            return
        call.desk.unheard.keep(conversation, None)
        told = {"conversationId": conversation, "model": answer.settings.model, "rolloutPath": uri_of(conversation)}
        yield from call.finish(told)

    return call.ask(lambda token: creation.settings_request(token, call.desk.options.person, wanted), made)


def send_user_message(call: Call, wanted: p.SendUserMessage) -> Iterable[Action]:
    if not wanted.items:
        return call.fail(jsonrpc.INVALID_PARAMS, "items must not be empty")
    return _send(call, wanted.conversation, wanted.items, None)


def send_user_turn(call: Call, wanted: p.SendUserTurn) -> Iterable[Action]:
    """Its settings are for its own turn: if one is running, the next."""
    if not wanted.items:
        return call.fail(jsonrpc.INVALID_PARAMS, "items must not be empty")

    def seen(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, Summary):
            return failed(call, wanted.conversation, answer)
        settings = answer.settings.model_copy(
            update={
                "cwd": Path(call.desk.client.cwd) / wanted.cwd,
                "approval_policy": wanted.approval_policy,
                "sandbox": wanted.sandbox_policy,
                "model": wanted.model,
                "effort": wanted.effort or answer.settings.effort,
                "summary": wanted.summary,
            }
        )
        person = call.desk.options.person
        return call.ask(lambda token: ask.Permit(token, settings, answer.settings, person), permitted)

    def permitted(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            yield from call.fail(jsonrpc.INVALID_REQUEST, answer.message)
            return
        yield from creation.notices(call, answer)
        yield from _send(call, wanted.conversation, wanted.items, answer.settings)

    return call.command(wanted.conversation, Inspect, seen)


def interrupt_conversation(call: Call, wanted: p.Named) -> Iterable[Action]:
    """Answered by the conversation itself: when its turn is over, or at once where none runs."""

    def stopped(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, Interrupted):
            return failed(call, wanted.conversation, answer)
        reason = "replaced" if answer.ending is Ending.REPLACED else "interrupted"
        return call.finish({"abortReason": reason})

    label = call.desk.client.label
    return call.command(wanted.conversation, lambda caller: Interrupt(caller, label), stopped)


def failed(call: Call, conversation: ConversationId, why: GreenroomError) -> Iterable[Action]:
    if isinstance(why, UnknownConversation):
        return call.fail(jsonrpc.INVALID_REQUEST, f"conversation not found: {conversation}")
    if isinstance(why, InvalidInput):
        return call.fail(jsonrpc.INVALID_PARAMS, why.message)
    return call.refuse(why)


def _send(
    call: Call, conversation: ConversationId, items: tuple[Any, ...], settings: Settings | None
) -> Iterable[Action]:
    def accepted(answer: Any) -> Iterable[Action]:
        return call.finish({}) if isinstance(answer, Accepted) else failed(call, conversation, answer)

    yield Ask(ask.RememberEnvironment(None, conversation))
    yield from call.command(
        conversation, lambda caller: Send(caller, items, settings=settings, by=call.desk.client.label), accepted
    )
