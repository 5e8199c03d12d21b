"""Our own tools: list, interrupt, read, answer. They work on all conversations, of any client."""

from msgspec import UNSET

from actors.messages.conversation import (
    AnswerApproval,
    EditInput,
    Inspect,
    Interrupt,
    MoveInput,
    Query,
    QueueEnd,
    ResumeQueue,
    WithdrawAll,
    WithdrawInput,
)
from actors.messages.routing import ListConversations
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import ApprovalId, ConversationId, InputId
from actors.vocabulary.items import TextItem
from actors.vocabulary.records import Head, ListQuery
from actors.vocabulary.settings import BusyPolicy
from transports.dialects.kit.changing import change_settings
from transports.dialects.kit.identifiers import approval_place, conversation_id
from transports.dialects.kit.paging import cursor_of, place_of
from transports.dialects.kit.script import Script, ask, command, conversation_named, look_up
from transports.dialects.mcp.calls.results import payload, text
from transports.dialects.mcp.protocol import arguments as a
from transports.dialects.mcp.protocol.state import McpCall
from transports.dialects.mcp.protocol.tools import ROW
from transports.dialects.mcp.protocol.transcript import as_markdown
from transports.jsonrpc import JsonObject
from transports.requests import ReadHistory, Search
from transports.waiting_words import waits

GO_ON = "they are held: waiting_messages lets them go on, or withdraws them; what is said meanwhile goes first, alone"
SEARCHED = 200  # of the newest hits; a model that wants others says more words

DESCRIBED = tuple(name for name in ROW["properties"] if name != "threadId")


def list_conversations(_: McpCall, wanted: a.ListConversations) -> Script[JsonObject]:
    found: dict[ConversationId, JsonObject] = {}
    if wanted.search is not None:
        hits = (yield from ask(Search(wanted.search, cwd=wanted.cwd, limit=SEARCHED))).hits
        for hit in hits:
            found.setdefault(hit.conversation, {"found": {"seq": hit.seq, "text": hit.text}})
    query = ListQuery(wanted.archived, cwd=wanted.cwd, after=place_of(wanted.cursor), limit=wanted.limit)
    page = yield from look_up(ListConversations(query, None if wanted.search is None else tuple(found)))
    more = {"nextCursor": cursor_of(page.next)} if page.next else {}
    rows = [{**row(head), **found.get(head.conversation, {})} for head in page.heads]
    return payload({"conversations": rows, **more})


def interrupt_conversation(call: McpCall, wanted: a.InterruptConversation) -> Script[JsonObject]:
    conversation = yield from meant(wanted.thread_id)
    stopped = yield from command(conversation, Interrupt(call.client.label, message=wanted.reason))
    hit = stopped.turn is not None
    told = {"threadId": conversation, "interrupted": hit, "queued": stopped.queued}
    waiting = [{"inputId": one.input, "text": one.preview, "by": one.by} for one in stopped.waiting]
    held = {"note": f"{waits(stopped.queued, [one.preview for one in stopped.waiting])}; {GO_ON}"} if waiting else {}
    return payload({**told, "waiting": waiting, **held})


def waiting_messages(call: McpCall, wanted: a.WaitingMessages) -> Script[JsonObject]:
    """List what waits, after it was changed as asked."""
    conversation = yield from meant(wanted.thread_id)
    change = _change(wanted, call.client.label)
    if change is not None:
        yield from command(conversation, change)
    found = yield from command(conversation, Inspect())
    rows = [
        {"inputId": one.input, "text": one.preview, "by": one.by, "joins": one.policy is BusyPolicy.STEER}
        for one in found.waiting
    ]
    return payload({"threadId": conversation, "held": found.paused and bool(rows), "waiting": rows})


def _change(wanted: a.WaitingMessages, by: str) -> Query[Done] | None:
    match wanted.action:
        case "list":
            return None
        case "go_on":
            return ResumeQueue(by)
        case "withdraw_all":
            return WithdrawAll(by=by)
        case "withdraw":
            return WithdrawInput(_one(wanted), by=by)
        case "edit":
            return EditInput(_one(wanted), (TextItem(text=wanted.text or ""),), by)
        case "move":
            return MoveInput(_one(wanted), InputId(wanted.before) if wanted.before else QueueEnd.LAST, by)


def _one(wanted: a.WaitingMessages) -> InputId:
    if wanted.input_id is None:
        raise InvalidInput(f"{wanted.action} needs the inputId of a message that waits; list names them")
    return InputId(wanted.input_id)


def set_conversation(call: McpCall, wanted: a.SetConversation) -> Script[JsonObject]:
    """Change settings, up to what this client may ask for."""
    conversation = yield from meant(wanted.thread_id)
    name = wanted.name if "name" in wanted.model_fields_set else UNSET
    done = yield from change_settings(conversation, wanted.values, call.state.person, call.client.label, name)
    changed = [one.model_dump() for one in done.changed]
    return payload({"threadId": conversation, "name": done.name, "changed": changed})


def read_conversation(_: McpCall, wanted: a.ReadConversation) -> Script[JsonObject]:
    conversation = yield from meant(wanted.thread_id)
    read = yield from ask(ReadHistory(conversation, wanted.after, wanted.limit, wanted.before))
    page = read.page
    words = as_markdown(page.records)
    structure = {
        "threadId": conversation,
        "text": words,
        "after": page.records[-1].seq if page.records else wanted.after,
        "before": page.records[0].seq if page.records else wanted.before or 1,
        "complete": read.complete,
    }
    return {"content": text(words), "structuredContent": structure}


def answer_approval(call: McpCall, wanted: a.AnswerApproval) -> Script[JsonObject]:
    approval = ApprovalId(wanted.approval_id)
    decided = AnswerApproval(
        approval,
        wanted.decision,
        call.client.label,
        wanted.reason,
        wanted.option,
        wanted.content,
        wanted.outside,
    )
    conversation = approval_place(approval)
    answered = yield from command(conversation, decided)
    return payload({"threadId": conversation, "approvalId": answered.approval, "decision": answered.decision.value})


def meant(reference: str) -> Script[ConversationId]:
    """The conversation of an argument: an id in any spelling, a prefix, or a name."""
    try:
        return conversation_id(reference)
    except ValueError:
        return (yield from conversation_named(reference))


def row(head: Head) -> JsonObject:
    return {"threadId": head.conversation, **{name: getattr(head, name) for name in DESCRIBED}}
