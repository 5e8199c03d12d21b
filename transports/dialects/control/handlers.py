"""What each method of the control API does: parameters to messages, answers to results."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from actors import messages as m
from actors import registry_messages as rm
from actors.answers import Accepted, Listing, Reader, Summary
from actors.errors import GreenroomError, InvalidInput, Overloaded, UnknownApproval
from actors.ids import ApprovalId, Caller, ConnectionId, ConversationId, InputId, conversation_of
from actors.items import TextItem
from actors.records import Head
from transports import requests as ask
from transports.dialect import Action, Ask
from transports.dialects.control import params as p
from transports.dialects.control.call import Call
from transports.dialects.control.endings import LAST_WORDS, ending_of
from transports.dialects.control.results import envelope, pending_of, row, shown, stopped, waiting, with_readers
from transports.dialects.control.schema import api_schema
from transports.dialects.control.text import Raw

ASLEEP = {"parked"}  # a look at one of these would wake it

CURSOR_LENGTH = 60  # three numbers that the journal can count to
BUSY = frozenset({"starting", "running", "waiting", "interrupting"})


def create(call: Call, given: p.Create) -> Iterable[Action]:
    conversation = ConversationId(str(uuid4()))

    def made(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            yield from call.finish(answer)
            return

        def begun(result: Any) -> Iterable[Action]:
            if isinstance(result, GreenroomError):
                return call.finish(result)
            notes = {"notice": answer.notice, "warnings": list(answer.warnings)}
            return (
                Ask(ask.RememberEnvironment(None, conversation)),
                *call.finish(ask.Plain({**shown(result), **notes})),
            )

        yield from call.tell(
            lambda caller: rm.Create(conversation, m.Begin(caller, answer.settings, name=given.name)), begun
        )

    return call.ask(
        lambda token: ask.MakeSettings(
            token,
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
        ),
        call.unless_cancelled(made),
    )


def list_conversations(call: Call, given: p.ListConversations) -> Iterable[Action]:
    cursor = place_in_list(given.cursor) if given.cursor else None
    if given.cursor and cursor is None:
        return call.finish(InvalidInput(f"cursor: {given.cursor!r} is not a next_cursor of an earlier answer"))

    def listed(listing: Listing | GreenroomError) -> Iterable[Action]:
        if isinstance(listing, GreenroomError):
            return call.finish(listing)
        wanted = sorted(
            (
                head
                for head in listing.heads
                if given.state in {None, head.state}
                and given.cwd in {None, head.cwd}
                and given.name in {None, head.name}
            ),
            key=place_of,
        )
        page = [head for head in wanted if cursor is None or place_of(head) > cursor][: given.limit]
        more = bool(page) and page[-1] is not wanted[-1]
        return call.finish(
            ask.Plain(
                {
                    "conversations": [row(head) for head in page],
                    "total": len(wanted),
                    "next_cursor": f"{page[-1].updated!r}/{page[-1].conversation}" if more else None,
                }
            )
        )

    return call.tell(lambda caller: rm.ListConversations(caller, archived=given.archived), listed)


Place = tuple[float, str]


def place_of(head: Head) -> Place:
    """Most recently used first. Steady: what is used meanwhile moves to the front and shifts nobody else."""
    return (-head.updated, head.conversation)


def place_in_list(cursor: str) -> Place | None:
    updated, _, conversation = cursor.partition("/")
    try:
        return (-float(updated), conversation)
    except ValueError:
        return None


def resolve(call: Call, given: p.Resolve) -> Iterable[Action]:
    return call.tell(lambda caller: rm.Resolve(caller, given.reference))


def get(call: Call, given: p.Named) -> Iterable[Action]:
    return call.with_conversation(given.conversation, lambda one: call.command(one, m.Inspect))


def send(call: Call, given: p.Send) -> Iterable[Action]:
    if bool(given.items) == (given.prompt is not None):
        return call.finish(InvalidInput("give either a prompt or items"))
    items = given.items or (TextItem(text=given.prompt or ""),)

    def say(one: ConversationId) -> Iterable[Action]:
        def message(caller: Caller) -> m.Send:
            by = call.client.label
            return m.Send(caller, items, policy=given.if_busy, key=given.key, await_end=given.wait, by=by)

        return call.command(one, message, partial(_taken, call, one) if given.wait else None)

    return call.with_conversation(given.conversation, say)


def _taken(call: Call, one: ConversationId, answer: Any) -> Iterable[Action]:
    """Who waits for the end of a turn that is over, because the key was used before, is told it from history."""
    if not isinstance(answer, Accepted) or answer.turn is None or answer.ended is None:
        return call.finish(answer)
    turn, after = answer.turn, answer.ended - LAST_WORDS

    def read(history: Any) -> Iterable[Action]:
        if isinstance(history, GreenroomError):
            return call.finish(history)
        return call.finish(ending_of(turn, history.page.records) or answer)

    return call.ask(lambda token: ask.ReadHistory(token, one, max(0, after), LAST_WORDS), read)


def interrupt(call: Call, given: p.Interrupt) -> Iterable[Action]:
    return call.with_conversation(
        given.conversation,
        lambda one: call.command(
            one,
            lambda caller: m.Interrupt(
                caller, call.client.label, kill=given.kill, message=given.reason, clear=given.clear
            ),
        ),
    )


def interrupt_many(call: Call, given: p.InterruptMany) -> Iterable[Action]:
    """Answered when the last of them is; one that is refused does not keep the others."""
    if bool(given.conversations) == given.all:
        return call.finish(InvalidInput("name conversations, or say all"))
    if not given.all:
        return _interrupt_each(call, given, given.conversations)

    def listed(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.finish(answer)
        busy = [head.conversation for head in answer.heads if head.state in BUSY]
        return _interrupt_each(call, given, busy)

    return call.tell(rm.ListConversations, listed)


def _interrupt_each(call: Call, given: p.InterruptMany, references: Sequence[str]) -> Iterable[Action]:
    told: dict[int, dict[str, Any]] = {}

    def settle(place: int, answer: Any) -> Iterable[Action]:
        told[place] = {"conversation": references[place], **stopped(answer)}
        done = [told[at] for at in sorted(told)]
        return call.finish(ask.Plain({"stopped": done})) if len(done) == len(references) else ()

    def found(place: int, answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return settle(place, answer)
        return call.command(
            answer.conversation,
            lambda caller: m.Interrupt(caller, call.client.label, kill=given.kill, message=given.reason),
            partial(settle, place),
        )

    if not references:
        yield from call.finish(ask.Plain({"stopped": []}))
    for place, reference in enumerate(references):
        yield from call.tell(partial(_resolve, reference), partial(found, place))


def _resolve(reference: str, caller: Caller) -> rm.Resolve:
    return rm.Resolve(caller, reference)


def attach(call: Call, given: p.Attach) -> Iterable[Action]:
    def begin(one: ConversationId) -> Iterable[Action]:
        subscription = call.dialect.new_subscription(one)
        if isinstance(subscription, Overloaded):
            return call.finish(subscription)

        def attached(answer: Any) -> Iterable[Action]:
            if isinstance(answer, GreenroomError):
                call.dialect.forget_subscription(subscription)
            elif not given.read_only:
                yield Ask(ask.RememberEnvironment(None, one))
            yield from call.finish(answer)

        return call.command(
            one,
            lambda caller: m.Attach(caller, call.client.connection, subscription, given.after, given.read_only),
            attached,
        )

    return call.with_conversation(given.conversation, begin)


def detach(call: Call, given: p.Detach) -> Iterable[Action]:
    found = call.dialect.subscription(given.subscription)
    if found is None:
        return call.finish(InvalidInput(f"no subscription {given.subscription}"))
    subscription, conversation = found
    call.dialect.forget_subscription(subscription)
    return call.command(conversation, lambda caller: m.Detach(caller, subscription))


def history(call: Call, given: p.History) -> Iterable[Action]:
    def read(one: ConversationId) -> Iterable[Action]:
        def answered(answer: Any) -> Iterable[Action]:
            if isinstance(answer, GreenroomError):
                return call.finish(answer)
            events = b",".join(envelope(one, record) for record in answer.page.records)
            return call.finish(Raw(shown(answer), {"events": b"[" + events + b"]"}))

        return call.ask(lambda token: ask.ReadHistory(token, one, given.after, given.limit), answered)

    return call.with_conversation(given.conversation, read)


def read_events(call: Call, given: p.ReadEvents) -> Iterable[Action]:
    def answered(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.finish(answer)
        events = b",".join(envelope(conversation, record) for conversation, record in answer.records)
        return call.finish(Raw(shown(answer), {"events": b"[" + events + b"]"}))

    return call.ask(lambda token: ask.ReadNews(token, given.after, given.limit, given.wait_s), answered)


def rename(call: Call, given: p.Rename) -> Iterable[Action]:
    return call.with_conversation(
        given.conversation, lambda one: call.command(one, lambda caller: m.Rename(caller, given.name))
    )


def archive(call: Call, given: p.Archive) -> Iterable[Action]:
    return call.with_conversation(
        given.conversation, lambda one: call.command(one, lambda caller: m.Archive(caller, given.archived))
    )


def restart(call: Call, given: p.Named) -> Iterable[Action]:
    return call.with_conversation(
        given.conversation, lambda one: call.command(one, lambda caller: m.Restart(caller, call.client.label))
    )


def resume_queue(call: Call, given: p.Named) -> Iterable[Action]:
    return call.with_conversation(given.conversation, lambda one: call.command(one, m.ResumeQueue))


def withdraw(call: Call, given: p.Withdraw) -> Iterable[Action]:
    return call.with_conversation(
        given.conversation,
        lambda one: call.command(one, lambda caller: m.WithdrawInput(caller, InputId(given.input), given.reason)),
    )


def fork(call: Call, given: p.Fork) -> Iterable[Action]:
    new = ConversationId(str(uuid4()))
    return call.with_conversation(
        given.conversation,
        lambda one: call.ask(lambda token: ask.Fork(token, one, new, given.at, given.name)),
    )


def export(call: Call, given: p.Export) -> Iterable[Action]:
    place = place_in_export(given.cursor) if given.cursor else None
    if given.cursor and place is None:
        return call.finish(InvalidInput(f"cursor: {given.cursor!r} is not a next_cursor of an earlier answer"))
    return call.with_conversation(
        given.conversation, lambda one: call.ask(lambda token: ask.Export(token, one, place))
    )


def place_in_export(cursor: str) -> tuple[int, int, int] | None:
    numbers = cursor.split("/")
    if len(cursor) > CURSOR_LENGTH or len(numbers) not in {2, 3} or not all(map(str.isdecimal, numbers)):
        return None
    after, last, *offset = map(int, numbers)
    return after, last, offset[0] if offset else 0


def import_(call: Call, given: p.Import) -> Iterable[Action]:
    """What comes in several requests is stored with the last of them, whole or not at all."""
    if given.more and given.upload is None:
        return call.finish(InvalidInput("upload: what comes in several requests needs a name"))
    if given.partial and not given.more:
        return call.finish(InvalidInput("partial: nothing follows that the line could go on in; say more"))
    new = ConversationId(str(uuid4())) if given.new_id else None
    return call.ask(lambda token: ask.Import(token, given.lines, new, given.upload, given.more, given.partial))


def delete(call: Call, given: p.Named) -> Iterable[Action]:
    def one_of(one: ConversationId) -> Iterable[Action]:
        def removed(answer: Any) -> Iterable[Action]:
            return call.finish(answer if isinstance(answer, GreenroomError) else ask.Stored(one))

        return call.tell(lambda caller: rm.Remove(one, caller), removed)

    return call.with_conversation(given.conversation, one_of)


def list_approvals(call: Call, given: p.ListApprovals) -> Iterable[Action]:
    """Oldest first: the registry knows what is open, the journal since when. Of one, it is asked itself."""

    def found(pending: Any, places: Any) -> Iterable[Action]:
        known = places.places if isinstance(places, ask.AskedFound) else ()
        return call.finish(ask.Plain({"approvals": waiting(pending, known)}))

    def listed(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.finish(answer)
        pending = pending_of(answer) if isinstance(answer, Summary) else answer
        wanted = tuple((one, request.approval_id) for one, request in pending.requests)
        return call.ask(lambda token: ask.FindAsked(token, wanted), lambda places: found(pending, places))

    if given.conversation is None:
        return call.tell(rm.ListApprovals, listed)
    return call.with_conversation(given.conversation, lambda one: call.command(one, m.Inspect, listed))


def answer_approval(call: Call, given: p.AnswerApproval) -> Iterable[Action]:
    one = conversation_of(given.approval)
    if one is None:
        return call.finish(UnknownApproval(f"no approval {given.approval}"))
    return call.command(
        one,
        lambda caller: m.AnswerApproval(
            caller, ApprovalId(given.approval), given.decision, call.client.label, given.reason
        ),
    )


def cancel(call: Call, given: p.Cancel) -> Iterable[Action]:
    yield from call.dialect.cancel(given.request)
    yield from call.finish(ask.Plain({}))


def list_clients(call: Call, _: p.Nothing) -> Iterable[Action]:
    """Who is connected, and what each reads. Live conversations are asked one after the other, which is no burst."""
    readers: list[tuple[ConversationId, Reader]] = []

    def after(heads: list[ConversationId], answer: Any) -> Iterable[Action]:
        if isinstance(answer, Summary):
            readers.extend((answer.conversation, one) for one in answer.readers)
        if not heads:
            return call.ask(ask.ListClients, told)
        return call.command(heads[0], m.Inspect, lambda summary: after(heads[1:], summary))

    def listed(listing: Any) -> Iterable[Action]:
        if isinstance(listing, GreenroomError):
            return call.finish(listing)
        return after([head.conversation for head in listing.heads if head.state not in ASLEEP], None)

    def told(clients: Any) -> Iterable[Action]:
        if isinstance(clients, GreenroomError):
            return call.finish(clients)
        return call.finish(ask.Plain({"clients": [with_readers(one, readers) for one in clients.value["clients"]]}))

    return call.tell(lambda caller: rm.ListConversations(caller, archived=True), listed)


def kill_client(call: Call, given: p.KillClient) -> Iterable[Action]:
    return call.ask(lambda token: ask.KillClient(token, ConnectionId(given.connection)))


def status(call: Call, _: p.Nothing) -> Iterable[Action]:
    return call.ask(ask.AskStatus)


def reload(call: Call, _: p.Nothing) -> Iterable[Action]:
    return call.ask(ask.Reload)


def down(call: Call, given: p.Down) -> Iterable[Action]:
    return call.ask(lambda token: ask.Down(token, given.drain_s))


def config_get(call: Call, given: p.ConfigGet) -> Iterable[Action]:
    return call.ask(lambda token: ask.ReadConfig(token, given.key))


def schema(call: Call, _: p.Nothing) -> Iterable[Action]:
    return call.finish(ask.Plain(api_schema()))
