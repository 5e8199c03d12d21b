"""Turns: what people say, when it is taken, and how it is stopped."""

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import (
    Accepted,
    Done,
    Interrupted,
    Resolved,
    TurnResult,
)
from actors.vocabulary.errors import GreenroomError, InvalidInput
from actors.vocabulary.ids import ConversationId, InputId
from actors.vocabulary.items import InputItem, TextItem
from actors.vocabulary.settings import Task
from transports import requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.results import queue, shown
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.control.handlers.naming import to_named
from transports.dialects.kit.endings import said
from transports.dialects.kit.script import (
    Script,
    ask,
    command,
    command_each,
    conversation_named,
    look_up,
    look_up_each,
)
from transports.jsonrpc import JsonObject

BUSY = frozenset({"starting", "running", "waiting", "interrupting"})


def _items(given: p.Send | p.EditInput) -> tuple[InputItem, ...]:
    if bool(given.items) == (given.prompt is not None):
        raise InvalidInput("give either a prompt or items")
    return given.items or (TextItem(text=given.prompt or ""),)


def send(call: ControlCall, given: p.Send) -> Script[Accepted | TurnResult]:
    items = _items(given)
    one = yield from conversation_named(given.conversation)
    own = yield from _own_settings(one, given.settings)
    words = m.Send(
        items,
        given.if_busy,
        settings=own.settings if own else None,
        key=given.key,
        await_end=given.wait,
        by=call.client.label,
        own=own.fields if own else (),
    )
    return (yield from said(one, words))


def compact(call: ControlCall, given: p.Compact) -> Script[Accepted | TurnResult]:
    one = yield from conversation_named(given.conversation)
    by = call.client.label
    wanted = m.Send((), key=given.key, await_end=given.wait, by=by, task=Task.COMPACT)
    return (yield from said(one, wanted))


def _own_settings(one: ConversationId, values: p.Values) -> Script[r.SettingsMade | None]:
    """Work out the settings of a turn of its own; None if it has those of the conversation."""
    if not values.given:
        return None
    current = (yield from command(one, m.Inspect())).settings
    return (yield from ask(r.AlterSettings(current, values.given)))


def interrupt(call: ControlCall, given: p.Interrupt) -> Script[Interrupted]:
    stop = m.Interrupt(call.client.label, kill=given.kill, message=given.reason, clear=given.clear)
    return to_named(given, stop)


def interrupt_many(call: ControlCall, given: p.InterruptMany) -> Script[JsonObject]:
    """Interrupt several; answered when the last has ended. A refused one does not keep the others from it."""
    if bool(given.conversations) == given.all:
        raise InvalidInput("name conversations, or say all")
    if given.all:
        awake = (yield from look_up(rm.ListAwake())).heads
        references = [str(head.conversation) for head in awake if head.state in BUSY and not head.archived]
    else:
        references = list(given.conversations)
    found = yield from look_up_each(rm.Resolve(reference) for reference in references)
    stop = m.Interrupt(call.client.label, kill=given.kill, message=given.reason)
    known = [one.conversation for one in found if isinstance(one, Resolved)]
    answers = iter((yield from command_each((one, stop) for one in known)))
    ends = [one if isinstance(one, GreenroomError) else next(answers) for one in found]
    rows = [{"conversation": named, **shown(end)} for named, end in zip(references, ends, strict=True)]
    return {"stopped": rows}


def read_queue(_: ControlCall, given: p.ReadQueue) -> Script[JsonObject]:
    found = yield from to_named(given, m.Inspect())
    told = queue(found, None if given.input is None else InputId(given.input))
    if given.input is not None and not told["waiting"]:
        raise InvalidInput(f"no input {given.input} waits")
    return told


def resume_queue(call: ControlCall, given: p.Named) -> Script[Done]:
    return to_named(given, m.ResumeQueue(call.client.label))


def edit_input(call: ControlCall, given: p.EditInput) -> Script[Done]:
    return to_named(given, m.EditInput(InputId(given.input), _items(given), call.client.label))


def move_input(call: ControlCall, given: p.MoveInput) -> Script[Done]:
    if (given.before is None) == (given.to is None):
        raise InvalidInput("give either before or to")
    to = given.to or InputId(given.before or "")
    return to_named(given, m.MoveInput(InputId(given.input), to, call.client.label))


def withdraw(call: ControlCall, given: p.Withdraw) -> Script[Done]:
    if given.all == (given.input is not None):
        raise InvalidInput("give either an input or all")
    if given.input is None:
        return to_named(given, m.WithdrawAll(given.reason, call.client.label))
    return to_named(given, m.WithdrawInput(InputId(given.input), given.reason, call.client.label))
