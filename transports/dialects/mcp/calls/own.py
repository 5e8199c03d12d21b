"""Our own tools: list, interrupt, read, answer. They work on all conversations, of any client."""

from actors.conversation.messages import AnswerApproval, Interrupt
from actors.routing.messages import ListConversations
from actors.vocabulary.ids import ApprovalId, ConversationId
from actors.vocabulary.records import Head, ListQuery
from transports.dialects.kit.identifiers import approval_place, conversation_id
from transports.dialects.kit.paging import cursor_of, place_of
from transports.dialects.kit.script import Script, ask, command, conversation_named, look_up
from transports.dialects.mcp import arguments as a
from transports.dialects.mcp.calls.results import payload, text
from transports.dialects.mcp.state import McpCall
from transports.dialects.mcp.tools import ROW
from transports.dialects.mcp.transcript import as_markdown
from transports.jsonrpc import JsonObject
from transports.requests import ReadHistory, Search

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
    conversation = yield from _meant(wanted.thread_id)
    stopped = yield from command(conversation, Interrupt(call.client.label, message=wanted.reason))
    hit = stopped.turn is not None
    return payload({"threadId": conversation, "interrupted": hit, "queued": stopped.queued})


def read_conversation(_: McpCall, wanted: a.ReadConversation) -> Script[JsonObject]:
    conversation = yield from _meant(wanted.thread_id)
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
    decided = AnswerApproval(approval, wanted.decision, call.client.label, wanted.reason)
    answered = yield from command(approval_place(approval), decided)
    return payload({"approvalId": answered.approval, "decision": answered.decision.value})


def _meant(reference: str) -> Script[ConversationId]:
    try:
        return conversation_id(reference)
    except ValueError:
        return (yield from conversation_named(reference))


def row(head: Head) -> JsonObject:
    return {"threadId": head.conversation, **{name: getattr(head, name) for name in DESCRIBED}}
