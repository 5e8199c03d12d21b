"""Prompts: from their blocks to the end of their turn; what joins a turn that runs; and how one is stopped."""

import re
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from actors.messages.conversation import Inspect, Interrupt, Send, ToConversation, WithdrawInput
from actors.vocabulary.answers import Accepted, Ending, TurnResult
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput
from actors.vocabulary.ids import ConversationId, InputId, RequestId
from actors.vocabulary.settings import BusyPolicy
from transports import jsonrpc
from transports.dialect import Tell
from transports.dialects.acp import params as p
from transports.dialects.acp.prompt_items import items_of
from transports.dialects.acp.state import AcpCall, AcpState, OpenPrompt, Session
from transports.dialects.kit.endings import LAST_WORDS, ending_of
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, ask, command
from transports.jsonrpc import JsonObject
from transports.requests import ReadHistory

LOGIN_WANTED = -32000
# Words of ours for a missing key or login: the end of a turn has words alone.
NO_LOGIN = re.compile(r"Missing environment variable: |^there is no model: |` says how to log in$")
STOP_REASONS = {
    Ending.COMPLETED: "end_turn",
    Ending.INTERRUPTED: "cancelled",
    Ending.REPLACED: "cancelled",
    Ending.LOST: "cancelled",
    Ending.BUDGET: "max_turn_requests",
}
CANCELLED: JsonObject = {"stopReason": "cancelled"}


class AfterEvents(Struct, frozen=True):
    """An answer that waits until the client has the events up to `seq`."""

    conversation: ConversationId
    seq: int
    outcome: JsonObject | GreenroomError


class NotYetTaken(Struct, frozen=True):
    """A prompt of version 2 is answered when a turn takes its input."""

    session: Session
    input: InputId


def prompt(call: AcpCall, given: p.Prompt) -> Script[JsonObject | AfterEvents | NotYetTaken]:
    state, items = call.state, items_of(given.prompt)
    policy = _policy(given) or state.options.if_busy
    session = state.session(given.session_id)
    one = OpenPrompt(session.conversation, InputId(str(uuid4())))
    said = Send(items, policy, key=call.key, await_end=True, by=call.client.label, input=one.input)
    if not state.speaks.answers_at_the_end:
        return (yield from _placed(session, replace(said, await_end=False)))
    state.prompts[call.request] = one
    try:
        ended = yield from command(session.conversation, said)
        if isinstance(ended, TurnResult):
            return _raised(outcome_of(ended))
        return (yield from _known_before(session, ended))
    except Cancelled:  # the input was taken back, by whomever
        return CANCELLED
    finally:
        del state.prompts[call.request]


def _placed(session: Session, said: Send) -> Script[JsonObject | NotYetTaken]:
    """The answer of version 2: the message has its place in the session, or is going to have one."""
    taken = yield from command(session.conversation, said)
    assert isinstance(taken, Accepted)  # noqa: S101  # its end was not waited for
    placed = taken.turn is not None or taken.ended is not None
    return {"messageId": taken.input} if placed else NotYetTaken(session, taken.input)


def outcome_of(ended: TurnResult) -> JsonObject | GreenroomError:
    reason = STOP_REASONS.get(ended.ending)
    if reason is not None:
        return {"stopReason": reason}
    words = ended.message or f"the turn ended: {ended.ending.value}"
    return failure(words)


def failure(words: str) -> MethodError:
    return MethodError(LOGIN_WANTED if NO_LOGIN.search(words) else jsonrpc.INTERNAL_ERROR, words)


def _known_before(session: Session, known: Accepted) -> Script[AfterEvents | JsonObject]:
    """The answer to a prompt that a bridge repeats, whose turn is over: how it ended is history."""
    if known.turn is None or known.ended is None:
        return CANCELLED  # it was taken back
    past = yield from ask(ReadHistory(session.conversation, limit=LAST_WORDS, before=known.ended + 1))
    ended = ending_of(known.turn, past.page.records)
    outcome = outcome_of(ended) if ended is not None else {"stopReason": "end_turn"}
    return AfterEvents(session.conversation, known.ended, outcome)


def _raised(outcome: JsonObject | GreenroomError) -> JsonObject:
    if isinstance(outcome, GreenroomError):
        raise outcome
    return outcome


def _policy(given: p.Prompt) -> BusyPolicy | None:
    try:
        return given.if_busy
    except ValueError as error:
        raise InvalidInput(f"_meta.greenroom.{error}") from None


def steer(call: AcpCall, given: p.Steer) -> Script[JsonObject]:
    """Join the turn that runs, or begin one, which is told like any other that the client did not start."""
    state, items = call.state, items_of(given.prompt)
    session = state.session(given.session_id)
    if given.idle_behavior == "promptRequired":
        found = yield from command(session.conversation, Inspect())
        if found.turn is None:
            return {"outcome": "promptRequired", "reason": "noRunningTurn"}
    taken = yield from command(session.conversation, Send(items, BusyPolicy.STEER, by=call.client.label))
    began = isinstance(taken, Accepted) and taken.turn is not None
    return {"outcome": "startedNewTurn" if began else "injected"}


# --- stopping -------------------------------------------------------------------------------------------------------


def cancel_session(state: AcpState, session: Session) -> Script[None]:
    """Stop the turn, then take back what has not been taken by one. A second cancellation kills."""
    conversation = session.conversation
    open_before = [request for request, one in state.prompts.items() if one.conversation == conversation]
    session.cancels += 1
    try:
        yield from command(conversation, Interrupt(state.client.label, kill=session.cancels > 1))
    except GreenroomError as why:
        state.log.say("warning", f"the turn could not be cancelled: {why.message}")
    finally:
        session.cancels -= 1
    for request in open_before:
        if request in state.prompts:
            state.requests.cancel(request, state.client.label)
    for input_ in session.untaken:
        _withdraw(state, conversation, input_)


def cancel_request(state: AcpState, request: RequestId) -> None:
    """Take a request back: a prompt with its input or its turn, anything else at once."""
    if request in state.prompts:
        state.requests.cancel(request, state.client.label)
        return
    state.requests.stop(request)
    for session in state.sessions.values():
        for input_, waiting in session.untaken.items():
            if waiting == request:
                _withdraw(state, session.conversation, input_)


def _withdraw(state: AcpState, conversation: ConversationId, input_: InputId) -> None:
    """Take an input back; if a turn has taken it meanwhile, nothing happens."""
    state.do(Tell(ToConversation(conversation, WithdrawInput(input_, by=state.client.label))))
