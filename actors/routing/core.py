"""The decision on every message to the registry: forward it, keep it for the next owner, or refuse it.

Pure in that it touches nothing outside: messages in, effects out. It keeps its maps in place, because a copy of a
thousand entries for every message would not be simpler, only slower. None of them grows with the conversations that
sleep: those are looked up on disk (`finding` in entry.py).
"""

from collections import deque
from collections.abc import Iterable
from itertools import count
from typing import assert_never

from msgspec.structs import replace

from actors.messages.conversation import (
    SAID_TO_IT,
    Address,
    CancelRequest,
    ChangeSettings,
    ConnectionClosed,
    FindInput,
    Park,
    Quiesce,
    RecordJobEnd,
    Rename,
    Retire,
    Revived,
    Send,
    SessionInput,
    ToConversation,
    caller_of,
)
from actors.messages.effects import EndSubscription, ReplyTo, Settle, Survivors, Unsubscribed
from actors.messages.journal import (
    ConversationErased,
    FindBeginning,
    FindName,
    FindNew,
    FindReference,
    FindRow,
    FindSurplus,
    ListRead,
    Lookup,
    LookupDone,
    LookupFailed,
    NameFound,
    NewFound,
    ReadList,
    ReferenceFound,
    RowFound,
    SurplusFound,
)
from actors.messages.orders import AbandonAgent, AgentAbandoned
from actors.messages.routing import (
    AllAnswered,
    AllEnded,
    AskDirectory,
    AwaitAnswers,
    ClaimName,
    Create,
    EraseRows,
    Forward,
    HeadChanged,
    KnownHeads,
    ListApprovals,
    ListAwake,
    ListBeginning,
    ListConversations,
    NameClaimed,
    ParkOffered,
    RegistryInput,
    RegistryQuery,
    Remove,
    Resolve,
    RoutingEffect,
    SayAllAnswered,
    SayAllEnded,
    SayNameClaimed,
    SessionFailed,
    SessionLeft,
    SessionStayed,
    StartSession,
    ToRegistry,
    Trim,
    WatchList,
)
from actors.routing.entry import UNDER_WAY, Entry, EntryStatus
from actors.routing.index import IN_MEMORY, ConversationIndex
from actors.routing.list_watch import ListWatch
from actors.routing.names import NameClaim, Names, Naming
from actors.routing.room import Room
from actors.routing.trimming import BATCH, ConversationTrimming
from actors.vocabulary.answers import Done, ResolvedReference
from actors.vocabulary.errors import (
    GreenroomError,
    NameTaken,
    Overloaded,
    TurnFailed,
    UnknownConversation,
    WrongState,
)
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.items import text_of
from actors.vocabulary.naming import names_for, refused_name
from actors.vocabulary.records import AT_REST, Head
from actors.vocabulary.settings import AbortReason, Task

FAILURES_ALLOWED = 3  # in a row; then the conversation is given up, as every message fails
FAILURE_WINDOW_S = 60.0
STASH_LIMIT = 256  # messages for one conversation that is between two owners
LOOKUPS_LIMIT = 1024  # that wait for the disk; a client has far fewer in flight
NAMING_LENGTH = 400  # characters of a message that a name is made of; its first words are among them
LIST_LIMIT = 1000  # rows of a page, whatever is asked for

CHANGING = frozenset({EntryStatus.FINDING, EntryStatus.PARKING, EntryStatus.RECOVERING, EntryStatus.WAITING})


def _too_many_lookups() -> Overloaded:
    return Overloaded("too much is being looked up on disk already; try again")


def _already_exists(conversation: ConversationId) -> WrongState:
    return WrongState(f"conversation {conversation} exists")


def _name_taken(name: str) -> NameTaken:
    return NameTaken(f"another conversation is called {name!r}; choose another name")


def _retires(message: SessionInput) -> bool:
    return isinstance(message, ToConversation) and isinstance(message.command, Retire)


def _wanted_names(entry: Entry, message: SessionInput) -> tuple[str, ...]:
    """The names that the message may bring to a conversation that has none, as far as is known."""
    if not isinstance(message, ToConversation) or not isinstance(message.command, Send) or message.caller is None:
        return ()
    send, head = message.command, entry.head
    if send.name is not None or send.task is not Task.ANSWER or (head is not None and head.name is not None):
        return ()
    about = head.preview if head else ""
    return names_for(about or text_of(send.items)[:NAMING_LENGTH], message.conversation)


NameRequest = ToConversation | ClaimName | Naming | None  # None: a Create, which waits in its entry


