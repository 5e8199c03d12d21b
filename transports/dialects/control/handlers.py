"""The handlers of the control API: parameters to questions, answers to results."""

from collections.abc import Iterable
from uuid import uuid4

from actors.conversation import messages as m
from actors.routing import messages as rm
from actors.vocabulary.answers import (
    Accepted,
    Answered,
    Attached,
    Done,
    Interrupted,
    PendingApprovals,
    Reader,
    Resolved,
    Summary,
    TurnResult,
)
from actors.vocabulary.errors import GreenroomError, InvalidInput
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId, InputId, SubscriptionId
from actors.vocabulary.items import TextItem
from actors.vocabulary.records import Head, Record
from transports import requests as r
from transports.dialect import Ask
from transports.dialects.control import params as p
from transports.dialects.control.endings import LAST_WORDS, ending_of
from transports.dialects.control.results import envelope, pending_of, row, shown, stopped, waiting, with_readers
from transports.dialects.control.schema import api_schema
from transports.dialects.control.subscriptions import ControlCall
from transports.dialects.control.text import Raw
from transports.dialects.kit.identifiers import approval_place
from transports.dialects.kit.script import (
    Script,
    answer,
    ask,
    command,
    command_each,
    conversation_named,
    look_up,
    look_up_each,
)

ASLEEP = {"parked"}  # a look at one of these would wake it

LARGEST = 19  # digits of a number that the journal can count to
CURSOR_LENGTH = 60  # three numbers that the journal can count to
BUSY = frozenset({"starting", "running", "waiting", "interrupting"})


# --- conversations ----------------------------------------------------------------------------------------------


def create(call: ControlCall, given: p.Create) -> Script[r.Plain]:
    made = yield from ask(
        r.MakeSettings(
            model=given.model,
            model_provider=given.provider,
            profile=given.profile,
            cwd=given.cwd,
            approval_policy=given.approval_policy,
            sandbox=given.sandbox,
            config=given.config,
            base_instructions=given.base_instructions,
            include_plan_tool=given.include_plan_tool,
            include_apply_patch_tool=given.include_apply_patch_tool,
        )
    )
    conversation = ConversationId(str(uuid4()))
    begun = yield from look_up(rm.Create(conversation, m.Begin(made.settings, name=given.name)))
    call.do(Ask(r.RememberEnvironment(conversation)))
    return r.Plain({**shown(begun), "notice": made.notice, "warnings": list(made.warnings)})


def list_conversations(_: ControlCall, given: p.ListConversations) -> Script[r.Plain]:
    cursor = place_in_list(given.cursor) if given.cursor else None
    if given.cursor and cursor is None:
        raise InvalidInput(f"cursor: {given.cursor!r} is not a next_cursor of an earlier answer")
    listing = yield from look_up(rm.ListConversations(archived=given.archived))
    wanted = sorted((head for head in listing.heads if _is_wanted(head, given)), key=place_of)
    page = [head for head in wanted if cursor is None or place_of(head) > cursor][: given.limit]
    more = bool(page) and page[-1] is not wanted[-1]
    return r.Plain(
        {
            "conversations": [row(head) for head in page],
            "total": len(wanted),
            "next_cursor": f"{page[-1].updated!r}/{page[-1].conversation}" if more else None,
        }
    )


def _is_wanted(head: Head, given: p.ListConversations) -> bool:
    return given.state in {None, head.state} and given.cwd in {None, head.cwd} and given.name in {None, head.name}


ListPlace = tuple[float, str]


def place_of(head: Head) -> ListPlace:
    """The place of a row, most recently used first. A row that is used between two pages moves to the front."""
    return (-head.updated, head.conversation)


def place_in_list(cursor: str) -> ListPlace | None:
    updated, _, conversation = cursor.partition("/")
    try:
        return (-float(updated), conversation)
    except ValueError:
        return None


def search(_: ControlCall, given: p.Search) -> Script[r.Found]:
    before = place_in_search(given.cursor) if given.cursor else None
    if given.cursor and before is None:
        raise InvalidInput(f"cursor: {given.cursor!r} is not a next_cursor of an earlier answer")
    one = None if given.conversation is None else (yield from conversation_named(given.conversation))
    best = given.order == "best"
    return (yield from ask(r.Search(given.query, one, given.cwd, given.since, given.limit, before, best)))


def place_in_search(cursor: str) -> int | None:
    return int(cursor) if cursor.isascii() and cursor.isdecimal() and len(cursor) < LARGEST else None


def resolve(_: ControlCall, given: p.Resolve) -> Script[Resolved]:
    return look_up(rm.Resolve(given.reference))


