"""Long work for impatient clients: `start_conversation` and `send` return at once, `wait_conversation` in time."""

from actors.messages.conversation import Inspect, Send
from actors.vocabulary.answers import Accepted, Summary, TurnResult
from actors.vocabulary.events import TERMINAL, ApprovalRequest
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.items import TextItem
from actors.vocabulary.records import Record
from actors.vocabulary.settings import BusyPolicy
from transports.dialect import Ask
from transports.dialects.kit.creation import begin, make_settings
from transports.dialects.kit.endings import past_end
from transports.dialects.kit.readers import FULL
from transports.dialects.kit.script import Script, ask, command
from transports.dialects.mcp.calls.own import meant
from transports.dialects.mcp.calls.results import ToolError, payload, text
from transports.dialects.mcp.protocol import arguments as a
from transports.dialects.mcp.protocol.elicitation import message
from transports.dialects.mcp.protocol.state import McpCall
from transports.dialects.mcp.protocol.transcript import as_markdown
from transports.dialects.mcp.protocol.waits import Wait, WaitSink
from transports.jsonrpc import JsonObject
from transports.requests import FindAsked, ReadHistory, RememberEnvironment
from transports.waiting_words import waits

PAGE = 256  # events in one answer; the next call goes on behind them
LOOK_BACK = 64  # events among which a turn's end is looked for; little happens between two turns


def start_conversation(call: McpCall, wanted: a.StartConversation) -> Script[JsonObject]:
    conversation, notices, taken = yield from begun(call, wanted)
    return _at_once(conversation, taken, {"notices": list(notices)} if notices else {})


def send(call: McpCall, wanted: a.SendMessage) -> Script[JsonObject]:
    conversation = yield from meant(wanted.thread_id)
    return _at_once(conversation, (yield from said_in(call, conversation, wanted.prompt, wanted.if_busy)), {})


def begun(
    call: McpCall, wanted: a.StartConversation | a.Codex
) -> Script[tuple[ConversationId, tuple[str, ...], Accepted]]:
    """Make a conversation and say the first words there; what was ignored of its settings is in the middle."""
    conversation, is_there = yield from call.saying.place()
    notices: tuple[str, ...] = ()
    if not is_there:
        made = yield from make_settings(call.state, wanted)
        yield from begin(call.state, conversation, made.settings)
        notices = made.warnings
    taken = yield from said_in(call, conversation, wanted.prompt, BusyPolicy.ENQUEUE)
    return conversation, notices, taken


def said_in(call: McpCall, conversation: ConversationId, prompt: str, policy: BusyPolicy) -> Script[Accepted]:
    """Say it; answered when it is stored. Its turn goes on without its client."""
    call.do(Ask(RememberEnvironment(conversation)))
    words, saying = (TextItem(text=prompt),), call.saying
    said = Send(words, policy, key=saying.key, by=call.client.label, anew=not saying.again)
    taken = yield from command(conversation, said)
    if isinstance(taken, TurnResult):
        raise TypeError("the end of the turn was not waited for")
    return taken


def _at_once(conversation: ConversationId, taken: Accepted, more: JsonObject) -> JsonObject:
    told = {"threadId": conversation, "inputId": taken.input, "waits": taken.turn is None, "after": taken.seq}
    return payload({**told, "note": go_on(conversation, taken.seq), **more})


def go_on(conversation: ConversationId, after: int) -> str:
    return f"it works on; wait_conversation with threadId {conversation} and after {after} tells what comes of it"


# --- waiting --------------------------------------------------------------------------------------------------------


def wait_conversation(call: McpCall, wanted: a.WaitConversation) -> Script[JsonObject | None]:
    """Wait for the end, for a new question, or for the time; then tell what was said since the cursor.

    A question from before the cursor was told already: somebody is at it, and the wait goes on.
    """
    state, conversation = call.state, (yield from meant(wanted.thread_id))
    if state.readers.full:
        raise ToolError(FULL)
    wait = Wait(state.scripts)
    reader = state.readers.new(conversation, sink := WaitSink(wait, state.questions))
    state.waits[call.request] = wait
    try:
        attached = yield from state.readers.attach(reader, None)
        after = attached.seq if wanted.after is None else wanted.after
        asked = yield from _asked_since(attached.summary, wanted.after)
        if attached.summary.turn is not None and not asked and attached.seq - after < PAGE:
            yield from wait.rest(wanted.seconds)
    finally:
        del state.waits[call.request]
        if reader in state.readers:
            state.readers.leave(reader)
    if wait.cancelled:
        return None
    return (yield from _told(conversation, after, sink.unfinished))


def _asked_since(found: Summary, after: int | None) -> Script[bool]:
    if after is None or not found.pending:
        return bool(found.pending)
    wanted = tuple((found.conversation, one.approval_id) for one in found.pending)
    places = (yield from ask(FindAsked(wanted))).places
    return any(place is None or place[0] > after for place in places)


def _told(conversation: ConversationId, after: int, unfinished: str) -> Script[JsonObject]:
    read = yield from ask(ReadHistory(conversation, after, PAGE))
    found = yield from command(conversation, Inspect())
    ended = None if found.turn is not None else (yield from _last_end(found))
    reached = read.page.records[-1].seq if read.page.records else after
    words = as_markdown(read.page.records, context=False)
    if unfinished and found.turn is not None and read.complete:
        words = "\n\n".join(part for part in (words, f"**Agent**, unfinished\n\n{unfinished}") if part)
    note = _note(found, reached, ended, complete=read.complete)
    structure = {
        "threadId": conversation,
        "state": found.condition.value,
        "text": words,
        "after": reached,
        "complete": read.complete,
        "questions": [_question(one) for one in found.pending],
        "note": note,
    }
    if ended is not None:
        structure |= {"ending": ended.ending.value, "content": ended.message or ""}
    return {"content": text(f"{words}\n\n{note}".strip()), "structuredContent": structure}


def _last_end(found: Summary) -> Script[TurnResult | None]:
    """The end of the last turn; None if there was none, or it is long ago."""
    newest = yield from ask(ReadHistory(found.conversation, limit=LOOK_BACK, before=found.seq + 1))
    ends: list[Record] = [record for record in newest.page.records if record.type in TERMINAL]
    if not ends or ends[-1].turn is None:
        return None
    return (yield from past_end(found.conversation, ends[-1].turn, ends[-1].seq))


def _question(request: ApprovalRequest) -> JsonObject:
    return {"approvalId": request.approval_id, "asks": message(request, more=True)}


def _note(found: Summary, reached: int, ended: TurnResult | None, *, complete: bool) -> str:
    """The state in words, and the next step."""
    more = f"wait_conversation with threadId {found.conversation} and after {reached}"
    if not complete:
        return f"there is more to read: {more}"
    if found.pending:
        asked = "\n\n".join(_asks(one) for one in found.pending)
        return f"{asked}\n\nthen {more}"
    if found.turn is not None:
        return f"it works on; {more} tells what comes of it"
    how = f"the turn ended: {ended.ending.value}" if ended is not None else f"nothing runs ({found.condition.value})"
    held = f"; {waits(found.queued, [one.preview for one in found.waiting])}" if found.waiting else ""
    return f"{how}{held}; send or codex-reply says more in it"


def _asks(request: ApprovalRequest) -> str:
    told = message(request, more=True)
    return f"{told}\n\nanswer with the tool answer_approval, approvalId {request.approval_id}, or let a person decide"