class Routing:
    def __init__(self, max_live: int = 1000) -> None:
        self._index = ConversationIndex()
        self._names: Names[NameRequest] = Names()
        self._naming: dict[ConversationId, Naming] = {}
        self._newly_named: dict[ConversationId, Caller] = {}  # until the name is on disk
        self._lookups: set[int] = set()  # that are not answered yet
        self._numbers = count(1)
        self._generation = 0  # of the owner that was started last
        self._failed_lately: deque[tuple[float, ConversationId]] = deque()
        self._requests: dict[Caller, ConversationId] = {}
        self._unsettled: deque[ConversationId] = deque()  # of the last daemon, for which there was no room yet
        self._watch = ListWatch()
        self._trimming = ConversationTrimming()
        self._live = 0
        self._room = Room()
        self._max_live = max_live
        self._quiescing = False
        self._lost: dict[ConversationId, int] = {}  # with a turn of the last daemon, and the last event of that
        self._await_ends: list[Address[AllEnded]] = []
        self._await_answers: list[Address[AllAnswered]] = []

    def step(self, message: RegistryInput, now: float) -> list[RoutingEffect]:
        effects = self._decide(message, now)
        self._forgive(now)
        if self._await_ends and not self._lost:
            waiting, self._await_ends = self._await_ends, []
            effects = [*effects, *map(SayAllEnded, waiting)]
        if self._await_answers and not self._requests:
            asking, self._await_answers = self._await_answers, []
            effects = [*effects, *map(SayAllAnswered, asking)]
        return effects

    def _decide(self, message: RegistryInput, now: float) -> list[RoutingEffect]:
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
                return self._trim(message)
            case ConversationErased():
                return self.take_erased(message)
            case KnownHeads():
                return self._know(message)
            case LookupDone():
                return self.take_lookup(message)
            case ClaimName():
                return self._claim_name(message)
            case HeadChanged():
                return self._head_changed(message)
            case Settle():
                self._settle(message.caller)
                return []
            case ParkOffered() | SessionLeft() | SessionStayed():
                return self._park(message)
            case SessionFailed():
                return self._session_failed(message, now)
            case Quiesce():
                return self._quiesce(message)
            case AwaitAnswers():
                self._await_answers.append(message.reply_to)
                return []
            case AgentAbandoned():
                return self._recover(message.conversation)
            case _:
                assert_never(message)

    def _answer(self, query: RegistryQuery, caller: Caller) -> list[RoutingEffect]:
        match query:
            case Create():
                return self._create(query, caller)
            case ListConversations():
                return self._list(query, caller)
            case ListAwake():
                return [ReplyTo(caller, self._index.awake())]
            case ListApprovals():
                return [ReplyTo(caller, self._index.approvals(query.conversation))]
            case Resolve():
                return self._resolve(query.reference, caller)
            case ListBeginning():
                return self._answer_from_disk(FindBeginning(query.prefix, query.limit, caller))
            case WatchList():
                return [*self._watch.watch(query, caller)]
            case Remove():
                return self._remove(query.conversation, caller)
            case _:
                assert_never(query)

    def is_live(self, conversation: ConversationId) -> bool:
        entry = self._index.get(conversation)
        return entry is not None and entry.status not in {
            EntryStatus.FINDING,
            EntryStatus.PARKED,
            EntryStatus.REMOVING,
            EntryStatus.WAITING,
        }

    def statistics(self) -> dict[str, int]:
        return {
            "awake": len(self._index),
            "live": self._live,
            "requests": len(self._requests),
            "lookups": len(self._lookups),
            "watchers": len(self._watch),
        }

    # --- commands -------------------------------------------------------------------------------------------------

    def _route(self, message: ToConversation) -> list[RoutingEffect]:
        command, caller = message.command, message.caller
        if isinstance(command, Rename | ChangeSettings) and command.name:
            return self._rename(command.name, message)
        lasting = isinstance(command, Send | RecordJobEnd) or (isinstance(command, FindInput) and command.await_end)
        if lasting and caller is not None:
            self._requests[caller] = message.conversation
        return self._hand_over(message.conversation, message)

    def _settle(self, caller: Caller) -> None:
        """Forget the request, because its one answer is out."""
        self._requests.pop(caller, None)
        self._names.settle(caller)

    def _hand_over(self, conversation: ConversationId, message: SessionInput) -> list[RoutingEffect]:
        naming = self._naming.get(conversation)
        if naming is not None:
            return self._hold(naming.held, message)
        entry = self._index.get(conversation)
        if entry is None:
            return self._find(conversation, Entry(EntryStatus.FINDING, stash=[message]), caller_of(message))
        match entry.status:
            case EntryStatus.LIVE:
                caller, names = caller_of(message), _wanted_names(entry, message)
                if caller is not None and names:
                    return self._find_name(conversation, Naming(caller, [*names], [message]))
                self._room.use(conversation)
                return [Forward(conversation, message)]
            case EntryStatus.PARKED:
                return self._wake(conversation, entry, [message])
            case (
                EntryStatus.FINDING
                | EntryStatus.PARKING
                | EntryStatus.RECOVERING
                | EntryStatus.REMOVING
                | EntryStatus.WAITING
            ):
                return self._stash(entry, message)
            case EntryStatus.BROKEN:
                why = entry.failed.message if entry.failed else "unknown"
                text = f"the conversation can't be loaded by this daemon: {why}; restart the daemon"
                return self._refuse(caller_of(message), WrongState(text))
            case _:
                assert_never(entry.status)

    def _stash(self, entry: Entry, message: SessionInput) -> list[RoutingEffect]:
        return self._hold(entry.stash, message)

    def _hold(self, waiting: list[SessionInput], message: SessionInput) -> list[RoutingEffect]:
        caller = caller_of(message)
        if len(waiting) >= STASH_LIMIT and caller is not None:
            return self._refuse(caller, Overloaded("the conversation is being restarted; try again"))
        waiting.append(message)
        return []

    def keep(self, conversation: ConversationId, message: SessionInput) -> list[RoutingEffect]:
        """Keep a message to an owner that has just failed for the next one. News for the old owner is dropped.

        A removal is asked for again anyway, as `removal` is still set when the failure is reported.
        """
        entry = self._index.get(conversation)
        kept = isinstance(message, SAID_TO_IT) and not _retires(message)
        return self._stash(entry, message) if entry and kept else []

    def refuse(self, message: SessionInput, reason: str) -> list[RoutingEffect]:
        return self._refuse(
            caller_of(message), Overloaded(f"the conversation could not accept it: {reason}; try again")
        )

    def _refuse(self, caller: Caller | None, refusal: GreenroomError) -> list[RoutingEffect]:
        if caller is None:
            return []
        self._settle(caller)
        return [ReplyTo(caller, refusal)]

    def _refuse_all(self, messages: Iterable[SessionInput], refusal: GreenroomError) -> list[RoutingEffect]:
        return [effect for message in messages for effect in self._refuse(caller_of(message), refusal)]

    def _wake(
        self, conversation: ConversationId, entry: Entry, messages: Iterable[SessionInput]
    ) -> list[RoutingEffect]:
        if self._quiescing:
            self._index.let_rest(conversation)
            return self._refuse_all(messages, Overloaded("the daemon is stopping; try again in a moment"))
        first = tuple(messages)
        if self._live < self._max_live and any(_wanted_names(entry, message) for message in first):
            started = self._start(conversation, entry, Revived(), ())
            return [started, *(effect for message in first for effect in self._hand_over(conversation, message))]
        if self._live < self._max_live:
            return [self._start(conversation, entry, Revived(), first)]
        entry.stash.extend(first)
        return self._wait_for_room(conversation, entry)

    # --- finding --------------------------------------------------------------------------------------------------

    def _find(self, conversation: ConversationId, waiting: Entry, caller: Caller | None) -> list[RoutingEffect]:
        """Have the row looked up, because nothing is known of the conversation; messages wait meanwhile."""
        if self._is_behind:
            return self._refuse(caller, _too_many_lookups())
        self._index.add(conversation, waiting)
        return self._look_up(FindRow(conversation))

    @property
    def _is_behind(self) -> bool:
        return len(self._lookups) >= LOOKUPS_LIMIT

    def _look_up(self, lookup: Lookup) -> list[RoutingEffect]:
        number = next(self._numbers)
        self._lookups.add(number)
        return [AskDirectory(number, lookup)]

    def take_lookup(self, message: LookupDone) -> list[RoutingEffect]:
        """Go on with the result of a lookup. An answer that comes too late means nothing any more."""
        if message.number not in self._lookups:
            return []
        self._lookups.remove(message.number)
        match message.result:
            case RowFound(conversation, head):
                return self._row_found(conversation, head)
            case NameFound(caller, conversation):
                return self._name_found(caller, conversation)
            case NewFound():
                return self._new_found(message.result)
            case ReferenceFound(caller, answer):
                return [ReplyTo(caller, answer)]
            case ListRead(asked, page):
                return [ReplyTo(asked.caller, self._index.complete_page(asked, page))]
            case SurplusFound(conversations):
                self._trimming.take_batch(conversations)
                return self._trim_next() or self._end_trimming()
            case LookupFailed(asked, error):
                return self._lookup_failed(asked, error)
            case _:
                assert_never(message.found)

    def _lookup_failed(self, lookup: Lookup, error: GreenroomError) -> list[RoutingEffect]:
        match lookup:
            case FindRow(conversation):
                return self._refuse_unknown(conversation, error)
            case FindName(_, caller):
                return self._name_refused(caller, error)
            case FindNew():
                return self._refuse_creation(lookup, error)
            case FindReference(_, caller) | FindBeginning(_, _, caller) | ReadList(_, caller):
                return [ReplyTo(caller, error)]
            case FindSurplus():
                return self._end_trimming()
            case _:
                assert_never(lookup)

    def _row_found(self, conversation: ConversationId, head: Head | None) -> list[RoutingEffect]:
        entry = self._index[conversation]
        head = head or entry.head  # it may have been imported since
        if head is None:
            return self._refuse_unknown(conversation, UnknownConversation(f"no conversation {conversation}"))
        entry.head, entry.generation = head, head.generation
        return self._serve_waiting(conversation, entry)

    def _serve_waiting(self, conversation: ConversationId, entry: Entry) -> list[RoutingEffect]:
        """Serve the messages that waited until the conversation was found. If there are none, it may rest."""
        entry.status, first, entry.removal = EntryStatus.PARKED, entry.removal, None
        served = self._remove(conversation, first) if first is not None else []
        if entry.status is EntryStatus.PARKED and entry.stash:
            served += self._wake(conversation, entry, entry.empty_stash())
        served += self._ask_again(conversation, entry)
        self._index.let_rest(conversation)
        return served

    def _refuse_unknown(self, conversation: ConversationId, error: GreenroomError) -> list[RoutingEffect]:
        """Refuse all messages that waited for a conversation that was not found."""
        entry = self._index[conversation]
        self._index.forget(conversation)
        asking = [effect for caller in (entry.removal, *entry.removers) for effect in self._refuse(caller, error)]
        return [*self._refuse_all(entry.empty_stash(), error), *asking]

    def _resolve(self, reference: str, caller: Caller) -> list[RoutingEffect]:
        if self.is_live(ConversationId(reference)):
            return [ReplyTo(caller, ResolvedReference(ConversationId(reference)))]
        return self._answer_from_disk(FindReference(reference, caller))

    def _list(self, asked: ListConversations, caller: Caller) -> list[RoutingEffect]:
        query = replace(asked.query, limit=min(asked.query.limit, LIST_LIMIT))
        if asked.only is not None:
            return self._answer_from_disk(ReadList(query, caller, only=asked.only[:LIST_LIMIT]))
        if query.state in IN_MEMORY:
            return [ReplyTo(caller, self._index.awake_page(query))]
        return self._answer_from_disk(self._index.lookup_of(query, caller))

    def _answer_from_disk(self, lookup: FindReference | FindBeginning | ReadList) -> list[RoutingEffect]:
        return [ReplyTo(lookup.caller, _too_many_lookups())] if self._is_behind else self._look_up(lookup)

    # --- names ----------------------------------------------------------------------------------------------------

    def _claim(self, caller: Caller, claim: NameClaim[NameRequest]) -> GreenroomError | None:
        """Claim a name at once. It is granted if the disk, which is asked next, does not know it either."""
        if (refusal := refused_name(claim.name)) is not None:
            return refusal
        if self._is_behind:
            return _too_many_lookups()
        return None if self._names.claim(caller, claim) else _name_taken(claim.name)

    def _rename(self, name: str, message: ToConversation) -> list[RoutingEffect]:
        if message.caller is None:
            return []  # a claim ends with an answer
        refusal = self._claim(message.caller, NameClaim(name, message.conversation, message))
        if refusal is not None:
            return self._refuse(message.caller, refusal)
        return self._look_up(FindName(name, message.caller))

    def _claim_name(self, message: ClaimName) -> list[RoutingEffect]:
        refusal = self._claim(message.caller, NameClaim(message.name, message.conversation, message))
        if refusal is not None:
            return [SayNameClaimed(message.reply_to, NameClaimed(refusal))]
        return self._look_up(FindName(message.name, message.caller))

    def _name_found(self, caller: Caller, owner: ConversationId | None) -> list[RoutingEffect]:
        claim = self._names.claimed_by(caller)
        if claim is None:
            return []  # settled meanwhile
        if owner not in {None, claim.conversation}:
            return self._name_refused(caller, _name_taken(claim.name))
        match claim.request:
            case Naming():
                self._newly_named[claim.conversation] = caller
                return self._go_on_with_name(claim.conversation, claim.name)
            case ToConversation() as renaming:
                return self._hand_over(claim.conversation, renaming)
            case ClaimName() as asked:
                return [SayNameClaimed(asked.reply_to, NameClaimed())]
            case None:
                return []
            case _:
                assert_never(claim.request)

    def _name_refused(self, caller: Caller, refusal: GreenroomError) -> list[RoutingEffect]:
        claim = self._names.claimed_by(caller)
        if claim is not None and isinstance(claim.request, Naming):
            self._names.settle(caller)
            return self._try_next_name(claim.conversation, claim.request)
        if claim is not None and isinstance(claim.request, ClaimName):
            self._names.settle(caller)
            return [SayNameClaimed(claim.request.reply_to, NameClaimed(refusal))]
        return self._refuse(caller, refusal)

    def _find_name(self, conversation: ConversationId, naming: Naming) -> list[RoutingEffect]:
        """Find a free name for a conversation that has none. The message brings it, and all later ones wait.

        It is claimed like a name that a client asks for, so that no two conversations get the same.
        """
        self._naming[conversation] = naming
        return self._try_next_name(conversation, naming)

    def _try_next_name(self, conversation: ConversationId, naming: Naming) -> list[RoutingEffect]:
        while naming.left and not self._is_behind:
            name = naming.left.pop(0)
            if self._names.claim(naming.caller, NameClaim(name, conversation, naming)):
                return self._look_up(FindName(name, naming.caller))
        return self._go_on_with_name(conversation, "")

    def _go_on_with_name(self, conversation: ConversationId, name: str) -> list[RoutingEffect]:
        """Go on with the messages that waited for a name; an empty name says that none was found."""
        first, *others = self._naming.pop(conversation).held
        if isinstance(first, ToConversation) and isinstance(first.command, Send):
            first = replace(first, command=replace(first.command, name=name))
        return [effect for message in (first, *others) for effect in self._hand_over(conversation, message)]

    # --- room -----------------------------------------------------------------------------------------------------

    def _wait_for_room(self, conversation: ConversationId, entry: Entry) -> list[RoutingEffect]:
        entry.status = EntryStatus.WAITING
        self._room.waiting.append(conversation)
        return self._make_room()

    def _make_room(self) -> list[RoutingEffect]:
        """Ask one idle conversation at a time to leave, as long as others wait for room and one is left to ask."""
        if not self._room.waiting or self._room.asked_to_leave is not None:
            return []
        asked = self._room.next_to_ask(self._may_be_idle)
        if asked is None:
            return self._refuse_the_waiting()
        self._index[asked].status = EntryStatus.PARKING
        return [Forward(asked, Park())]

    def _may_be_idle(self, conversation: ConversationId) -> bool:
        entry = self._index.get(conversation)
        return (
            entry is not None
            and entry.status is EntryStatus.LIVE
            and entry.head is not None
            and entry.head.state in AT_REST
        )

    def _refuse_the_waiting(self) -> list[RoutingEffect]:
        most = f"{self._max_live} conversations are live and none is idle (greenroom.limits.live_sessions)"
        effects: list[RoutingEffect] = []
        while self._room.waiting:
            conversation = self._room.waiting.popleft()
            entry = self._index.get(conversation)
            if entry is None or entry.status is not EntryStatus.WAITING:
                continue
            entry.status = EntryStatus.PARKED
            full = Overloaded(f"{most}; try again when a turn has ended")
            effects += self._refuse_all(entry.empty_stash(), full)
            if entry.is_asleep:
                effects += self._ask_again(conversation, entry)
            else:  # its owner would have to decide, for whom there is no room either
                removers, entry.removers = entry.removers, []
                effects += [effect for caller in removers for effect in self._refuse(caller, full)]
            self._index.let_rest(conversation)
        return effects

    def _let_in(self) -> list[RoutingEffect]:
        """Use the room of a conversation that left: for those that wait, then for those of the last daemon."""
        effects: list[RoutingEffect] = []
        while self._room.waiting and self._live < self._max_live:
            conversation = self._room.waiting.popleft()
            entry = self._index.get(conversation)
            if entry is not None and entry.status is EntryStatus.WAITING:
                effects.append(self._start(conversation, entry, Revived(), tuple(entry.empty_stash())))
                effects += self._ask_again(conversation, entry)
        return [*effects, *self._settle_more(), *self._make_room()]

    def _note_departure(self, conversation: ConversationId) -> None:
        self._live -= 1
        self._room.leave(conversation)
        self._room.take_answer(conversation)

    def _start(
        self, conversation: ConversationId, entry: Entry, revived: Revived, first: tuple[SessionInput, ...]
    ) -> StartSession:
        if entry.status is not EntryStatus.RECOVERING:
            self._live += 1
        unborn = entry.head is None and entry.generation == 0
        entry.status = EntryStatus.LIVE
        self._room.use(conversation)
        entry.generation = self._generation = max(self._generation, entry.generation) + 1
        self._trimming.note_start(conversation)
        return StartSession(conversation, entry.generation, revived, first, unborn)

    def _create(self, query: Create, caller: Caller) -> list[RoutingEffect]:
        """Create a conversation, once its name is known to be free; its id is fresh. Meanwhile messages wait."""
        conversation, name = query.conversation, query.begin.name or None
        refusal: GreenroomError | None = None
        if conversation in self._index:
            refusal = _already_exists(conversation)
        elif name is not None:
            refusal = self._claim(caller, NameClaim(name, conversation, None))
        if refusal is not None:
            return self._refuse(caller, refusal)
        entry = Entry(EntryStatus.FINDING, stash=[ToConversation(conversation, query.begin, caller)])
        self._index.add(conversation, entry)
        if name is None:
            return self._serve_waiting(conversation, entry)
        return self._look_up(FindNew(conversation, name, caller))

    def _new_found(self, found: NewFound) -> list[RoutingEffect]:
        asked = found.asked
        if found.exists:
            return self._refuse_creation(asked, _already_exists(asked.conversation))
        if found.owner is not None:
            return self._refuse_creation(asked, _name_taken(asked.name))
        return self._serve_waiting(asked.conversation, self._index[asked.conversation])

    def _refuse_creation(self, asked: FindNew, refusal: GreenroomError) -> list[RoutingEffect]:
        """Refuse to create a conversation. If messages for it came meanwhile, it is looked up: it may exist."""
        entry = self._index[asked.conversation]
        del entry.stash[0]  # its beginning
        refused = self._refuse(asked.caller, refusal)
        if entry.stash or entry.removers:
            return [*refused, *self._look_up(FindRow(asked.conversation))]
        self._index.forget(asked.conversation)
        return refused

    def _cancel(self, message: CancelRequest) -> list[RoutingEffect]:
        conversation = self._requests.get(message.caller)
        if conversation is None or conversation not in self._index:
            return []  # settled already: what it did is done
        return self._hand_over(conversation, message)

    def _close_connection(self, message: ConnectionClosed) -> list[RoutingEffect]:
        for caller in [request for request in self._requests if request.connection == message.connection]:
            del self._requests[caller]
        self._watch.forget(message.connection)
        return self._tell_all(message)

    def _tell_all(self, message: ConnectionClosed | Quiesce) -> list[RoutingEffect]:
        """Tell every live owner, and the next owner where it changes."""
        effects: list[RoutingEffect] = []
        for conversation, entry in self._index.items():
            if conversation in self._naming:
                self._naming[conversation].held.append(message)
            elif entry.status is EntryStatus.LIVE:
                effects.append(Forward(conversation, message))
            elif entry.status in CHANGING:
                entry.stash.append(message)
        return effects

    def _quiesce(self, message: Quiesce) -> list[RoutingEffect]:
        self._quiescing = True
        return self._tell_all(message)

    # --- the index ------------------------------------------------------------------------------------------------

    def _know(self, message: KnownHeads) -> list[RoutingEffect]:
        """Settle what is not at rest: first running turns of the last daemon, then those that wait for an answer."""
        for head in message.heads:
            entry = self._index.get(head.conversation)
            if entry is None:
                self._index.add(head.conversation, Entry(head=head, generation=head.generation))
            elif entry.status is EntryStatus.FINDING:
                entry.head = head
        if message.ended is not None:
            self._await_ends.append(message.ended)
            self._lost |= {head.conversation: head.last_seq for head in message.heads if head.state in UNDER_WAY}
        unsettled = [head for head in message.heads if head.state not in AT_REST]
        unsettled.sort(key=lambda head: head.state == "waiting")
        self._unsettled.extend(head.conversation for head in unsettled)
        for head in message.heads:
            self._index.let_rest(head.conversation)
        return self._settle_more()

    def _settle_more(self) -> list[RoutingEffect]:
        """Load as many conversations as there is room for; the rest when another leaves."""
        effects: list[RoutingEffect] = []
        while self._unsettled and self._live < self._max_live:
            conversation = self._unsettled.popleft()
            entry = self._index.get(conversation)
            if entry is not None and entry.status is EntryStatus.PARKED:
                effects.append(self._start(conversation, entry, Revived(), ()))
        return effects

    def _head_changed(self, message: HeadChanged) -> list[RoutingEffect]:
        """Note a stored row. If the owner has left already (the lanes let that pass), there may be no entry."""
        head = message.head
        entry = self._index.get(head.conversation)
        if entry is None:
            entry = Entry(generation=head.generation)
            self._index.add(head.conversation, entry)
        if head.last_seq > self._lost.get(head.conversation, head.last_seq):
            del self._lost[head.conversation]
        if entry.given_up and entry.head is not None and entry.head.state == "failed" != head.state:
            entry.failures, entry.given_up = [], False  # somebody has restarted it: it may fail anew
        if (head.name or head.preview) and (caller := self._newly_named.pop(head.conversation, None)):
            self._names.settle(caller)
        came_or_went = entry.head is None or entry.head.archived != head.archived
        entry.head = head
        entry.pending = message.pending
        self._index.let_rest(head.conversation)
        return [*self._watch.announce_change()] if came_or_went else []

    # --- removing -------------------------------------------------------------------------------------------------

    def _remove(self, conversation: ConversationId, caller: Caller) -> list[RoutingEffect]:
        entry = self._index.get(conversation)
        if entry is None:
            return self._find(conversation, Entry(EntryStatus.FINDING, removal=caller), caller)
        if entry.is_asleep:
            return self._erase(conversation, entry, caller)
        match entry.status:
            case EntryStatus.PARKED if self._live >= self._max_live and not self._quiescing:
                entry.removers.append(caller)
                return self._wait_for_room(conversation, entry)
            case EntryStatus.PARKED:  # something is open there: its owner knows what
                effects = self._wake(conversation, entry, [ToConversation(conversation, Retire(), caller)])
                self._await_leave(entry, caller)
                return effects
            case EntryStatus.LIVE:
                self._await_leave(entry, caller)
                return [Forward(conversation, ToConversation(conversation, Retire(), caller))]
            case _:
                entry.removers.append(caller)
                return []

    def _await_leave(self, entry: Entry, caller: Caller) -> None:
        if entry.status is EntryStatus.LIVE:
            entry.status, entry.removal = EntryStatus.PARKING, caller

    def _erase(self, conversation: ConversationId, entry: Entry, caller: Caller | None) -> list[RoutingEffect]:
        entry.status, entry.removal = EntryStatus.REMOVING, caller
        return [EraseRows(conversation)]

    def take_erased(self, message: ConversationErased) -> list[RoutingEffect]:
        """Forget a conversation, as the disk has: a client or a daemon that dies before leaves no half of it."""
        entry = self._index.get(message.conversation)
        if entry is None or entry.status is not EntryStatus.REMOVING:
            return []
        if message.error is None:
            gone = self._finish_removal(message.conversation, entry)
            return gone if entry.removal is not None else [*gone, *(self._trim_next() or self._trim_more())]
        self._end_trimming()  # the next removal would fail, too
        return self._give_up_removal(message.conversation, entry, message.error)

    def _finish_removal(self, conversation: ConversationId, entry: Entry) -> list[RoutingEffect]:
        self._index.forget(conversation)
        self._newly_named.pop(conversation, None)
        gone = UnknownConversation(f"conversation {conversation} was deleted")
        too_late = (*map(caller_of, entry.empty_stash()), *entry.removers)
        done: list[RoutingEffect] = [ReplyTo(entry.removal, Done())] if entry.removal else []
        refused = (effect for caller in too_late for effect in self._refuse(caller, gone))
        return [*done, *refused, *self._watch.announce_change()]

    def _give_up_removal(
        self, conversation: ConversationId, entry: Entry, error: GreenroomError
    ) -> list[RoutingEffect]:
        """Serve the messages that waited, because the disk could not forget the conversation."""
        entry.status = EntryStatus.PARKED
        askers = (entry.removal, *entry.removers)
        waiting = tuple(entry.empty_stash())
        entry.removal, entry.removers = None, []
        self._index.let_rest(conversation)
        refused = [effect for caller in askers for effect in self._refuse(caller, error)]
        return refused + [effect for message in waiting for effect in self._hand_over(conversation, message)]

    def _ask_again(self, conversation: ConversationId, entry: Entry) -> list[RoutingEffect]:
        """Handle the requests to remove the conversation that came while it was between two owners."""
        removers, entry.removers = entry.removers, []
        return [effect for caller in removers for effect in self._remove(conversation, caller)]

    def _trim(self, message: Trim) -> list[RoutingEffect]:
        under_way, self._trimming.wanted = self._trimming.wanted is not None, message
        return [] if under_way else self._look_for_surplus(message)

    def _look_for_surplus(self, wanted: Trim) -> list[RoutingEffect]:
        self._trimming.begin_batch()
        awake = frozenset(conversation for conversation, entry in self._index.items() if not entry.is_asleep)
        return self._look_up(FindSurplus(wanted.most, wanted.untouched_since, BATCH, awake))

    def _trim_next(self) -> list[RoutingEffect]:
        """Delete one conversation at a time, as live ones need the disk first. Woken ones are left alone."""
        while not self._quiescing and (conversation := self._trimming.next_to_delete()) is not None:
            entry = self._index.get(conversation)
            if entry is None:
                entry = Entry()
                self._index.add(conversation, entry)
            elif not entry.is_asleep:
                continue
            return self._erase(conversation, entry, None)
        return []

    def _trim_more(self) -> list[RoutingEffect]:
        wanted = self._trimming.next_wish()
        return self._end_trimming() if wanted is None or self._quiescing else self._look_for_surplus(wanted)

    def _end_trimming(self) -> list[RoutingEffect]:
        self._trimming.end()
        return []

    # --- parking and failing --------------------------------------------------------------------------------------

    def _park(self, message: ParkOffered | SessionLeft | SessionStayed) -> list[RoutingEffect]:
        entry = self._index.get(message.conversation)
        if entry is None or entry.generation != message.generation:
            return []  # from a former owner
        match message, entry.status:
            case ParkOffered(), EntryStatus.LIVE:
                entry.status = EntryStatus.PARKING
                return [Forward(message.conversation, Park())]
            case SessionStayed(), EntryStatus.PARKING:
                entry.status, entry.removal = EntryStatus.LIVE, None
                waiting = [Forward(message.conversation, held) for held in entry.empty_stash()]
                again = self._ask_again(message.conversation, entry)
                asked = self._room.take_answer(message.conversation)
                return [*waiting, *again, *(self._make_room() if asked else ())]
            case SessionLeft(), EntryStatus.PARKING if entry.removal is not None:
                self._note_departure(message.conversation)
                return [*self._erase(message.conversation, entry, entry.removal), *self._let_in()]
            case SessionLeft(), EntryStatus.PARKING | EntryStatus.LIVE:
                self._note_departure(message.conversation)
                entry.status = EntryStatus.PARKED
                stashed = tuple(entry.empty_stash())
                started = [self._start(message.conversation, entry, Revived(), stashed)] if stashed else []
                effects = [*started, *self._let_in(), *self._ask_again(message.conversation, entry)]
                self._index.let_rest(message.conversation)
                return effects
            case _:
                return []

    def _session_failed(self, message: SessionFailed, now: float) -> list[RoutingEffect]:
        entry = self._index.get(message.conversation)
        if entry is None or entry.generation != message.generation:
            return []
        entry.failures = [*(failed_at for failed_at in entry.failures if failed_at > now - FAILURE_WINDOW_S), now]
        self._failed_lately.append((now, message.conversation))
        entry.status = EntryStatus.RECOVERING
        entry.stash[:0] = [leftover for leftover in message.leftovers if not _retires(leftover)]
        if entry.removal is not None and entry.removal not in message.survivors.callers:
            entry.removers.insert(0, entry.removal)
        entry.removal = None
        entry.failed = message
        naming = self._naming.get(message.conversation)
        waiting = (*entry.stash, *(naming.held if naming else ()))
        self._forget_requests(message.conversation, set(map(caller_of, waiting)))
        asked = self._room.take_answer(message.conversation)
        return [AbandonAgent(message.conversation), *(self._make_room() if asked else ())]

    def _recover(self, conversation: ConversationId) -> list[RoutingEffect]:
        """Start the next owner, as the processes are gone: it closes the turn as failed, and serves the readers."""
        entry = self._index.get(conversation)
        if entry is None or entry.status is not EntryStatus.RECOVERING or entry.failed is None:
            return []
        failed, times = entry.failed, len(entry.failures)
        if times > FAILURES_ALLOWED:
            self._note_departure(conversation)
            effects = [*self._break(entry, failed), *self._ask_again(conversation, entry), *self._let_in()]
            self._index.let_rest(conversation)
            return effects
        entry.failed = None
        entry.given_up = times == FAILURES_ALLOWED and not failed.unread
        revived = Revived(
            AbortReason.FAILED,
            failed.message,
            failed.traceback if entry.given_up else None,
            failed.survivors,
        )
        started = self._start(conversation, entry, revived, tuple(entry.empty_stash()))
        return [started, *self._ask_again(conversation, entry)]

    def _forgive(self, now: float) -> None:
        """Forget failures that are a minute old, and conversations of which nothing else is to be remembered."""
        while self._failed_lately and self._failed_lately[0][0] <= now - FAILURE_WINDOW_S:
            _, conversation = self._failed_lately.popleft()
            entry = self._index.get(conversation)
            if entry is not None:
                entry.failures = [failed_at for failed_at in entry.failures if failed_at > now - FAILURE_WINDOW_S]
                self._index.let_rest(conversation)

    def _forget_requests(self, conversation: ConversationId, kept: set[Caller | None]) -> None:
        """Forget the requests that the failed owner had taken; only those in `kept` can still be cancelled."""
        gone = [caller for caller, target in self._requests.items() if target == conversation and caller not in kept]
        for caller in gone:
            del self._requests[caller]

    def _break(self, entry: Entry, failed: SessionFailed) -> list[RoutingEffect]:
        """Give the conversation up; after a disk that could not be read, the next message wakes it once more."""
        entry.status = EntryStatus.BROKEN
        if failed.unread:
            entry.status, entry.failures, entry.failed = EntryStatus.PARKED, [], None
        error = TurnFailed(f"the conversation can't be loaded: {failed.message}")
        return self._turn_away(failed.survivors, entry.empty_stash(), error)

    def _turn_away(
        self, survivors: Survivors | None, waiting: Iterable[SessionInput], error: GreenroomError
    ) -> list[RoutingEffect]:
        """Refuse these readers and messages, as there will be no next owner."""
        readers, callers = (survivors.readers, survivors.callers) if survivors else ((), ())
        effects: list[RoutingEffect] = []
        for reader in readers:
            ended = Unsubscribed(reader.subscription, error.message)
            effects.append(EndSubscription(reader.connection, ended))
        for caller in (*callers, *map(caller_of, waiting)):
            effects.extend(self._refuse(caller, error))
        return effects
