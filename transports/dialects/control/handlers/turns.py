"""Turns: sending, interrupting, and the queue of waiting inputs."""

from actors.messages import conversation as m
from actors.messages import routing as rm
from actors.vocabulary.answers import (
    AcceptedInput,
    Done,
    InterruptedTurn,
    ResolvedReference,
    TurnResult,
    WaitingInputs,
)
from actors.vocabulary.errors import GreenroomError, InvalidInput
from actors.vocabulary.ids import ConversationId, InputId
from actors.vocabulary.items import InputItem, TextItem
from actors.vocabulary.settings import Task
from transports import supervisor_requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.answers import InterruptOutcome, InterruptOutcomes, RequestError
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.control.handlers.named_conversation import ask_named_conversation
from transports.dialects.kit.script import (
    Script,
    ask,
    command,
    command_each,
    conversation_named,
    look_up,
    look_up_each,
)
from transports.dialects.kit.turn_endings import send_input
from transports.supervisor_answers import SettingsMade

BUSY = frozenset({"starting", "running", "waiting", "interrupting"})


def _items(params: p.SendParams | p.EditInputParams) -> tuple[InputItem, ...]:
    if bool(params.items) == (params.prompt is not None):
        raise InvalidInput("give either a prompt or items")
    return params.items or (TextItem(text=params.prompt or ""),)


def send(call: ControlCall, params: p.SendParams) -> Script[AcceptedInput | TurnResult]:
    items = _items(params)
    conversation = yield from conversation_named(params.conversation)
    own = yield from _own_settings(conversation, params.settings)
    message = m.Send(
        items,
        params.if_busy,
        settings=own.settings if own else None,
        key=params.key,
        await_end=params.wait,
        by=call.client.label,
        own=own.fields if own else (),
    )
    return (yield from send_input(conversation, message))


def compact(call: ControlCall, params: p.CompactParams) -> Script[AcceptedInput | TurnResult]:
    conversation = yield from conversation_named(params.conversation)
    by = call.client.label
    message = m.Send((), key=params.key, await_end=params.wait, by=by, task=Task.COMPACT)
    return (yield from send_input(conversation, message))


def _own_settings(conversation: ConversationId, values: p.SettingValues) -> Script[SettingsMade | None]:
    """Compute a turn's own settings; None if it has those of the conversation."""
    if not values.set_values:
        return None
    current = (yield from command(conversation, m.Inspect())).settings
    return (yield from ask(r.AlterSettings(current, values.set_values)))


def interrupt(call: ControlCall, params: p.InterruptParams) -> Script[InterruptedTurn]:
    stop = m.Interrupt(call.client.label, kill=params.kill, message=params.reason, clear=params.clear)
    return ask_named_conversation(params, stop)


def interrupt_many(call: ControlCall, params: p.InterruptManyParams) -> Script[InterruptOutcomes]:
    """Interrupt several; answered when the last has ended. A refused one does not affect the others."""
    if bool(params.conversations) == params.all:
        raise InvalidInput("name conversations, or say all")
    if params.all:
        awake = (yield from look_up(rm.ListAwake())).heads
        references = [str(head.conversation) for head in awake if head.state in BUSY and not head.archived]
    else:
        references = list(params.conversations)
    found = yield from look_up_each(rm.Resolve(reference) for reference in references)
    stop = m.Interrupt(call.client.label, kill=params.kill, message=params.reason)
    known = [resolved.conversation for resolved in found if isinstance(resolved, ResolvedReference)]
    answers = iter((yield from command_each((conversation, stop) for conversation in known)))
    ends = [resolved if isinstance(resolved, GreenroomError) else next(answers) for resolved in found]
    return InterruptOutcomes(tuple(map(_outcome, references, ends)))


def _outcome(reference: str, end: InterruptedTurn | GreenroomError) -> InterruptOutcome:
    if isinstance(end, GreenroomError):
        return InterruptOutcome(None, None, conversation=reference, error=RequestError(end.code, end.message))
    return InterruptOutcome(end.turn, end.ending, end.queued, end.waiting, conversation=reference)


def read_queue(_: ControlCall, params: p.ReadQueueParams) -> Script[WaitingInputs]:
    only = None if params.input is None else InputId(params.input)
    found = yield from ask_named_conversation(params, m.InspectQueue(only))
    if only is not None and not found.waiting:
        raise InvalidInput(f"no input {only} waits")
    return found


def resume_queue(call: ControlCall, params: p.ConversationParams) -> Script[Done]:
    return ask_named_conversation(params, m.ResumeQueue(call.client.label))


def edit_input(call: ControlCall, params: p.EditInputParams) -> Script[Done]:
    return ask_named_conversation(params, m.EditInput(InputId(params.input), _items(params), call.client.label))


def move_input(call: ControlCall, params: p.MoveInputParams) -> Script[Done]:
    if (params.before is None) == (params.to is None):
        raise InvalidInput("give either before or to")
    to = params.to or InputId(params.before or "")
    return ask_named_conversation(params, m.MoveInput(InputId(params.input), to, call.client.label))


def withdraw(call: ControlCall, params: p.WithdrawParams) -> Script[Done]:
    if params.all == (params.input is not None):
        raise InvalidInput("give either an input or all")
    if params.input is None:
        return ask_named_conversation(params, m.WithdrawAll(params.reason, call.client.label))
    return ask_named_conversation(params, m.WithdrawInput(InputId(params.input), params.reason, call.client.label))
