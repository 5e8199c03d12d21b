"""All actors at once, with messages arriving in any order, and failures, parking and restarts thrown in.

Invariants at rest: histories are dense, a turn has one end, a request one answer, a
reader has seen exactly what is stored, and the journal never met two writers.
"""

import itertools
import random
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from actors.conversation.state import Limits
from actors.journal.directory import Directory
from actors.messages.conversation import (
    AnswerApproval,
    Begin,
    CancelRequest,
    Command,
    ConnectionClosed,
    Detach,
    Inspect,
    Interrupt,
    Rename,
    Restart,
    ResumeQueue,
    Send,
    SessionInput,
    ToConversation,
)
from actors.messages.journal import LookupDone, LookupResult, RunLookup
from actors.messages.orders import Completed, Crashed, InputWanted, ModelFailed, Outcome
from actors.messages.routing import Create, ListApprovals, ListConversations, Remove, ToRegistry, Trim
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Answer, AttachedReader
from actors.vocabulary.errors import StorageFull, UnknownConversation
from actors.vocabulary.ids import ApprovalId, Caller, CallId, ConnectionId, ConversationId, ItemId, SubscriptionId
from actors.vocabulary.items import text_of
from actors.vocabulary.records import ListQuery
from actors.vocabulary.settings import BusyPolicy, Decision
from tests.actors.conftest import Poison
from tests.fakes.agents import FakeAgents, Script
from tests.fakes.clock import ManualClock
from tests.fakes.daemon import SETTINGS, StagedDaemon
from tests.fakes.journal import FakeJournal
from tests.fakes.outbox import FakeOutbox
from tests.fakes.stage import Stage
from tests.support.work import command_asked, command_began, command_ended

CONVERSATIONS = tuple(ConversationId(f"{letter * 4}-0001") for letter in "abcd")
EDITORS = ("one", "two", "three")
TERMINAL = {"task_complete", "turn_aborted"}
SMALL = Limits(window_records=4, page_records=3, idle_park_s=60.0)  # pages, parking and lagging happen all the time


class LateDirectory(Directory):
    """An address for lookups that reads when it is told to, and answers later still, in any order."""

    def __init__(self, journal: FakeJournal, chance: random.Random) -> None:
        super().__init__(journal)
        self._chance = chance
        self._asked: list[RunLookup] = []
        self._read: list[tuple[RunLookup, LookupResult]] = []

    def __len__(self) -> int:
        return len(self._asked) + len(self._read)

    def tell(self, asked: RunLookup) -> None:
        self._asked.append(asked)

    def read(self) -> None:
        if self._asked:
            asked = self._asked.pop(self._chance.randrange(len(self._asked)))
            self._read.append((asked, self._answer(asked.lookup)))

    def answer(self) -> bool:
        """Answer a lookup; False if there is none."""
        if not self._read:
            self.read()
        if not self._read:
            return False
        asked, found = self._read.pop(self._chance.randrange(len(self._read)))
        asked.reply_to.tell(LookupDone(asked.number, found))
        return True


