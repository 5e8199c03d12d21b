"""Our own tools: list, interrupt, read, answer and more, for all conversations of any client."""

from collections.abc import Iterable, Mapping

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
from actors.vocabulary.answers import Done, WaitingInput
from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import ApprovalId, ConversationId, InputId
from actors.vocabulary.items import TextItem
from actors.vocabulary.records import Head, ListQuery
from actors.vocabulary.settings import BusyPolicy
from transports.dialects.kit.identifiers import approval_place, conversation_id
from transports.dialects.kit.paging import cursor_of, place_of
from transports.dialects.kit.script import Script, ask, command, conversation_named, look_up
from transports.dialects.kit.settings_changes import change_settings
from transports.dialects.mcp.calls.results import CallResult, payload, text
from transports.dialects.mcp.protocol import arguments as a
from transports.dialects.mcp.protocol import tool_results as r
from transports.dialects.mcp.protocol.state import McpCall
from transports.dialects.mcp.protocol.tools import ROW_MEMBERS
from transports.dialects.mcp.protocol.transcript import as_markdown
from transports.supervisor_requests import ReadHistory, Search
from transports.waiting_words import waits

GO_ON = "they are held: waiting_messages lets them go on, or withdraws them; what is said meanwhile goes first, alone"
SEARCH_LIMIT = 200  # of the newest hits; a model that wants others adds words


def list_conversations(_: McpCall, arguments: a.ListConversationsArguments) -> Script[CallResult]:
    found: dict[ConversationId, Mapping[str, object]] = {}
    if arguments.search is not None:
        hits = (yield from ask(Search(arguments.search, cwd=arguments.cwd, limit=SEARCH_LIMIT))).hits
        for hit in hits:
            found.setdefault(hit.conversation, {"found": r.FoundWords(hit.seq, hit.text)})
    query = ListQuery(arguments.archived, cwd=arguments.cwd, after=place_of(arguments.cursor), limit=arguments.limit)
    page = yield from look_up(ListConversations(query, None if arguments.search is None else tuple(found)))
    more = {"nextCursor": cursor_of(page.next)} if page.next else {}
    rows = [{**row(head), **found.get(head.conversation, {})} for head in page.heads]
    return payload({"conversations": rows, **more})


def interrupt_conversation(call: McpCall, arguments: a.InterruptConversationArguments) -> Script[CallResult]:
    conversation = yield from find_conversation(arguments.thread_id)
    stopped = yield from command(conversation, Interrupt(call.client.label, message=arguments.reason))
    previews = [input_.preview for input_ in stopped.waiting]
    note = f"{waits(stopped.queued, previews)}; {GO_ON}" if previews else ""
    waiting = describe_waiting(stopped.waiting)
    return payload(r.InterruptResult(conversation, stopped.turn is not None, stopped.queued, waiting, note))


def describe_waiting(waiting: Iterable[WaitingInput]) -> tuple[r.WaitingMessage, ...]:
    return tuple(
        r.WaitingMessage(input_.input, input_.preview, input_.by, joins=input_.policy is BusyPolicy.STEER)
        for input_ in waiting
    )


def waiting_messages(call: McpCall, arguments: a.WaitingMessagesArguments) -> Script[CallResult]:
    """List the waiting messages, after the requested change."""
    conversation = yield from find_conversation(arguments.thread_id)
    change = _change(arguments, call.client.label)
    if change is not None:
        yield from command(conversation, change)
    summary = yield from command(conversation, Inspect())
    held = summary.paused and bool(summary.waiting)
    return payload(r.WaitingMessages(conversation, held, describe_waiting(summary.waiting)))


def _change(arguments: a.WaitingMessagesArguments, by: str) -> Query[Done] | None:
    match arguments.action:
        case "list":
            return None
        case "go_on":
            return ResumeQueue(by)
        case "withdraw_all":
            return WithdrawAll(by=by)
        case "withdraw":
            return WithdrawInput(_input_id(arguments), by=by)
        case "edit":
            return EditInput(_input_id(arguments), (TextItem(text=arguments.text or ""),), by)
        case "move":
            return MoveInput(
                _input_id(arguments), InputId(arguments.before) if arguments.before else QueueEnd.LAST, by
            )


def _input_id(arguments: a.WaitingMessagesArguments) -> InputId:
    if arguments.input_id is None:
        raise InvalidInput(f"{arguments.action} needs the inputId of a message that waits; list names them")
    return InputId(arguments.input_id)


def set_conversation(call: McpCall, arguments: a.SetConversationArguments) -> Script[CallResult]:
    """Change settings, within this client's ceiling."""
    conversation = yield from find_conversation(arguments.thread_id)
    name = arguments.name if "name" in arguments.model_fields_set else UNSET
    outcome = yield from change_settings(conversation, arguments.values, call.state.person, call.client.label, name)
    return payload(r.ChangedConversation(conversation, outcome.name, outcome.changed))


def read_conversation(_: McpCall, arguments: a.ReadConversationArguments) -> Script[CallResult]:
    conversation = yield from find_conversation(arguments.thread_id)
    history = yield from ask(ReadHistory(conversation, arguments.after, arguments.limit, arguments.before))
    page = history.page
    words = as_markdown(page.records)
    after = page.records[-1].seq if page.records else arguments.after
    before = page.records[0].seq if page.records else arguments.before or 1
    structure = r.TranscriptPage(conversation, words, after, before, history.complete)
    return CallResult(content=text(words), structured_content=structure)


def answer_approval(call: McpCall, arguments: a.AnswerApprovalArguments) -> Script[CallResult]:
    approval = ApprovalId(arguments.approval_id)
    decided = AnswerApproval(
        approval,
        arguments.decision,
        call.client.label,
        arguments.reason,
        arguments.option,
        arguments.content,
        arguments.outside,
    )
    conversation = approval_place(approval)
    answered = yield from command(conversation, decided)
    return payload(r.GivenAnswer(conversation, answered.approval, answered.decision))


def find_conversation(reference: str) -> Script[ConversationId]:
    """The conversation of an argument: an id in any spelling, a prefix, or a name."""
    try:
        return conversation_id(reference)
    except ValueError:
        return (yield from conversation_named(reference))


def row(head: Head) -> Mapping[str, object]:
    return {"threadId": head.conversation, **{name: getattr(head, name) for name in ROW_MEMBERS}}