def get(_: ControlCall, given: p.Named) -> Script[Summary]:
    one = yield from conversation_named(given.conversation)
    return (yield from command(one, m.Inspect()))


def send(call: ControlCall, given: p.Send) -> Script[Accepted | TurnResult]:
    if bool(given.items) == (given.prompt is not None):
        raise InvalidInput("give either a prompt or items")
    items = given.items or (TextItem(text=given.prompt or ""),)
    one = yield from conversation_named(given.conversation)
    said = m.Send(items, given.if_busy, key=given.key, await_end=given.wait, by=call.client.label)
    taken = yield from command(one, said)
    if given.wait and isinstance(taken, Accepted) and taken.turn is not None and taken.ended is not None:
        # The key was used before and that turn is over: how it ended is history.
        past = yield from ask(r.ReadHistory(one, max(0, taken.ended - LAST_WORDS), LAST_WORDS))
        return ending_of(taken.turn, past.page.records) or taken
    return taken


def interrupt(call: ControlCall, given: p.Interrupt) -> Script[Interrupted]:
    one = yield from conversation_named(given.conversation)
    stop = m.Interrupt(call.client.label, kill=given.kill, message=given.reason, clear=given.clear)
    return (yield from command(one, stop))


def interrupt_many(call: ControlCall, given: p.InterruptMany) -> Script[r.Plain]:
    """Interrupt several; answered when the last has ended. A refused one does not keep the others from it."""
    if bool(given.conversations) == given.all:
        raise InvalidInput("name conversations, or say all")
    if given.all:
        listing = yield from look_up(rm.ListConversations())
        references: list[str] = [head.conversation for head in listing.heads if head.state in BUSY]
    else:
        references = list(given.conversations)
    found = yield from look_up_each(rm.Resolve(reference) for reference in references)
    stop = m.Interrupt(call.client.label, kill=given.kill, message=given.reason)
    known = [one.conversation for one in found if isinstance(one, Resolved)]
    answers = iter((yield from command_each((one, stop) for one in known)))
    ends = [one if isinstance(one, GreenroomError) else next(answers) for one in found]
    rows = [{"conversation": named, **stopped(end)} for named, end in zip(references, ends, strict=True)]
    return r.Plain({"stopped": rows})


def attach(call: ControlCall, given: p.Attach) -> Script[Attached]:
    one = yield from conversation_named(given.conversation)
    subscription = SubscriptionId(f"{call.client.connection}/{call.state.scripts.number()}")
    call.state.subscriptions.add(subscription, one)
    try:
        attached = yield from command(
            one, m.Attach(call.client.connection, subscription, given.after, given.read_only)
        )
    except GreenroomError:
        call.state.subscriptions.forget(subscription)
        raise
    if not given.read_only:
        call.do(Ask(r.RememberEnvironment(one)))
    return attached


def detach(call: ControlCall, given: p.Detach) -> Script[Done]:
    subscription, conversation = call.state.subscriptions.take(given.subscription)
    return (yield from command(conversation, m.Detach(subscription)))


def history(_: ControlCall, given: p.History) -> Script[Raw]:
    one = yield from conversation_named(given.conversation)
    read = yield from ask(r.ReadHistory(one, given.after, given.limit))
    return Raw(shown(read), {"events": _encoded((one, record) for record in read.page.records)})


def read_events(_: ControlCall, given: p.ReadEvents) -> Script[Raw]:
    news = yield from ask(r.ReadNews(given.after, given.limit, given.wait_s))
    return Raw(shown(news), {"events": _encoded(news.records)})


def _encoded(records: Iterable[tuple[ConversationId, Record]]) -> bytes:
    return b"[" + b",".join(envelope(conversation, record) for conversation, record in records) + b"]"


def rename(_: ControlCall, given: p.Rename) -> Script[Done]:
    one = yield from conversation_named(given.conversation)
    return (yield from command(one, m.Rename(given.name)))


def archive(_: ControlCall, given: p.Archive) -> Script[Done]:
    one = yield from conversation_named(given.conversation)
    return (yield from command(one, m.Archive(given.archived)))


def restart(call: ControlCall, given: p.Named) -> Script[Done]:
    one = yield from conversation_named(given.conversation)
    return (yield from command(one, m.Restart(call.client.label)))


def resume_queue(_: ControlCall, given: p.Named) -> Script[Done]:
    one = yield from conversation_named(given.conversation)
    return (yield from command(one, m.ResumeQueue()))


