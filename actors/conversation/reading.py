"""Readers: snapshot, then live, by cursor, with one slice in flight. A slow reader costs only its cursor."""

from collections.abc import Mapping
from itertools import islice
from operator import attrgetter

from msgspec.structs import replace

from actors.conversation.draft import Draft
from actors.conversation.state import Limits, State, Subscriber
from actors.conversation.summary import summary
from actors.conversation.tail import TailPlace, delta_of
from actors.messages.conversation import Attach, Detach, PageRead, Ready
from actors.messages.effects import Deliver, EndSubscription, FeedOthers, ReadPage, Slice, Unsubscribed
from actors.vocabulary.answers import AttachedReader, Done
from actors.vocabulary.errors import InvalidInput, UnknownConversation
from actors.vocabulary.ids import ConnectionId, SubscriptionId
from actors.vocabulary.records import Record

READERS_PER_STEP = (
    8  # readers that are served in one step; a thousand would keep everybody waiting who shares the thread
)

ReaderPlace = tuple[int, tuple[tuple[TailPlace, int], ...], bool, bool]  # a reader's cursors


def attach(draft: Draft, command: Attach) -> None:
    state = draft.state
    after = state.committed if command.after is None else command.after
    if state.facts.seq == 0:
        draft.reply_now(UnknownConversation(f"no conversation {state.facts.conversation}"))
        return
    if not 0 <= after <= state.committed:
        refusal = InvalidInput(f"cursor {after} is not in 0..{state.committed}", last_seq=state.committed)
        draft.reply_now(refusal)
        return
    reader = Subscriber(command.subscription, command.connection, after, read_only=command.read_only)
    draft.state.subscribers = {**state.subscribers, reader.id: reader}
    if draft.caller is not None:
        draft.reply_now(AttachedReader(reader.id, summary(draft.state), state.committed))


def detach(draft: Draft, command: Detach) -> None:
    readers = draft.state.subscribers
    if command.subscription in readers:
        draft.state.subscribers = {
            key: subscriber for key, subscriber in readers.items() if key != command.subscription
        }
        draft.reply_now(Done())
    else:
        draft.reply_now(InvalidInput(f"no subscription {command.subscription}"))


def drop_connection(draft: Draft, gone: ConnectionId) -> bool:
    """Forget the readers of a connection. Returns whether there were any."""
    readers = draft.state.subscribers
    draft.state.subscribers = {
        key: subscriber for key, subscriber in readers.items() if subscriber.connection != gone
    }
    return len(draft.state.subscribers) < len(readers)


def free_reader(state: State, news: Ready) -> tuple[State, bool]:
    """The state after a reader is ready, and whether the reader is behind, so that a step has to serve it."""
    reader = state.subscribers.get(news.subscription)
    if reader is None or reader.paging:
        return state, False
    changed = state.copy()
    changed.subscribers = {**state.subscribers, reader.id: reader.without_slice()}
    return changed, _is_behind(state, reader)


def reader_ready(draft: Draft, command: Ready) -> None:
    reader = draft.state.subscribers.get(command.subscription)
    if reader is not None and not reader.paging:
        _put(draft, reader.without_slice())


def take_page(draft: Draft, news: PageRead) -> None:
    """A piece of history for a reader that was further back than memory goes."""
    reader = draft.state.subscribers.get(news.subscription)
    if reader is None or not reader.paging:
        return
    page = news.page
    if page is None or not (page.records or page.first_seq > reader.seq + 1):
        end_subscription(draft, reader.id, "its history is gone")
        return
    gap = (reader.seq + 1, page.first_seq - 1) if page.first_seq > reader.seq + 1 else None
    # The journal may be ahead of the commits that this conversation has heard of.
    records = tuple(record for record in page.records if record.seq <= draft.state.committed)
    reached = records[-1].seq if records else page.first_seq - 1
    slice_ = Slice(draft.facts.conversation, records, lagged=reader.lagging, gap=gap, ts=draft.now)
    _put(draft, _deliver(draft, reader, slice_, reached, reader.offsets, caught_up=reader.caught_up))


def end_subscription(draft: Draft, subscription: SubscriptionId, reason: str) -> None:
    reader = draft.state.subscribers[subscription]
    draft.state.subscribers = {
        key: subscriber for key, subscriber in draft.state.subscribers.items() if key != subscription
    }
    draft.at_once(EndSubscription(reader.connection, Unsubscribed(subscription, reason)))


