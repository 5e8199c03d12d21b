"""The front of the registry's core: hands every message to the part that decides on it, and carries out their orders.

Pure in that it touches nothing outside: messages in, effects out. The maps are kept in place, because a copy of a
thousand entries for every message would not be simpler, only slower. None of them grows with the conversations that
sleep: those are looked up on disk (finding.py). The front owns the entries, which all parts share, and the requests.
"""

from typing import assert_never

from actors.messages.conversation import (
    Address,
    CancelRequest,
    ChangeSettings,
    ConnectionClosed,
    FindInput,
    Quiesce,
    RecordJobEnd,
    Rename,
    Send,
    SessionInput,
    ToConversation,
    caller_of,
)
from actors.messages.effects import ReplyTo, Settle
from actors.messages.journal import ConversationErased, FindBeginning, FindRow, LookupDone
from actors.messages.orders import AgentAbandoned
from actors.messages.routing import (
    AllAnswered,
    AllEnded,
    AwaitAnswers,
    ClaimName,
    Create,
    Forward,
    HeadChanged,
    KnownHeads,
    ListApprovals,
    ListAwake,
    ListBeginning,
    ListConversations,
    ParkOffered,
    RegistryInput,
    RegistryQuery,
    Remove,
    Resolve,
    RoutingEffect,
    SayAllAnswered,
    SayAllEnded,
    SessionFailed,
    SessionLeft,
    SessionStayed,
    StartSession,
    ToRegistry,
    Trim,
    WatchList,
)
from actors.routing.decisions import Decisions, HandOver, Order, Refuse
from actors.routing.entry import CHANGING, UNDER_WAY, Entry, EntryStatus
from actors.routing.failures import Failures, is_kept
from actors.routing.finding import Finding
from actors.routing.index import ConversationIndex
from actors.routing.list_watch import ListWatch
from actors.routing.lookups import Lookups
from actors.routing.names import NameClaim, Names, naming_by
from actors.routing.owners import LiveOwners
from actors.routing.removal import Removal
from actors.routing.room import Room
from actors.routing.trimming import Trimming
from actors.vocabulary.errors import Overloaded, WrongState
from actors.vocabulary.ids import Caller, ConversationId

STASH_LIMIT = 256  # messages for one conversation that is between two owners


