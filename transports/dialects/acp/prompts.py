"""Prompts: from their blocks to the end of their turn; prompts that join a running turn; cancellation."""

import re
from uuid import uuid4

from msgspec import Struct

from actors.messages.conversation import Inspect, Interrupt, Send
from actors.vocabulary.answers import AcceptedInput, TurnResult
from actors.vocabulary.errors import Cancelled, GreenroomError, InvalidInput
from actors.vocabulary.ids import ConversationId, InputId, RequestId
from actors.vocabulary.settings import BusyPolicy
from transports import jsonrpc
from transports.dialects.acp import params as p
from transports.dialects.acp.event_translator import STOP_REASONS
from transports.dialects.acp.prompt_items import items_of
from transports.dialects.acp.state import AcpCall, AcpState, EditorSession, OpenPrompt
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script, ask, command
from transports.dialects.kit.turn_endings import LAST_WORDS, ending_of
from transports.supervisor_requests import ReadHistory

LOGIN_WANTED = -32000
# Our own messages about a missing key or login: the end of a turn carries no error code.
NO_LOGIN = re.compile(r"Missing environment variable: |^there is no model: |` says how to log in$")


class PromptResult(Struct, frozen=True, rename="camel"):
    stop_reason: str


class SteerResult(Struct, frozen=True, omit_defaults=True):
    outcome: str
    reason: str = ""


CANCELLED_RESULT = PromptResult("cancelled")


class AnswerAfterEvents(Struct, frozen=True):
    """An answer that waits until the client has the events up to `seq`."""

    conversation: ConversationId
    seq: int
    outcome: PromptResult | GreenroomError


def prompt(call: AcpCall, params: p.PromptParams) -> Script[PromptResult | AnswerAfterEvents]:
    state, items = call.state, items_of(params.prompt)
    policy = _policy(params) or state.options.if_busy
    session = state.session(params.session_id)
    open_prompt = OpenPrompt(session.conversation, InputId(str(uuid4())))
    message = Send(items, policy, key=call.key, await_end=True, by=call.client.label, input=open_prompt.input)
    state.prompts[call.request] = open_prompt
    try:
        outcome = yield from command(session.conversation, message)
        if isinstance(outcome, TurnResult):
            return _result_or_raise(outcome_of(outcome))
        return (yield from _known_before(session, outcome))
    except Cancelled:  # the input was taken back by this client or another
        return CANCELLED_RESULT
    finally:
        del state.prompts[call.request]


def outcome_of(result: TurnResult) -> PromptResult | GreenroomError:
    reason = STOP_REASONS.get(result.ending)
    if reason is not None:
        return PromptResult(reason)
    words = result.message or f"the turn ended: {result.ending.value}"
    return failure(words)


def failure(words: str) -> MethodError:
    return MethodError(LOGIN_WANTED if NO_LOGIN.search(words) else jsonrpc.INTERNAL_ERROR, words)


def _known_before(session: EditorSession, accepted: AcceptedInput) -> Script[AnswerAfterEvents | PromptResult]:
    """The answer to a prompt that a bridge repeats and whose turn is over: its end is read from history."""
    if accepted.turn is None or accepted.ended is None:
        return CANCELLED_RESULT  # the prompt was taken back
    past = yield from ask(ReadHistory(session.conversation, limit=LAST_WORDS, before=accepted.ended + 1))
    result = ending_of(accepted.turn, past.page.records)
    outcome = outcome_of(result) if result is not None else PromptResult("end_turn")
    return AnswerAfterEvents(session.conversation, accepted.ended, outcome)


def _result_or_raise(outcome: PromptResult | GreenroomError) -> PromptResult:
    if isinstance(outcome, GreenroomError):
        raise outcome
    return outcome


def _policy(params: p.PromptParams) -> BusyPolicy | None:
    try:
        return params.if_busy
    except ValueError as error:
        raise InvalidInput(f"_meta.greenroom.{error}") from None


def steer(call: AcpCall, params: p.SteerParams) -> Script[SteerResult]:
    """Join the running turn, or begin a turn, which is shown like any other that the client did not start."""
    state, items = call.state, items_of(params.prompt)
    session = state.session(params.session_id)
    if params.idle_behavior == "promptRequired":
        summary = yield from command(session.conversation, Inspect())
        if summary.turn is None:
            return SteerResult("promptRequired", "noRunningTurn")
    accepted = yield from command(session.conversation, Send(items, BusyPolicy.STEER, by=call.client.label))
    began = isinstance(accepted, AcceptedInput) and accepted.turn is not None
    return SteerResult("startedNewTurn" if began else "injected")


# --- stopping -------------------------------------------------------------------------------------------------------


def cancel_session(state: AcpState, session: EditorSession) -> Script[None]:
    """Stop the turn, then take back the prompts that no turn has taken. A second cancellation kills."""
    conversation = session.conversation
    open_before = [
        request for request, open_prompt in state.prompts.items() if open_prompt.conversation == conversation
    ]
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


def cancel_request(state: AcpState, request: RequestId) -> None:
    """Take a request back: a prompt with its input or its turn, any other at once."""
    if request in state.prompts:
        state.requests.cancel(request, state.client.label)
    else:
        state.requests.stop(request)