def feed_readers(draft: Draft) -> None:
    """Send each ready reader its news, some readers at a time. Readers with the same cursor share one slice."""
    shared: dict[ReaderPlace, Slice] = {}
    readers = draft.state.subscribers
    waiting = (
        subscriber
        for subscriber in readers.values()
        if not subscriber.in_flight and _is_behind(draft.state, subscriber)
    )
    moved = {reader.id: _feed(draft, reader, shared) for reader in islice(waiting, READERS_PER_STEP)}
    if not moved:
        return
    draft.state.subscribers = {**readers, **moved}
    if len(moved) == READERS_PER_STEP and next(waiting, None) is not None:
        others = {key: subscriber for key, subscriber in readers.items() if key not in moved}
        draft.state.subscribers = {**others, **moved}  # the reader that has waited longest is the next
        draft.after_events(FeedOthers())


def _is_behind(state: State, reader: Subscriber) -> bool:
    return (
        not reader.caught_up
        or reader.seq < state.committed
        or any(reader.offsets.get(tail.place, 0) < tail.end for tail in state.tails if tail.since <= state.committed)
    )


def _feed(draft: Draft, reader: Subscriber, shared: dict[ReaderPlace, Slice]) -> Subscriber:
    """Send the reader its next slice, and return its new state."""
    state = draft.state
    if reader.seq < min(state.committed, _window_start(state) - 1):
        limit = state.limits.page_records
        lagging = reader.lagging or reader.caught_up
        draft.at_once(ReadPage(reader.id, reader.seq, limit))
        return replace(reader, in_flight=True, paging=True, caught_up=False, lagging=lagging)
    place = (reader.seq, tuple(reader.offsets.items()), reader.caught_up, reader.lagging)
    slice_ = shared.get(place)
    if slice_ is None:
        slice_ = shared[place] = _slice(state, reader, draft.now)
    offsets = {tail.place: tail.end for tail in state.tails if tail.since <= state.committed}
    seq = max(reader.seq, state.committed)
    return _deliver(draft, reader, slice_, seq, offsets, caught_up=True)


def _slice(state: State, reader: Subscriber, now: float) -> Slice:
    before = _window_start(state) - 1
    records = state.window[reader.seq - before : max(0, state.committed - before)]  # numbers are dense
    deltas, dropped = [], False
    for tail in state.tails:
        if tail.since <= state.committed:
            content, cut = tail.content_after(reader.offsets.get(tail.place, 0))
            dropped = dropped or cut
            if content:
                deltas.append(delta_of(tail, content))
    turn = state.durable.turn if state.durable else None  # like the records: nothing that is not on disk
    return Slice(
        state.facts.conversation,
        records,
        tuple(deltas),
        live=True,
        lagged=reader.lagging or dropped,
        pending=None if reader.caught_up else turn.approvals if turn else (),
        ts=now,
        turn=turn.id if turn else None,
    )


def _deliver(
    draft: Draft, reader: Subscriber, slice_: Slice, seq: int, offsets: Mapping[TailPlace, int], *, caught_up: bool
) -> Subscriber:
    draft.at_once(Deliver(reader.connection, reader.id, slice_))
    return Subscriber(
        reader.id, reader.connection, seq, offsets, in_flight=True, read_only=reader.read_only, caught_up=caught_up
    )


def _put(draft: Draft, reader: Subscriber) -> None:
    readers: Mapping[SubscriptionId, Subscriber] = draft.state.subscribers
    draft.state.subscribers = {**readers, reader.id: reader}


def _window_start(state: State) -> int:
    return state.window[0].seq if state.window else state.facts.seq + 1


def trim_window(window: tuple[Record, ...], committed: int, limits: Limits) -> tuple[Record, ...]:
    """The records kept in memory: all that are not on disk, and some of the newest that are."""
    sizes = [*map(len, map(_body, window))]
    size, dropped = sum(sizes), 0
    while dropped < len(window) and window[dropped].seq <= committed:
        if size <= limits.window_bytes and len(window) - dropped <= limits.window_records:
            break
        size -= sizes[dropped]
        dropped += 1
    return window[dropped:]


_body = attrgetter("body")