class Routing:
    def __init__(self, max_live: int = 1000) -> None:
        self._index = ConversationIndex()
        self._names = Names()
        self._room = Room(max_live)
        self._owners = LiveOwners(self._index, self._room)
        self._failures = Failures(self._index, self._room, self._owners)
        self._finding = Finding(self._index, self._names, self._owners)
        self._removal = Removal(self._index, self._room, self._owners)
        self._trimming = Trimming(self._index)
        self._lookups = Lookups(self._index, self._names, self._finding, self._trimming)
        self._watch = ListWatch()
        self._requests: dict[Caller, ConversationId] = {}  # that can still be cancelled
        self._lost: dict[ConversationId, int] = {}  # with a turn of the last daemon, and the last event of that
        self._await_ends: list[Address[AllEnded]] = []
        self._await_answers: list[Address[AllAnswered]] = []

    def step(self, message: RegistryInput, now: float) -> list[RoutingEffect]:
        effects = self._carry_out(self._decide(message, now))
        self._failures.forgive(now)
        if self._await_ends and not self._lost:
            waiting, self._await_ends = self._await_ends, []
            effects += map(SayAllEnded, waiting)
        if self._await_answers and not self._requests:
            asking, self._await_answers = self._await_answers, []
            effects += map(SayAllAnswered, asking)
        return effects

    def _carry_out(self, decisions: Decisions) -> list[RoutingEffect]:
        """Carry out the orders among these decisions, each as soon as it is made; what is left is for the shell."""
        effects: list[RoutingEffect] = []
        for decision in decisions:
            if isinstance(decision, Order):
                effects += self._carry_out(self._follow(decision))
            else:
                effects.append(decision)
                if isinstance(decision, StartSession):
                    self._trimming.note_start(decision.conversation)
        return effects

    def _follow(self, order: Order) -> Decisions:
        match order:
            case HandOver(conversation, message):
                return self._hand_over(conversation, message)
            case ToRegistry(query, caller):
                return self._answer(query, caller)
            case Refuse(caller, error):
                return [*self._settle(caller), ReplyTo(caller, error)] if caller else ()
            case _:
                return self._lookups.start(order)

    def _decide(self, message: RegistryInput, now: float) -> Decisions:
        match message:
            case ToConversation():
                return self._route(message)
            case ToRegistry(query, caller):
                return self._answer(query, caller)
            case CancelRequest():
                return self._cancel(message)
            case ConnectionClosed():
                return self._close_connection(message)
            case Trim():
                return self._trimming.start(message)
            case ConversationErased():
                return self._take_erased(message)
            case KnownHeads():
                return self._know(message)
            case LookupDone():
                return self._lookups.take(message)
            case ClaimName(name, conversation, caller):
                return self._names.ask(NameClaim(name, conversation, caller, message))
            case HeadChanged():
                return self._head_changed(message)
            case Settle(caller):
                return self._settle(caller)
            case ParkOffered() | SessionLeft() | SessionStayed() | SessionFailed():
                return self._hear_owner(message, now)
            case Quiesce():
                return self._quiesce(message)
            case AwaitAnswers(reply_to):
                self._await_answers.append(reply_to)
                return ()
            case AgentAbandoned(conversation):
                return self._failures.recover(conversation)
            case _:
                assert_never(message)

    def _answer(self, query: RegistryQuery, caller: Caller) -> Decisions:
        match query:
            case Create():
                return self._finding.create(query, caller)
            case ListConversations():
                return [self._index.page(query, caller)]
            case ListAwake():
                return [ReplyTo(caller, self._index.awake())]
            case ListApprovals(conversation):
                return [ReplyTo(caller, self._index.approvals(conversation))]
            case Resolve(reference):
                return [self._index.resolve(reference, caller)]
            case ListBeginning(prefix, limit):
                return [FindBeginning(prefix, limit, caller)]
            case WatchList():
                return self._watch.watch(query, caller)
            case Remove(conversation):
                return self._removal.start(conversation, caller)
            case _:
                assert_never(query)

    def is_live(self, conversation: ConversationId) -> bool:
        return self._index.is_live(conversation)

    def statistics(self) -> dict[str, int]:
        return {
            "awake": len(self._index),
            "live": len(self._room),
            "requests": len(self._requests),
            "lookups": len(self._lookups),
            "watchers": len(self._watch),
        }

    # --- messages to conversations --------------------------------------------------------------------------------

    def _route(self, message: ToConversation) -> Decisions:
        command, caller = message.command, message.caller
        if isinstance(command, Rename | ChangeSettings) and command.name:
            claim = caller and NameClaim(command.name, message.conversation, caller, message)
            return self._names.ask(claim) if claim else ()  # a claim ends with an answer
        lasting = isinstance(command, Send | RecordJobEnd) or (isinstance(command, FindInput) and command.await_end)
        if lasting and caller is not None:
            self._requests[caller] = message.conversation
        return self._hand_over(message.conversation, message)

    def _hand_over(self, conversation: ConversationId, message: SessionInput) -> Decisions:
        if (held := self._names.held_for(conversation)) is not None:
            return self._hold(held, message)
        entry = self._index.get(conversation)
        if entry is None:
            self._index.add(Entry(conversation, EntryStatus.FINDING, stash=[message]))
            return [FindRow(conversation)]
        match entry.status:
            case EntryStatus.LIVE if naming := naming_by(message, entry):
                return self._names.search(naming)
            case EntryStatus.LIVE:
                self._room.use(conversation)
                return [Forward(conversation, message)]
            case EntryStatus.PARKED:
                return self._owners.wake(entry, (message,))
            case EntryStatus.BROKEN:
                why = entry.failed.message if entry.failed else "unknown"
                text = f"the conversation can't be loaded by this daemon: {why}; restart the daemon"
                return [Refuse(caller_of(message), WrongState(text))]
            case _:
                return self._hold(entry.stash, message)

    def _hold(self, waiting: list[SessionInput], message: SessionInput) -> Decisions:
        caller = caller_of(message)
        if len(waiting) >= STASH_LIMIT and caller is not None:
            return [Refuse(caller, Overloaded("the conversation is being restarted; try again"))]
        waiting.append(message)
        return ()

    def _cancel(self, message: CancelRequest) -> Decisions:
        conversation = self._requests.get(message.caller)
        if conversation is None or conversation not in self._index:
            return ()  # settled already: what it did is done
        return self._hand_over(conversation, message)

    def _settle(self, caller: Caller) -> Decisions:
        """Forget the request, because its one answer is out."""
        self._requests.pop(caller, None)
        self._names.settle(caller)
        return ()

    def _close_connection(self, message: ConnectionClosed) -> Decisions:
        for caller in [request for request in self._requests if request.connection == message.connection]:
            del self._requests[caller]
        self._watch.forget(message.connection)
        return self._tell_all(message)

    def _quiesce(self, message: Quiesce) -> Decisions:
        self._owners.quiescing = self._trimming.quiescing = True
        return self._tell_all(message)

    def _tell_all(self, message: ConnectionClosed | Quiesce) -> Decisions:
        """Tell every live owner, and the next owner where it changes."""
        for conversation, entry in self._index.items():
            if (held := self._names.held_for(conversation)) is not None:
                held.append(message)
            elif entry.status is EntryStatus.LIVE:
                yield Forward(conversation, message)
            elif entry.status in CHANGING:
                entry.stash.append(message)

    # --- orders of the shell, when a message did not arrive -------------------------------------------------------

    def keep(self, conversation: ConversationId, message: SessionInput) -> list[RoutingEffect]:
        """Keep a message to an owner that has just failed, and has not said so yet, for the next one."""
        entry = self._index.get(conversation)
        return self._carry_out(self._hold(entry.stash, message)) if entry and is_kept(message) else []

    def refuse(self, message: SessionInput, reason: str) -> list[RoutingEffect]:
        full = Overloaded(f"the conversation could not accept it: {reason}; try again")
        return self._carry_out([Refuse(caller_of(message), full)])

    # --- news of owners -------------------------------------------------------------------------------------------

    def _hear_owner(self, news: ParkOffered | SessionLeft | SessionStayed | SessionFailed, now: float) -> Decisions:
        entry = self._index.get(news.conversation)
        if entry is None or entry.generation != news.generation:
            return  # from a former owner
        if isinstance(news, SessionFailed):
            yield from self._failures.take_report(entry, news, now)
            self._forget_requests(entry)
        else:
            yield from self._owners.take_answer(entry, news)

    def _forget_requests(self, failed: Entry) -> None:
        """Forget the requests that the failed owner had taken; those that still wait can still be cancelled."""
        kept = set(map(caller_of, (*failed.stash, *(self._names.held_for(failed.conversation) or ()))))
        for caller, target in list(self._requests.items()):
            if target == failed.conversation and caller not in kept:
                del self._requests[caller]

    def _head_changed(self, message: HeadChanged) -> Decisions:
        """Note a stored row. If the owner has left already (the lanes let that pass), there may be no entry."""
        head = message.head
        added = Entry(head.conversation, generation=head.generation)
        entry = self._index.get(head.conversation) or self._index.add(added)
        if head.last_seq > self._lost.get(head.conversation, head.last_seq):
            del self._lost[head.conversation]
        if entry.given_up and entry.head is not None and entry.head.state == "failed" != head.state:
            entry.failures, entry.given_up = [], False  # somebody has restarted it: it may fail anew
        self._names.note_head(head)
        came_or_went = entry.head is None or entry.head.archived != head.archived
        entry.head, entry.pending = head, message.pending
        self._index.let_rest(head.conversation)
        return self._watch.announce_change() if came_or_went else ()

    # --- news of the journal --------------------------------------------------------------------------------------

    def _know(self, message: KnownHeads) -> Decisions:
        for head in message.heads:
            entry = self._index.get(head.conversation)
            if entry is None:
                self._index.add(Entry(head.conversation, head=head, generation=head.generation))
            elif entry.status is EntryStatus.FINDING:
                entry.head = head
            self._index.let_rest(head.conversation)
        if message.ended is not None:
            self._await_ends.append(message.ended)
            self._lost |= {head.conversation: head.last_seq for head in message.heads if head.state in UNDER_WAY}
        return self._owners.settle(message.heads)

    def _take_erased(self, message: ConversationErased) -> Decisions:
        entry = self._index.get(message.conversation)
        if entry is None or entry.status is not EntryStatus.REMOVING:
            return
        if message.error is not None:
            self._trimming.end()  # the next removal would fail, too
            yield from self._removal.give_up(entry, message.error)
            return
        self._names.forget(message.conversation)
        yield from self._removal.finish(entry)
        yield from self._watch.announce_change()
        if entry.removal is None:
            yield from self._trimming.go_on()