def withdraw(_: ControlCall, given: p.Withdraw) -> Script[Done]:
    one = yield from conversation_named(given.conversation)
    return (yield from command(one, m.WithdrawInput(InputId(given.input), given.reason)))


def fork(_: ControlCall, given: p.Fork) -> Script[r.Stored]:
    one = yield from conversation_named(given.conversation)
    return (yield from ask(r.Fork(one, ConversationId(str(uuid4())), given.at, given.name)))


def export(_: ControlCall, given: p.Export) -> Script[r.Exported]:
    place = place_in_export(given.cursor) if given.cursor else None
    if given.cursor and place is None:
        raise InvalidInput(f"cursor: {given.cursor!r} is not a next_cursor of an earlier answer")
    one = yield from conversation_named(given.conversation)
    return (yield from ask(r.Export(one, place)))


def place_in_export(cursor: str) -> tuple[int, int, int] | None:
    numbers = cursor.split("/")
    if len(cursor) > CURSOR_LENGTH or len(numbers) not in {2, 3} or not all(map(str.isdecimal, numbers)):
        return None
    after, last, *offset = map(int, numbers)
    return after, last, offset[0] if offset else 0


def import_(_: ControlCall, given: p.Import) -> Script[r.Stored | r.Plain]:
    """Store a history; one that comes in several requests is stored with the last of them, whole or not at all."""
    if given.more and given.upload is None:
        raise InvalidInput("upload: what comes in several requests needs a name")
    if given.partial and not given.more:
        raise InvalidInput("partial: nothing follows that the line could go on in; say more")
    new = ConversationId(str(uuid4())) if given.new_id else None
    return (yield from ask(r.Import(given.lines, new, given.upload, given.more, given.partial)))


def delete(_: ControlCall, given: p.Named) -> Script[r.Stored]:
    one = yield from conversation_named(given.conversation)
    yield from look_up(rm.Remove(one))
    return r.Stored(one)


# --- approvals and requests -------------------------------------------------------------------------------------


def list_approvals(_: ControlCall, given: p.ListApprovals) -> Script[r.Plain]:
    """List open approvals, oldest first: the registry knows them, the journal when they were asked."""
    pending: PendingApprovals
    if given.conversation is None:
        pending = yield from look_up(rm.ListApprovals())
    else:
        one = yield from conversation_named(given.conversation)
        pending = pending_of((yield from command(one, m.Inspect())))
    wanted = tuple((one, request.approval_id) for one, request in pending.requests)
    try:
        places = (yield from ask(r.FindAsked(wanted))).places
    except GreenroomError:  # when it was asked is good to know; what is asked is needed
        places = ()
    return r.Plain({"approvals": waiting(pending, places)})


def answer_approval(call: ControlCall, given: p.AnswerApproval) -> Script[Answered]:
    decided = m.AnswerApproval(ApprovalId(given.approval), given.decision, call.client.label, given.reason)
    return (yield from command(approval_place(given.approval), decided))


def cancel(call: ControlCall, given: p.Cancel) -> Script[r.Plain]:
    call.state.requests.cancel(given.request, call.client.label)
    return answer(r.Plain({}))


# --- the daemon -------------------------------------------------------------------------------------------------


def list_clients(_: ControlCall, __: p.Nothing) -> Script[r.Plain]:
    """List clients, and what each reads. Live conversations are asked one after the other, which is no burst."""
    listing = yield from look_up(rm.ListConversations(archived=True))
    readers: list[tuple[ConversationId, Reader]] = []
    for head in listing.heads:
        if head.state not in ASLEEP:
            (summary,) = yield from command_each([(head.conversation, m.Inspect())])
            if isinstance(summary, Summary):
                readers += [(head.conversation, one) for one in summary.readers]
    clients = yield from ask(r.ListClients())
    return r.Plain({"clients": [with_readers(one, readers) for one in clients.value["clients"]]})


def kill_client(_: ControlCall, given: p.KillClient) -> Script[r.Plain]:
    return ask(r.KillClient(ConnectionId(given.connection)))


def status(_: ControlCall, __: p.Nothing) -> Script[r.Plain]:
    return ask(r.AskStatus())


def reload(_: ControlCall, __: p.Nothing) -> Script[r.Plain]:
    return ask(r.Reload())


def down(_: ControlCall, given: p.Down) -> Script[r.Plain]:
    return ask(r.Down(given.drain_s))


def config_get(_: ControlCall, given: p.ConfigGet) -> Script[r.Plain]:
    return ask(r.ReadConfig(given.key))


def schema(_: ControlCall, __: p.Nothing) -> Script[r.Plain]:
    return answer(r.Plain(api_schema()))