class World:
    """A daemon, its clients, and what is known about them independently of the actors."""

    def __init__(self, seed: int, poison: Poison) -> None:
        self.chance = random.Random(seed)
        self.poison = poison
        self.poison.chokes_on = self._is_bad
        self.journal = FakeJournal()
        self.clock = ManualClock()
        self.tally: Counter[str] = Counter()
        self._asked: set[Caller] = set()
        self._editors = dict.fromkeys(EDITORS, 0)
        self._questions: list[tuple[ConversationId, ApprovalId]] = []
        self._names = 0
        self._begin()

    def _begin(self) -> None:
        self.outbox = FakeOutbox(prompt=False)
        self.agents = FakeAgents(lambda order: self._script(order.conversation))
        self.stage = Stage(shuffle=self.chance)
        self.lookups = LateDirectory(self.journal, self.chance)
        self.daemon = StagedDaemon(
            stage=self.stage,
            journal=self.journal,
            agents=self.agents,
            outbox=self.outbox,
            clock=self.clock,
            limits=SMALL,
            max_live=3,
            directory=self.lookups,
        )
        self._asked.clear()

    def count(self) -> None:
        """Add what happened in this life to the tally."""
        lives = Counter(session.conversation for session in self.daemon.live)
        slices = [slice_ for reader in self.outbox.readers.values() for slice_ in reader.slices]
        self.tally["delivered"] += self.stage.delivered
        self.tally["removed"] += sum(
            isinstance(answer, UnknownConversation) and "deleted" in answer.message
            for answers in self.outbox.replies.values()
            for answer in answers
        )
        self.tally["woken"] += sum(count - 1 for count in lives.values())
        self.tally["paged"] += sum(not slice_.live for slice_ in slices)
        self.tally["lost"] = sum(
            record.type == "turn_aborted" and b'"reason":"lost"' in record.body
            for conversation in CONVERSATIONS
            for record in self.journal.history(conversation)
        )

    # --- what happens ---------------------------------------------------------------------------------------------

    def act(self) -> None:
        """Do something, and let some of what follows from it happen."""
        kinds = [
            *[self._send] * 8,
            *[self._create] * 2,
            *[self._attach] * 3,
            *[self._command] * 4,
            *[self._ready] * 6,
            *[self._agent] * 4,
            *[self._answer] * 3,
            self._cancel,
            self._remove,
            self._detach,
            self._close,
            self._pause,
            self._disk,
            *[self._look_up] * 6,
        ]
        self.chance.choice(kinds)()
        for _ in range(self.chance.randrange(12)):
            self.stage.step()

    def restart(self) -> None:
        """Kill -9, in the middle of whatever was going on."""
        self.count()
        self.tally["restarted"] += 1
        self._questions = [one for one in self._questions if self.chance.random() < 0.9]
        self._begin()

    def settle(self) -> None:
        """Bring everything to rest: the disk works, every reader reads, no message fails, every turn ends."""
        self.journal.refusing = self.journal.undeletable = None
        self.poison.chokes_on = lambda _: False
        for _ in range(200):
            while self.lookups.answer():
                self.stage.run()
            self.stage.run()
            self._end_turns()
            readied = [self.outbox.ready(one) for one in tuple(self.outbox.readers)]
            if not any((*readied, self.lookups, self.agents.running, self._open_turns(), self._resume_queues())):
                break
            if not self.agents.running and self._open_turns():
                self._unstick()
        else:
            raise AssertionError("the conversations don't come to rest")
        self.stage.run()
        self.poison.chokes_on = self._is_bad

    def _resume_queues(self) -> bool:
        """Resume the paused queues, as a person would; True if there were any."""
        states = [session._state for session in self.daemon.live if session.address.alive]
        paused = [
            state.facts.conversation for state in states if state and state.facts.paused and not state.facts.failed
        ]
        for conversation in paused:
            self.daemon.tell(conversation, ResumeQueue(), self._caller())
        return bool(paused)

    def _end_turns(self) -> None:
        for turn in self.agents.running:
            self.agents.end(turn, Completed("done"))

    def _open_turns(self) -> list[ConversationId]:
        return [one for one in CONVERSATIONS if self._is_open(one)]

    def _unstick(self) -> None:
        """Interrupt turns that wait for an answer without an agent, and let the disk be tried again."""
        self.clock.advance(10)
        for conversation in self._open_turns():
            self.daemon.tell(conversation, Interrupt(), self._caller())

    def _is_open(self, conversation: ConversationId) -> bool:
        kinds = Counter(record.type for record in self.journal.history(conversation))
        return kinds["task_started"] > sum(kinds[kind] for kind in TERMINAL)

    # --- one thing each -------------------------------------------------------------------------------------------

    def _caller(self) -> Caller:
        editor = self.chance.choice(EDITORS)
        connection = f"{editor}-{self._editors[editor]}"
        caller = self.daemon.caller(connection)
        self._asked.add(caller)
        return caller

    def _somewhere(self) -> ConversationId:
        return self.chance.choice(CONVERSATIONS)

    def _create(self) -> None:
        conversation, caller = self._somewhere(), self._caller()
        self._names += 1
        name = self.chance.choice(["x", "y", "z", None, f"name-{self._names}"])
        self.daemon.registry.tell(ToRegistry(Create(conversation, Begin(SETTINGS, name)), caller))

    def _send(self) -> None:
        words = "poison" if self.chance.random() < 0.04 else "hello"
        policy = self.chance.choice(tuple(BusyPolicy))
        self.daemon.send(
            self._somewhere(), words, caller=self._caller(), await_end=self.chance.random() < 0.5, policy=policy
        )

    def _attach(self) -> None:
        conversation = self._somewhere()
        last = len(self.journal.history(conversation))
        editor = self.chance.choice(EDITORS)
        after = self.chance.choice([0, 0, last, last // 2])
        subscription, _ = self.daemon.attach(conversation, after, connection=f"{editor}-{self._editors[editor]}")
        self._asked.add(Caller(ConnectionId(subscription.rpartition("-")[0]), int(subscription.rpartition("-")[2])))

    def _command(self) -> None:
        caller = self._caller()
        commands: list[Command] = [
            Interrupt(),
            Interrupt(kill=True),
            Inspect(),
            Rename(self.chance.choice(["x", "y", "z", None])),
            Restart(),
            ResumeQueue(),
        ]
        if self.chance.random() < 0.2:
            questions = (ToRegistry(ListConversations(ListQuery()), caller), ToRegistry(ListApprovals(), caller))
            self.daemon.registry.tell(self.chance.choice(questions))
        else:
            self.daemon.tell(self._somewhere(), self.chance.choice(commands), caller)

    def _ready(self) -> None:
        for subscription in self._readers():
            if self.chance.random() < 0.7:
                self.outbox.ready(subscription)

    def _readers(self) -> list[SubscriptionId]:
        return [one for one, reader in self.outbox.readers.items() if reader.ended is None and reader.looks]

    def _agent(self) -> None:
        for turn in self.agents.running[:2]:
            outcomes: list[Outcome] = [Completed("done"), ModelFailed("no model"), Crashed("a bug")]
            self.agents.end(turn, self.chance.choice(outcomes))

    def _answer(self) -> None:
        if self._questions:
            conversation, approval = self.chance.choice(self._questions)
            decision = self.chance.choice(tuple(Decision))
            self.daemon.tell(conversation, AnswerApproval(approval, decision), self._caller())

    def _cancel(self) -> None:
        if self._asked:
            self.daemon.registry.tell(CancelRequest(self.chance.choice(sorted(self._asked, key=str))))

    def _detach(self) -> None:
        if readers := self._readers():
            gone = self.chance.choice(readers)
            conversation = self.outbox.readers[gone].conversation
            self.daemon.tell(conversation, Detach(gone), self._caller())
            self._forget(gone)

    def _close(self) -> None:
        """Close a client, whose answers are lost; the same person comes back as another connection."""
        editor = self.chance.choice(EDITORS)
        gone = ConnectionId(f"{editor}-{self._editors[editor]}")
        self.daemon.registry.tell(ConnectionClosed(gone))
        self._editors[editor] += 1
        self._asked = {caller for caller in self._asked if caller.connection != gone}
        for subscription in self._readers():
            if subscription.startswith(f"{gone}-"):
                self._forget(subscription)

    def _forget(self, subscription: SubscriptionId) -> None:
        """Ignore what still comes for this reader."""
        self.outbox.readers[subscription].looks = False

    def _pause(self) -> None:
        self.clock.advance(self.chance.choice([1, 30, 61, 200]))

    def _remove(self) -> None:
        """Remove a conversation: for a person, for two at once, or because there are too many."""
        if self.chance.random() < 0.3:
            self.daemon.registry.tell(Trim(most=2))
            return
        conversation = self._somewhere()
        for _ in range(self.chance.choice([1, 1, 2])):
            self.daemon.registry.tell(ToRegistry(Remove(conversation), self._caller()))

    def _look_up(self) -> None:
        self.chance.choice((self.lookups.read, self.lookups.answer))()

    def _disk(self) -> None:
        self.journal.undeletable = StorageFull("no room") if self.chance.random() < 0.1 else None
        self.journal.refusing = StorageFull("no room") if self.chance.random() < 0.3 else None

    def _is_bad(self, message: SessionInput) -> bool:
        command = message.command if isinstance(message, ToConversation) else message
        if isinstance(command, Send):
            return text_of(command.items) == "poison"
        return not isinstance(command, Begin) and self.chance.random() < 0.002

    def _script(self, conversation: ConversationId) -> Script:
        item, number = ItemId(f"i{self.chance.random()}"), self.chance.randrange(6)
        call = CallId(f"c-{item}")
        message = (
            (ev.AgentMessageDelta(delta="hel", item_id=item), ev.AgentMessageDelta(delta="lo", item_id=item)),
            (ev.AgentMessage(message="hello", item_id=item),),
        )
        command = (
            (command_began("make", call=call, item=item),),
            (command_ended(call=call, item=item),),
        )
        match number:
            case 0:
                return (*message, Completed("hello"))
            case 1:
                return ((InputWanted(),), *message, (InputWanted(),), Completed("hello"))
            case 2:
                approval = ApprovalId(f"a-{item}")
                self._questions = [*self._questions[-20:], (conversation, approval)]
                asked = command_asked("make", call=call, approval=approval).model_copy(update={"item_id": item})
                return ((asked,), *command, Completed("made"))
            case 3:
                return (*command, *message, Completed("hello"))
            case 4:
                return message  # goes on until somebody ends it
            case _:
                return (message[0], Crashed("a bug"))

    # --- what must be so ------------------------------------------------------------------------------------------

    def check(self) -> None:
        for conversation in CONVERSATIONS:
            self._check_history(conversation)
        for subscription in self._readers():
            self._check_reader(subscription)
        live = [session for session in self.daemon.live if session.address.alive]
        self._check_memory()
        assert len({session.conversation for session in live}) == len(live), "two owners of one conversation"
        if self.daemon.routing.statistics()["requests"]:
            held = {claim.caller for session in live if session._state for claim in session._state.claims}
            assert set(self.daemon.routing._routing._requests) <= held, "a request id outlived its turn"
        for caller in self._asked:
            assert len(self.outbox.replies.get(caller, ())) == 1, f"{caller}: {self.outbox.replies.get(caller)}"

    def _check_memory(self) -> None:
        """At rest the registry knows who is live, broken or has something open, and claims no name."""
        routing = self.daemon.routing._routing
        asleep = [one for one, entry in routing._index.items() if entry.is_at_rest]
        assert not asleep, "what sleeps is on disk alone"
        assert not any((routing._lookups, len(routing._names), routing._trimming.wanted))
        names = [head.name for head in self.journal.list_page(ListQuery(archived=True)).heads if head.name]
        assert len(set(names)) == len(names), "two conversations of one name"

    def _check_history(self, conversation: ConversationId) -> None:
        history = self.journal.history(conversation)
        assert [record.seq for record in history] == list(range(1, len(history) + 1))
        started = [record.turn for record in history if record.type == "task_started"]
        ended = [record.turn for record in history if record.type in TERMINAL]
        assert started == ended, "every turn has one beginning and one end, in order"

    def _check_reader(self, subscription: SubscriptionId) -> None:
        reader = self.outbox.readers[subscription]
        if not reader.slices:  # refused: its cursor was beyond the end, or there was no room for its conversation
            assert not any(isinstance(answer, AttachedReader) for answer in self._answers_about(subscription))
            return
        history = self.journal.history(reader.conversation)
        assert reader.records == list(history[len(history) - len(reader.records) :]), (
            "what a reader saw is what is stored"
        )
        assert not history or reader.after in {None, len(history)}, "a reader that reads is at the end"

    def _answers_about(self, subscription: SubscriptionId) -> list[Answer]:
        connection, _, request = subscription.rpartition("-")
        return self.outbox.replies.get(Caller(ConnectionId(connection), int(request)), [])


def live_through(seed: int, acts: int, poison: Poison) -> Counter[str]:
    """Act, come to rest, check everything; sometimes the daemon dies before that."""
    world = World(seed, poison)
    for number in range(acts):
        world.act()
        if number % 60 == 59:
            world.settle()
            world.check()
        elif world.chance.random() < 0.004:
            world.restart()
    world.settle()
    world.check()
    world.count()
    return world.tally


def live_long(messages: int, acts: int, first_seed: int, poison: Poison) -> None:
    """Live until so many messages were delivered and every wanted case has happened, which may take some more."""
    tally: Counter[str] = Counter()
    for seed in itertools.count(first_seed):
        tally += live_through(seed, acts, poison)
        rare = {what: tally[what] for what in ("woken", "restarted", "lost", "paged", "removed")}
        rare["failed"] = poison.times
        if tally["delivered"] >= messages and all(count >= 5 for count in rare.values()):
            return
        assert tally["delivered"] < 3 * messages, rare


def test_twenty_thousand_messages_in_any_order(poison: Poison) -> None:
    live_long(20_000, 240, 0, poison)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(seed=st.integers(0, 1 << 32))
def test_whatever_the_order_of_arrival(poison: Poison, seed: int) -> None:
    live_through(seed, 60, poison)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_two_hundred_thousand_messages_in_any_order(poison: Poison) -> None:
    live_long(200_000, 480, 10_000, poison)
