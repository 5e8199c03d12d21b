"""Long work for impatient clients: `start_conversation` and `send` return at once, `wait_conversation` in time."""

from actors.messages.conversation import Inspect, Send
from actors.vocabulary.answers import AcceptedInput, ConversationSummary, TurnResult
from actors.vocabulary.events import TERMINAL, ApprovalRequested
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.items import TextItem
from actors.vocabulary.records import Record
from actors.vocabulary.settings import BusyPolicy
from transports.dialect import Ask
from transports.dialects.kit.conversation_readers import FULL
from transports.dialects.kit.creation import begin_somewhere, make_settings
from transports.dialects.kit.script import Script, ask, command
from transports.dialects.kit.turn_endings import past_end
from transports.dialects.mcp.calls.greenroom_tools import find_conversation
from transports.dialects.mcp.calls.results import CallResult, ToolError, payload, text
from transports.dialects.mcp.protocol import arguments as a
from transports.dialects.mcp.protocol import tool_results as r
from transports.dialects.mcp.protocol.conversation_waits import Wait, WaitSink
from transports.dialects.mcp.protocol.elicitation import message
from transports.dialects.mcp.protocol.state import McpCall
from transports.dialects.mcp.protocol.transcript import as_markdown
from transports.supervisor_requests import FindApprovalPlaces, ReadHistory, RememberEnvironment
from transports.waiting_words import waits

PAGE = 256  # events in one answer; the next call continues after them
LOOK_BACK = 64  # events searched for the last turn's end; little happens between two turns


def start_conversation(call: McpCall, arguments: a.StartConversationArguments) -> Script[CallResult]:
    conversation, notices, accepted = yield from begin_conversation(call, arguments)
    return _at_once(conversation, accepted, notices)


def send(call: McpCall, arguments: a.SendMessageArguments) -> Script[CallResult]:
    conversation = yield from find_conversation(arguments.thread_id)
    return _at_once(conversation, (yield from send_in(call, conversation, arguments.prompt, arguments.if_busy)))


def begin_conversation(
    call: McpCall, arguments: a.StartConversationArguments | a.CodexArguments
) -> Script[tuple[ConversationId, tuple[str, ...], AcceptedInput]]:
    """Make a conversation and send its first message; returns the warnings about its settings, too."""
    conversation, is_there = yield from call.saying.place()
    notices: tuple[str, ...] = ()
    if not is_there:
        made = yield from make_settings(call.state, arguments)
        conversation = yield from begin_somewhere(call.state, conversation, made.settings)
        notices = made.warnings
    accepted = yield from send_in(call, conversation, arguments.prompt, BusyPolicy.ENQUEUE)
    return conversation, notices, accepted


def send_in(call: McpCall, conversation: ConversationId, prompt: str, policy: BusyPolicy) -> Script[AcceptedInput]:
    """Send a message; answered when it is stored. Its turn goes on without its client."""
    call.do(Ask(RememberEnvironment(conversation)))
    items, saying = (TextItem(text=prompt),), call.saying
    message = Send(items, policy, key=saying.key, by=call.client.label, anew=not saying.again)
    accepted = yield from command(conversation, message)
    if isinstance(accepted, TurnResult):
        raise TypeError("the end of the turn was not waited for")
    return accepted


def _at_once(conversation: ConversationId, accepted: AcceptedInput, notices: tuple[str, ...] = ()) -> CallResult:
    waits, note = accepted.turn is None, go_on(conversation, accepted.seq)
    return payload(r.SentMessage(conversation, accepted.input, waits, accepted.seq, note, notices))


def go_on(conversation: ConversationId, after: int) -> str:
    return f"it works on; wait_conversation with threadId {conversation} and after {after} tells what comes of it"


# --- waiting --------------------------------------------------------------------------------------------------------


def wait_conversation(call: McpCall, arguments: a.WaitConversationArguments) -> Script[CallResult | None]:
    """Wait for the end, for a new question, or for the time; then return the news since the cursor.

    A question from before the cursor was returned already: somebody deals with it, and the wait goes on.
    """
    state, conversation = call.state, (yield from find_conversation(arguments.thread_id))
    if state.readers.full:
        raise ToolError(FULL)
    wait = Wait(state.scripts)
    reader = state.readers.new(conversation, sink := WaitSink(wait, state.questions))
    state.waits[call.request] = wait
    try:
        attached = yield from state.readers.attach(reader, None)
        after = attached.seq if arguments.after is None else arguments.after
        asked = yield from _asked_since(attached.summary, arguments.after)
        if attached.summary.turn is not None and not asked and attached.seq - after < PAGE:
            yield from wait.rest(arguments.seconds)
    finally:
        del state.waits[call.request]
        if reader in state.readers:
            state.readers.leave(reader)
    if wait.cancelled:
        return None
    return (yield from _describe_news(conversation, after, sink.unfinished))


def _asked_since(summary: ConversationSummary, after: int | None) -> Script[bool]:
    if after is None or not summary.pending:
        return bool(summary.pending)
    ids = tuple((summary.conversation, request.approval_id) for request in summary.pending)
    places = (yield from ask(FindApprovalPlaces(ids))).places
    return any(place is None or place[0] > after for place in places)


def _describe_news(conversation: ConversationId, after: int, unfinished: str) -> Script[CallResult]:
    history = yield from ask(ReadHistory(conversation, after, PAGE))
    summary = yield from command(conversation, Inspect())
    result = None if summary.turn is not None else (yield from _last_end(summary))
    reached = history.page.records[-1].seq if history.page.records else after
    words = as_markdown(history.page.records, context=False)
    if unfinished and summary.turn is not None and history.complete:
        words = "\n\n".join(part for part in (words, f"**Agent**, unfinished\n\n{unfinished}") if part)
    note = _note(summary, reached, result, complete=history.complete)
    structure = r.ConversationNews(
        conversation,
        summary.state,
        words,
        reached,
        history.complete,
        tuple(r.QuestionToAnswer(request.approval_id, message(request, more=True)) for request in summary.pending),
        note,
        result.ending if result else None,
        (result.message or "") if result else None,
    )
    return CallResult(content=text(f"{words}\n\n{note}".strip()), structured_content=structure)


def _last_end(summary: ConversationSummary) -> Script[TurnResult | None]:
    """The end of the last turn; None if there was none, or it is long ago."""
    newest = yield from ask(ReadHistory(summary.conversation, limit=LOOK_BACK, before=summary.seq + 1))
    ends: list[Record] = [record for record in newest.page.records if record.type in TERMINAL]
    if not ends or ends[-1].turn is None:
        return None
    return (yield from past_end(summary.conversation, ends[-1].turn, ends[-1].seq))


def _note(summary: ConversationSummary, reached: int, result: TurnResult | None, *, complete: bool) -> str:
    """The state in words, and the next step."""
    more = f"wait_conversation with threadId {summary.conversation} and after {reached}"
    if not complete:
        return f"there is more to read: {more}"
    if summary.pending:
        questions = "\n\n".join(_asks(request) for request in summary.pending)
        return f"{questions}\n\nthen {more}"
    if summary.turn is not None:
        return f"it works on; {more} tells what comes of it"
    how = f"the turn ended: {result.ending.value}" if result else f"nothing runs ({summary.state.value})"
    held = f"; {waits(summary.queued, [input_.preview for input_ in summary.waiting])}" if summary.waiting else ""
    return f"{how}{held}; send or codex-reply says more in it"


def _asks(request: ApprovalRequested) -> str:
    text_ = message(request, more=True)
    return (
        f"{text_}\n\nanswer with the tool answer_approval, approvalId {request.approval_id}, or let a person decide"
    )
