"""Everything at once: every command in every state, a disk that lags and refuses, readers that sleep, deaths.

Nothing here asks the core what is right. `Story` judges what became durable; the ledgers below judge what clients and
the agent were told.
"""

from collections import Counter, deque
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from actors.messages.conversation import (
    AnswerApproval,
    AppendRefused,
    Archive,
    Attach,
    CancelRequest,
    ChangeSettings,
    Command,
    Committed,
    ConnectionClosed,
    Detach,
    EditInput,
    Inspect,
    Interrupt,
    MoveInput,
    PageRead,
    Park,
    PassOn,
    QueueEnd,
    Ready,
    Rename,
    Restart,
    ResumeQueue,
    Revived,
    Send,
    SessionInput,
    TimerFired,
    WithdrawAll,
    WithdrawInput,
)
from actors.messages.effects import (
    Deliver,
    EndSubscription,
    FeedOthers,
    Leave,
    OfferToPark,
    ReadPage,
    ReplyTo,
    SetTimer,
    Settle,
    Slice,
    Stay,
)
from actors.messages.orders import (
    AgentNews,
    AgentOutput,
    AgentStopped,
    AllStored,
    AnswerAgent,
    Completed,
    Crashed,
    GiveInput,
    InputWanted,
    ModelFailed,
    OfferInput,
    Outcome,
    RunAgent,
    StopAgent,
    StorageAwaited,
    SuspendAgent,
    Suspended,
    TakeMore,
    TurnEnded,
    UseSettings,
)
from actors.vocabulary import events as ev
from actors.vocabulary.answers import AcceptedInput, Answer, AttachedReader, InterruptedTurn, TurnResult
from actors.vocabulary.conditions import Ending
from actors.vocabulary.errors import GreenroomError, StorageFull, TurnFailed
from actors.vocabulary.ids import ApprovalId, Caller, ConnectionId, ItemId, SubscriptionId, TurnId
from actors.vocabulary.settings import AbortReason, BusyPolicy, Decision, Settings
from tests.actors.conversation import words as w
from tests.actors.conversation.model import Story
from tests.support.core_driver import SETTINGS, Core, said, with_limits

pytestmark = pytest.mark.long(takes_s=10)

LIMITS = with_limits(window_records=4, page_records=3, queue=6)
OTHER = SETTINGS.model_copy(update={"model": "model-b"})
CLIENTS = st.sampled_from(["ann", "ben", "cem"])
DECISIONS = st.sampled_from(list(Decision))
ORDINARY = settings(
    max_examples=420,  # all situations of EXPECTED come up
    stateful_step_count=60,
    phases=(Phase.generate, Phase.shrink),
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
SITUATIONS: Counter[str] = Counter()


@dataclass
class Agent:
    """The other side of the orders: what runs, and what it waits for."""

    turn: TurnId | None = None
    stopping: bool = False
    suspending: bool = False
    wants_input: bool = False
    unstored: list[str] = field(default_factory=list)  # commands that wait until their beginning is on disk
    asked: set[ApprovalId] = field(default_factory=set)
    commands: list[str] = field(default_factory=list)
    message: str | None = None
    settings: Settings | None = None
    deaf: bool = False  # some of what it said was refused by the disk


@dataclass
class Subscription:
    """The events that one client has seen through one cursor."""

    connection: str
    seq: int
    can_answer: bool = True
    shown: dict[str, str] = field(default_factory=dict)
    in_hands: bool = False
    fresh: bool = True
    alive: bool = True


class Conversation(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.core = Core(limits=LIMITS, commits=False, ready=False, begin=True)
        self.story = Story()
        self.story.take(tuple(self.core.disk.records))
        self.agent = Agent()
        self.told: deque[Committed | AppendRefused] = deque()
        self.readers: dict[str, Subscription] = {}
        self.asked: dict[Caller, SessionInput | Command] = {}
        self.answered: dict[Caller, Answer] = {}
        self.settled: Counter[Caller] = Counter()
        self.forgiven: set[Caller] = set()
        self.hit: dict[Caller, TurnId | None] = {}
        self.timers: list[str] = ["idle"]
        self.said: dict[str, str] = {}
        self.old_turns: list[TurnId] = []
        self.questions: list[ApprovalId] = []
        self.passed: dict[ApprovalId, set[str]] = {}
        self.parking = self.prompt = self.working = self.judging = False
        self.disk_failed = False
        self.looked = len(self.core.effects)
        self.names = 0

    # --- the one door ---------------------------------------------------------------------------------------------

    def say(self, message: SessionInput | Command, caller: Caller | None = None) -> None:
        if caller is not None:
            self.asked[caller] = message
            self.hit[caller] = self.core.state.facts.turn.id if self.core.state.facts.turn else None
        self.core.say(message, caller)
        self.look()
        self.judge_passed()
        if self.prompt and not self.working:
            self.working = True  # what the disk answers comes in here as well
            self.work()
            self.hear()
            self.working = False

    def look(self) -> None:
        """Judge every effect, in order."""
        self.judging = True
        new, self.looked = self.core.effects[self.looked :], len(self.core.effects)
        for effect in new:
            match effect:
                case ReplyTo():
                    self.on_reply(effect)
                case Settle(caller):
                    self.settle(caller)
                case Deliver():
                    self.on_slice(effect.subscription, effect.slice)
                case EndSubscription():
                    self.readers[effect.news.subscription].alive = False
                case SetTimer(name):
                    self.timers.append(name)
                case OfferToPark():
                    self.parking = True
                case Leave():
                    self.leave()
                case Stay() | ReadPage() | FeedOthers():
                    pass
                case _:
                    self.on_order(effect)
        self.judging = False

    def name(self, kind: str) -> str:
        self.names += 1
        return f"{kind}-{self.names}"

    def caller(self, client: str) -> Caller:
        self.names += 1
        return Caller(ConnectionId(client), self.names)

    def saw(self, situation: str) -> None:
        SITUATIONS[situation] += 1

    # --- what callers are told ------------------------------------------------------------------------------------

    def on_reply(self, reply: ReplyTo) -> None:
        caller, answer = reply.caller, reply.answer
        assert caller in self.asked, "an answer belongs to a request"
        assert caller not in self.answered, f"answered twice: {self.answered.get(caller)}, {answer}"
        self.answered[caller] = answer
        if reply.settles:
            self.settle(caller)
        match answer:
            case InterruptedTurn():
                self.on_interrupted(caller, answer)
            case TurnResult():
                self.on_result(caller, answer)
            case AcceptedInput():
                assert answer.input in self.story.words, "accepted means stored"
                self.saw("a repeated request was recognised" if answer.duplicate else "input was accepted")
            case GreenroomError():
                self.saw(f"refused: {answer.code}")
            case _:
                pass

    def settle(self, caller: Caller) -> None:
        self.settled[caller] += 1
        assert self.settled[caller] == 1, "a request is over once"

    def on_interrupted(self, caller: Caller, answer: InterruptedTurn) -> None:
        hit = self.hit[caller]
        if answer.turn is None:
            assert hit is None or self.disk_failed, "the interrupt hit a turn"
            self.saw("an interrupt found nothing")
            return
        assert answer.turn == hit or self.disk_failed, "an interrupt is answered by the turn it hit"
        end = self.story.ended.get(answer.turn)
        assert end is not None or self.disk_failed, "the turn has ended"
        if isinstance(end, ev.TaskComplete) and not self.disk_failed:
            assert answer.ending in {Ending.COMPLETED, Ending.ERROR}
            self.saw("an interrupt came in the last moment")
        elif isinstance(end, ev.TurnAborted) and not self.disk_failed:
            assert answer.ending is not None
            assert answer.ending.value == end.reason.value

    def on_result(self, caller: Caller, answer: TurnResult) -> None:
        assert answer.turn in self.story.ended, "a result is given when the end is on disk"
        assert answer.seq <= len(self.core.disk.records)
        message = self.asked[caller]
        assert isinstance(message, Send)
        ids = [one for one, words in self.story.first_words.items() if words == w.text(message.items)]
        if message.key is None:
            assert len(ids) == 1, "what was said is in history once"
            assert self.story.taken_by.get(ids[0]) == answer.turn or ids[0] in self.story.withdrawn
        self.saw(f"a call ended: {answer.ending.value}")

    # --- what readers are given -----------------------------------------------------------------------------------

    def on_slice(self, name: SubscriptionId, slice_: Slice) -> None:
        reader = self.readers[name]
        assert not reader.in_hands, "one slice in flight"
        assert reader.alive
        reader.in_hands = True
        if slice_.gap is not None:
            assert slice_.gap[0] == reader.seq + 1
            reader.seq = slice_.gap[1]
            self.saw("a reader was told of a gap")
        for record in slice_.records:
            assert record.seq == reader.seq + 1, "no gap and no duplicate"
            assert record == self.core.disk.records[record.seq - 1], "only what is on disk"
            reader.seq += 1
            item = getattr(ev.durable_adapter.validate_json(record.body), "item_id", "")
            for key in [key for key in reader.shown if key.split("/")[0] == item]:
                del reader.shown[key]
        for delta in slice_.deltas:
            self.on_delta(reader, delta)
        if slice_.live and reader.fresh:
            reader.fresh = False
            if reader.seq == self.story.seq:
                assert {one.approval_id for one in slice_.pending or ()} == set(self.story.questions)
        if slice_.lagged:
            self.saw("a reader lagged")
        if not slice_.live:
            self.saw("a reader read a page")
            reader.fresh = True

    def on_delta(self, reader: Subscription, delta: ev.Delta) -> None:
        if isinstance(delta, ev.WorkOutput):
            key, more = f"{delta.item_id}/{delta.stream}", delta.chunk.decode()
        else:
            key, more = f"{delta.item_id}/{delta.type}", delta.delta
        reader.shown[key] = reader.shown.get(key, "") + more
        if not self.agent.deaf:
            assert self.said[key].startswith(reader.shown[key]), "deltas join without a gap"
        self.saw("a reader was shown a delta")

    # --- what the agent is told -----------------------------------------------------------------------------------

    def on_order(self, order: object) -> None:
        agent, story = self.agent, self.story
        match order:
            case RunAgent():
                assert agent.turn is None, "one agent at a time"
                assert story.turn == order.turn, "the agent starts when its turn is on disk"
                assert order.seq <= story.seq
                taken = [one for one, turn in story.taken_by.items() if turn == order.turn]
                assert order.resume or [one.id for one in order.inputs] == taken
                self.agent = Agent(order.turn, commands=[], settings=order.settings)
                self.saw("a turn was resumed" if order.resume else "a turn was run")
            case StopAgent():
                assert agent.turn == order.turn, "what does not run is not stopped"
                assert not agent.stopping or order.kill, "a second stop kills"
                self.saw("a second stop killed" if agent.stopping else "an agent was stopped")
                agent.stopping = True
            case SuspendAgent():
                assert agent.turn == order.turn
                agent.suspending = True
                self.saw("an agent was put to sleep")
            case GiveInput():
                assert all(story.taken_by[one.id] == order.turn for one in order.inputs), "given means stored"
                if agent.turn == order.turn:
                    assert agent.wants_input
                    agent.wants_input = False
            case AnswerAgent():
                assert order.decision not in {Decision.ABORT, Decision.WITHDRAWN}
                assert story.decided.get(order.approval) in {None, order.decision}
                if agent.turn == order.turn:
                    agent.asked.remove(order.approval)
                if order.approval not in story.decided:
                    self.saw("a standing answer was given")
            case TakeMore():
                assert agent.turn == order.turn
            case AllStored():
                if agent.turn == order.turn and not agent.deaf:
                    item = agent.unstored.pop(0)
                    bodies = (one.body for one in self.core.disk.records if one.type == "work_began")
                    assert any(f'"{item}"'.encode() in body for body in bodies)
                    self.saw("a command's beginning was stored")
            case UseSettings():
                if agent.turn == order.turn:
                    agent.settings = order.settings
                    self.saw("a running turn got other settings")
            case OfferInput():
                assert agent.turn in {None, order.turn} or order.turn in self.old_turns, "at worst it is late"
            case _:
                raise AssertionError(order)

    # --- people ---------------------------------------------------------------------------------------------------

    @initialize(prompt=st.sampled_from([True, True, False]), beginning=st.integers(0, 18))
    def hello(self, *, prompt: bool, beginning: int) -> None:
        """Begin in a state that chance alone finds too seldom."""
        self.prompt = prompt or beginning > 1
        self.send("ann", BusyPolicy.STEER, await_end=True, own=beginning == 17, key=None)
        match beginning:
            case 2 | 3:
                self.agent_asks(standing=False, deadline=False, patch=False, for_good=False)
                self.everybody_leaves()
                if beginning == 3:
                    self.answer_the_last("ann", Decision.APPROVED)
            case 4:
                self.send("ben", BusyPolicy.STEER, await_end=False, own=False, key=None)
                self.interrupt("ann", kill=False)
                self.agent_ends(0, [])
            case 5:
                self.agent_asks(standing=True, deadline=False, patch=False, for_good=True)
            case 6:
                self.agent_asks(standing=False, deadline=True, patch=False, for_good=False)
                self.timers.remove(f"approval:{self.questions[-1]}")
                self.say(TimerFired(f"approval:{self.questions[-1]}"))
                self.saw("a timer: approval")
            case 7:
                self.crash(failed=False)
            case 8:
                self.send("ben", BusyPolicy.ENQUEUE, await_end=True, own=False, key=None)
                self.interrupt("ann", kill=False)
                self.agent_ends(0, [])
            case 9:
                self.agent_ends(2, [])
            case 10:
                self.agent_asks(standing=False, deadline=False, patch=False, for_good=False)
                self.pass_on("ann", asked=False)
                if any(one.startswith("unanswerable:") for one in self.timers):
                    self.nobody_comes(late=True)
            case 11:
                self.agent_asks(standing=False, deadline=False, patch=False, for_good=False)
                self.answer_the_last("ann", Decision.ABORT)
                self.agent_ends(0, [])
            case 12:
                for _ in range(LIMITS.queue + 1):
                    self.send("ben", BusyPolicy.ENQUEUE, await_end=False, own=False, key=None)
            case 13:
                self.send("ben", BusyPolicy.STEER, await_end=False, own=False, key=None)
                self.interrupt("ann", kill=False)
                self.agent_ends(0, [])
                self.send("cem", BusyPolicy.STEER, await_end=True, own=False, key=None)
            case 14:
                self.attach("ben", 0.0, now=True, can_answer=True)
                self.agent_asks(standing=False, deadline=False, patch=False, for_good=False)
                self.pass_on("ben", asked=True)
            case 15:
                self.agent_ends(0, [])
                self.everybody_leaves()
            case 16:
                self.attach("ben", 0.0, now=True, can_answer=True)
                self.agent_speaks([0, 5, 6])
            case 17:
                settings = self.core.state.facts.settings
                other = SETTINGS if settings == OTHER else OTHER
                self.say(ChangeSettings(other, ("model",), settings, by="ben"), self.caller("ben"))
            case 18:
                for _ in range(2):
                    self.send("ben", BusyPolicy.ENQUEUE, await_end=False, own=False, key=None)
                self.rearrange(self.caller("cem"), "cem", flag=True)
            case _:
                pass
        self.prompt = prompt

    @rule(
        client=CLIENTS,
        policy=st.sampled_from(list(BusyPolicy)),
        await_end=st.booleans(),
        own=st.sampled_from([False, False, False, True]),
        key=st.sampled_from([None, None, None, "k1", "k2"]),
    )
    def send(self, client: str, policy: BusyPolicy, *, await_end: bool, own: bool, key: str | None) -> None:
        caller, words = self.caller(client), said(self.name("words"))
        self.say(Send(words, policy, OTHER if own else None, key, await_end, client), caller)

    @rule(client=CLIENTS, kill=st.booleans(), clear=st.sampled_from([False, False, False, True]))
    def interrupt(self, client: str, *, kill: bool, clear: bool = False) -> None:
        self.say(Interrupt(client, kill, clear=clear), self.caller(client))

    @rule(data=st.data(), client=CLIENTS)
    def cancel(self, data: st.DataObject, client: str) -> None:
        open_sends = [one for one, what in self.asked.items() if isinstance(what, Send) and one not in self.forgiven]
        if open_sends:
            caller = data.draw(st.sampled_from(open_sends[-4:]))
            self.say(CancelRequest(caller, client))
            self.saw("a request was cancelled")

    @precondition(lambda self: self.questions)
    @rule(data=st.data(), client=CLIENTS, decision=DECISIONS)
    def answer(self, data: st.DataObject, client: str, decision: Decision) -> None:
        question = data.draw(st.sampled_from(self.questions[-3:]))
        self.say(AnswerApproval(question, decision, client), self.caller(client))

    @precondition(lambda self: self.story.questions)
    @rule(client=CLIENTS, decision=st.sampled_from([Decision.APPROVED, Decision.DENIED, Decision.ABORT]))
    def answer_the_last(self, client: str, decision: Decision) -> None:
        self.say(AnswerApproval(list(self.story.questions)[-1], decision, client), self.caller(client))

    @precondition(lambda self: self.story.questions)
    @rule(client=CLIENTS, asked=st.booleans())
    def pass_on(self, client: str, *, asked: bool) -> None:
        question = list(self.story.questions)[-1]
        if self.core.state.facts.approval(question) is None:
            return
        passed = self.passed.setdefault(question, set())
        if asked:
            passed.add(client)
        left = self.who_can_answer(question)
        before = len(self.core.appends)
        self.say(PassOn(ConnectionId(client), question, asked, client))
        denied = self.resolved_since(before)
        assert denied == (asked and not left), "the last one asked denies, and nobody else"
        self.saw("a question was passed on" + (" by the last one" if denied else ""))

    def resolved_since(self, appends: int) -> bool:
        """True if an answer was emitted, even if the disk refused it: then the question is open again."""
        return any(
            one.type == "approval_resolved" for append in self.core.appends[appends:] for one in append.records
        )

    def who_can_answer(self, question: ApprovalId) -> set[str]:
        readers = {one.connection for one in self.readers.values() if one.alive and one.can_answer}
        return readers - self.passed[question]

    def judge_passed(self) -> None:
        """Check that a timer runs for every question that was passed on and that nobody here can answer."""
        for question in self.passed:
            if self.core.state.facts.approval(question) is not None and not self.who_can_answer(question):
                assert self.timers.count(f"unanswerable:{question}") == 1

    @rule(client=CLIENTS, what=st.integers(0, 7), flag=st.booleans())
    def manage(self, client: str, what: int, *, flag: bool) -> None:
        caller, pending = self.caller(client), self.core.state.facts.pending
        match what:
            case 0:
                self.say(Rename(self.name("name")), caller)
            case 1:
                self.say(Archive(flag), caller)
                self.say(Archive(archived=False), self.caller(client))
            case 2:
                seen = self.core.state.facts.settings if len(self.core.disk.records) % 2 else OTHER
                self.say(ChangeSettings(OTHER if flag else SETTINGS, ("model",), seen, by=client), caller)
            case 3 if pending:
                self.say(WithdrawInput(pending[-1].id, "not needed"), caller)
            case 4:
                self.say(Restart(client), caller)
            case 5:
                self.say(Inspect(), caller)
            case 6 if len(pending) > 1:
                self.rearrange(caller, client, flag=flag)
            case _:
                self.say(ResumeQueue(), caller)

    def rearrange(self, caller: Caller, client: str, *, flag: bool) -> None:
        """Do to the queue what people do, but for emptying it: that is rare."""
        first, *_, last = self.core.state.facts.pending
        self.say(EditInput(first.id, said(self.name("edited")), client), caller)
        self.say(MoveInput(last.id, QueueEnd.FIRST if flag else first.id, client), self.caller(client))
        if len(self.core.disk.records) % 8 == 0:
            self.say(WithdrawAll("all of it", client), self.caller(client))

    def hang_up(self, client: str) -> None:
        self.forgiven.update(one for one in self.asked if one.connection == client)
        for reader in self.readers.values():
            reader.alive = reader.alive and reader.connection != client
        self.say(ConnectionClosed(ConnectionId(client)))

    @precondition(lambda self: self.story.questions and self.prompt)
    @rule()
    def everybody_leaves(self) -> None:
        """Hang up all clients, so that the idle timer finds a conversation in which only a question is left."""
        for client in ("ann", "ben", "cem"):
            self.hang_up(client)
        for _ in range(2):
            if "idle" in self.timers:
                self.core.now += LIMITS.idle_park_s
                self.timers.remove("idle")
                self.say(TimerFired("idle"))
            if self.agent.suspending:
                self.agent_ends(0, [])
            if self.parking:
                self.park()

    @rule(client=CLIENTS, what=st.integers(0, 19))
    def mischief(self, client: str, what: int) -> None:
        """Cause a rare event."""
        match what:
            case 0 | 1 | 2:
                self.core.disk.refuses = StorageFull("full")
            case 3 | 4:
                self.core.disk.refuses = None
            case 5 | 6:
                self.crash(failed=True)
            case 7:
                self.crash(failed=True, given_up=True)
            case 8:
                self.crash(failed=False)
            case 9 | 10:
                self.hang_up(client)
            case 11 | 12:
                self.detach()
            case 13 | 14:
                self.prune()
            case _:
                pass

    # --- readers --------------------------------------------------------------------------------------------------

    @rule(client=CLIENTS, where=st.floats(0, 1), now=st.booleans(), can_answer=st.sampled_from([True, True, False]))
    def attach(self, client: str, where: float, *, now: bool, can_answer: bool) -> None:
        name = self.name("reader")
        after = None if now else round(where * self.core.state.committed)
        cursor = self.core.state.committed if after is None else after
        self.readers[name] = Subscription(client, cursor, can_answer)
        caller = self.caller(client)
        self.say(Attach(ConnectionId(client), SubscriptionId(name), after, not can_answer), caller)
        assert isinstance(self.answered[caller], AttachedReader)

    def detach(self) -> None:
        name = next((name for name, one in self.readers.items() if one.alive), None)
        if name is None:
            return
        self.readers[name].alive = False
        self.say(Detach(SubscriptionId(name)), self.caller("ann"))

    @precondition(lambda self: any(one.in_hands and one.alive for one in self.readers.values()))
    @rule(data=st.data(), everybody=st.booleans())
    def ready(self, data: st.DataObject, *, everybody: bool) -> None:
        names = [name for name, one in self.readers.items() if one.in_hands and one.alive]
        for name in names if everybody else [data.draw(st.sampled_from(names))]:
            self.readers[name].in_hands = False
            self.say(Ready(SubscriptionId(name)))

    @precondition(lambda self: self.core.pages)
    @rule()
    def page(self) -> None:
        wanted = self.core.pages.popleft()
        self.say(PageRead(wanted.subscription, self.core.disk.page(wanted)))

    def prune(self) -> None:
        if not self.core.pages:
            self.core.disk.first_seq = max(self.core.disk.first_seq, round(self.story.seq / 2))

    # --- the disk -------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.core.disk.under_way)
    @rule(tell=st.sampled_from([True, True, True, False]), all_of_it=st.booleans())
    def disk(self, *, tell: bool, all_of_it: bool) -> None:
        self.work(1 if not all_of_it else None)
        if tell:
            self.hear()

    @precondition(lambda self: self.told)
    @rule()
    def hear(self) -> None:
        while self.told:
            answer = self.told.popleft()
            self.agent.deaf = self.agent.deaf or isinstance(answer, AppendRefused)
            self.say(answer)
        if not self.core.disk.under_way:
            self.compare()

    def work(self, count: int | None = None) -> None:
        self.core.disk.take_text()
        while self.core.disk.under_way and count != 0:
            append, _ = self.core.disk.under_way[0]
            answer = self.core.disk.answer_oldest()
            if isinstance(answer, Committed):
                self.story.take(append.records)
            else:
                self.disk_failed = True
                self.saw("the disk refused")
            self.told.append(answer)
            self.core.disk.take_text()
            count = None if count is None else count - 1

    def compare(self) -> None:
        """Compare the state that the journal gives back with the live one."""
        assert self.core.disk.restored(LIMITS).facts == self.core.state.durable == self.core.state.facts
        assert self.core.state.facts.seq == self.story.seq

    # --- time -----------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.timers)
    @rule(data=st.data(), late=st.booleans())
    def timer(self, data: st.DataObject, *, late: bool) -> None:
        self.fire(data.draw(st.sampled_from(sorted(set(self.timers)))), late=late)

    @precondition(lambda self: any(one.startswith("unanswerable:") for one in self.timers))
    @rule(late=st.booleans())
    def nobody_comes(self, *, late: bool) -> None:
        self.fire(next(one for one in self.timers if one.startswith("unanswerable:")), late=late)

    def fire(self, name: str, *, late: bool) -> None:
        self.core.now += LIMITS.idle_park_s if late else 1.0
        self.timers.remove(name)
        kind, _, question = name.partition(":")
        before = len(self.core.appends)
        self.say(TimerFired(name))
        self.saw(f"a timer: {kind}")
        if kind == "unanswerable" and self.resolved_since(before):
            assert not self.who_can_answer(ApprovalId(question)), "somebody could have answered"
            self.saw("what nobody could answer was denied")

    @precondition(lambda self: self.parking)
    @rule()
    def park(self) -> None:
        self.parking = False
        self.say(Park())

    def leave(self) -> None:
        """Leave after an orderly parking; the next message wakes the same state."""
        assert not [epoch for _, epoch in self.core.disk.under_way if epoch == self.core.state.epoch]
        stored = len(self.core.disk.records)
        self.work()  # what follows something that was refused is refused too, and nobody is there to hear it
        self.told.clear()
        assert len(self.core.disk.records) == stored
        assert not any(one.alive for one in self.readers.values())
        assert not [one for one in self.asked if one not in self.answered and one not in self.forgiven]
        before = self.core.state.facts
        self.saw("it was parked" + (" with a question" if before.turn else ""))
        self.timers.clear()
        self.core.state = self.core.disk.restored(LIMITS)
        self.core.say(Revived())
        assert self.core.state.facts == before

    # --- the end of a life ----------------------------------------------------------------------------------------

    def crash(self, *, failed: bool, given_up: bool = False) -> None:
        self.core.disk.refuses = None
        self.work()
        self.told.clear()
        self.timers.clear()
        self.core.pages.clear()
        self.parking = False
        self.agent = Agent()
        if not failed:
            self.passed.clear()
            self.forgiven.update(self.asked)
            for reader in self.readers.values():
                reader.alive = False
        for reader in self.readers.values():
            reader.shown.clear()
            reader.fresh = True
        owed = {one for one in self.asked if one not in self.answered} - self.forgiven
        self.core.crash(
            AbortReason.FAILED if failed else AbortReason.LOST, gave_up="Traceback" if failed and given_up else None
        )
        self.look()
        for caller in owed:
            assert isinstance(self.answered[caller], TurnFailed), "who was owed an answer by a dead actor gets one"
        self.saw("the actor failed" if failed else "the daemon died")

    # --- the agent ------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.agent.turn and (self.agent.stopping or not self.blocked()))
    @rule(choices=st.lists(st.integers(0, 9), min_size=1, max_size=4))
    def agent_speaks_on(self, choices: list[int]) -> None:
        self.agent_speaks(choices)

    def agent_speaks(self, choices: list[int]) -> None:
        batch = tuple(news for choice in choices if not self.blocked() for news in self.words(choice))
        turn = self.agent.turn
        assert turn is not None
        before = self.core.effects.count(TakeMore(turn))
        self.say(AgentOutput(turn, batch))
        assert self.core.effects.count(TakeMore(turn)) == before + 1, "every batch is taken"

    @precondition(lambda self: self.agent.turn and not self.blocked())
    @rule(choices=st.lists(st.integers(0, 9), min_size=2, max_size=6))
    def agent_works(self, choices: list[int]) -> None:
        self.agent_speaks(choices)

    @precondition(lambda self: self.agent.turn and not self.blocked())
    @rule(client=CLIENTS, prompt=st.booleans())
    def agent_is_steered(self, client: str, *, prompt: bool) -> None:
        self.send(client, BusyPolicy.STEER, await_end=False, own=False, key=None)
        if self.agent.turn and prompt:
            self.agent_speaks([8])

    @precondition(lambda self: self.agent.turn and not self.blocked())
    @rule(standing=st.booleans(), deadline=st.booleans(), patch=st.booleans(), for_good=st.booleans())
    def agent_asks(self, *, standing: bool, deadline: bool, patch: bool, for_good: bool) -> None:
        while self.agent.commands and not deadline:
            self.say_out(*self.words(7))
        item, question = self.name("item"), ApprovalId(self.name("question"))
        command = ("rm", "x") if standing else ("rm", item)
        request = w.ask_patch(question, item) if patch else w.ask(question, item, words=command)
        self.questions.append(question)
        self.agent.asked.add(question)
        self.say_out(w.call(item), request.model_copy(update={"deadline_s": 30.0 if deadline else None}))
        if for_good and standing:
            self.say(AnswerApproval(question, Decision.APPROVED_FOR_SESSION, "ben"), self.caller("ben"))
            if self.agent.turn and not self.blocked():
                self.agent_asks(standing=True, deadline=False, patch=False, for_good=False)

    @precondition(lambda self: self.agent.turn)
    @rule(outcome=st.integers(0, 5), last=st.lists(st.integers(0, 7), max_size=3))
    def agent_ends(self, outcome: int, last: list[int]) -> None:
        agent, turn = self.agent, self.agent.turn
        assert turn is not None
        ends: list[Outcome] = [Completed("done"), Completed(), ModelFailed("502"), Crashed("a bug"), AgentStopped()]
        if agent.stopping:
            ends = [
                AgentStopped(),
                AgentStopped(),
                AgentStopped(),
                Completed("in time"),
                ModelFailed("cut"),
                Crashed("cut"),
            ]
        elif agent.suspending and agent.asked:
            ends = [Suspended()]
        elif self.blocked() and outcome:
            return
        end = ends[outcome % len(ends)]
        heard = () if isinstance(end, Suspended) else last
        batch = tuple(news for choice in heard if not self.blocked() for news in self.words(choice))
        self.old_turns.append(turn)
        self.agent = Agent()
        self.say(TurnEnded(turn, end, batch))

    @precondition(lambda self: any(turn in self.story.ended for turn in self.old_turns))
    @rule(data=st.data(), end=st.booleans())
    def late_news(self, data: st.DataObject, *, end: bool) -> None:
        turn = data.draw(st.sampled_from([turn for turn in self.old_turns if turn in self.story.ended]))
        facts = self.core.state.facts
        late = TurnEnded(turn, Completed("late")) if end else AgentOutput(turn, (w.delta("late"), w.message("late")))
        effects = self.core.say(late)
        self.look()
        assert self.core.state.facts == facts, "late news changes nothing"
        assert all(isinstance(one, Deliver | ReadPage | SetTimer) for one in effects)

    def blocked(self) -> bool:
        return self.agent.wants_input or bool(self.agent.asked)

    def say_out(self, *news: AgentNews) -> None:
        turn = self.agent.turn
        assert turn is not None
        self.say(AgentOutput(turn, news))

    def words(self, choice: int) -> tuple[AgentNews, ...]:
        """An event that an agent may emit now."""
        agent = self.agent
        match choice:
            case 0 | 1 | 2:
                agent.message = agent.message or self.name("message")
                return (self.note(w.delta(self.name("word"), agent.message)),)
            case 3 if agent.message:
                item, agent.message = agent.message, None
                return (w.message(self.said[f"{item}/agent_message_delta"], item),)
            case 4:
                item = self.name("thought")
                return (self.note(w.thought("hm", item)), w.section_break(item), self.note(w.thought("so", item)))
            case 5:
                item = self.name("item")
                agent.commands.append(item)
                agent.unstored.append(item)
                return (w.call(item), w.begin(item), StorageAwaited())
            case 6 if agent.commands:
                return (self.note(w.chunk(self.name("line").encode(), agent.commands[-1])),)
            case 7 if agent.commands:
                item = agent.commands.pop()
                return (w.end(item), w.output(item))
            case 8:
                agent.wants_input = True
                return (InputWanted(),)
            case 9:
                return (w.tokens(), w.end("never begun"), w.output("never called"))
            case _:
                return (w.plan(),)

    def note(self, delta: ev.Delta) -> ev.Delta:
        if isinstance(delta, ev.WorkOutput):
            key, more = f"{delta.item_id}/{delta.stream}", delta.chunk.decode()
        else:
            key, more = f"{delta.item_id}/{delta.type}", delta.delta
        self.said[key] = self.said.get(key, "") + more
        return delta

    # --- when everything has come to rest -------------------------------------------------------------------------

    def teardown(self) -> None:
        if self.judging or self.working:
            return  # a rule was broken: report that, not its consequences
        self.core.disk.refuses = None
        for _ in range(100):
            if self.settle_down():
                break
        else:
            raise AssertionError("it does not come to rest")
        self.compare()
        self.at_rest()
        SITUATIONS.update(self.story.situations)

    def settle_down(self) -> bool:
        """Let everybody do once what they are expected to do. True when nobody has anything to do."""
        self.work()
        self.hear()
        for name, reader in self.readers.items():
            if reader.in_hands and reader.alive:
                reader.in_hands = False
                self.say(Ready(SubscriptionId(name)))
        while self.core.pages:
            self.page()
        if self.agent.turn is not None:
            self.shown_in_full()
            assert self.agent.settings == self.story.running_settings, "an agent has the settings that are on disk"
            turn, self.agent = self.agent.turn, Agent()
            self.say(TurnEnded(turn, AgentStopped() if self.core.now % 2 else Completed("at last")))
        elif self.story.questions and not self.core.disk.under_way:
            question = next(iter(self.story.questions))
            self.say(AnswerApproval(question, Decision.DENIED, "cem"), self.caller("cem"))
        elif "storage" in self.timers:
            self.timers.remove("storage")
            self.say(TimerFired("storage"))
        else:
            idle = not (self.core.disk.under_way or self.told or self.core.pages)
            return idle and not any(one.in_hands and one.alive for one in self.readers.values())
        return False

    def shown_in_full(self) -> None:
        """Check that readers that are up to date have seen all that is in progress."""
        tails = {key: words for key, words in self.said.items() if ItemId(key.split("/")[0]) in self.story.items}
        for reader in self.readers.values():
            up_to_date = reader.alive and not reader.in_hands and reader.seq == self.core.state.facts.seq
            if up_to_date and not self.agent.deaf:
                assert {key: reader.shown.get(key) for key in tails} == tails
                self.saw("a reader saw all that was in progress")

    def at_rest(self) -> None:
        assert self.story.turn is None
        for reader in self.readers.values():
            if reader.alive:
                assert reader.seq == self.story.seq, "every reader has everything"
        waiting = {self.story.first_words[one] for one in self.story.waiting}
        for caller, message in self.asked.items():
            if caller in self.answered or caller in self.forgiven:
                continue
            assert isinstance(message, Send), f"{message} was never answered"
            assert message.await_end
            assert message.key or w.text(message.items) in waiting, f"{message} was never answered"
            self.saw("a call waits in a paused queue")


def run(profile: settings) -> None:
    run_state_machine_as_test(Conversation, settings=profile)


@pytest.mark.timeout(300)  # a failure is made small before it is shown
def test_ten_thousand_steps_of_everything_break_no_rule_and_reach_every_situation() -> None:
    SITUATIONS.clear()
    run(ORDINARY)
    missing = {situation for situation in EXPECTED if not SITUATIONS[situation]}
    assert not missing


@pytest.mark.soak(takes_s=120)
def test_two_hundred_thousand_steps_of_everything_break_no_rule() -> None:
    run(settings(ORDINARY, max_examples=2000, stateful_step_count=100, derandomize=False))


EXPECTED = (
    "a call ended: completed",
    "a call ended: error",
    "a call ended: failed",
    "a call ended: interrupted",
    "a call ended: replaced",
    "a call waits in a paused queue",
    "a message ran",
    "a message ran before those that are held",
    "a question was answered: abort",
    "a question was answered: approved",
    "a question was answered: approved_for_session",
    "a question was answered: denied",
    "a question was answered: withdrawn",
    "a question was passed on",
    "a question was passed on by the last one",
    "a reader lagged",
    "a reader read a page",
    "a reader saw all that was in progress",
    "a reader was shown a delta",
    "a reader was told of a gap",
    "a repeated request was recognised",
    "a request was cancelled",
    "a running turn got other settings",
    "a second stop killed",
    "a standing answer was given",
    "a timer: approval",
    "a timer: idle",
    "a timer: storage",
    "a timer: unanswerable",
    "a turn ended: complete",
    "a turn ended: failed",
    "a turn ended: interrupted",
    "a turn ended: lost",
    "a turn ended: replaced",
    "a turn was resumed",
    "a turn was run",
    "an agent was put to sleep",
    "an agent was stopped",
    "an interrupt came in the last moment",
    "an interrupt found nothing",
    "an urgent input ran",
    "an urgent input ran although the queue was paused",
    "input was accepted",
    "input was edited",
    "input was moved",
    "input was withdrawn",
    "it was parked",
    "it was parked with a question",
    "late steering started a turn",
    "partial text was kept",
    "refused: already_answered",
    "refused: busy",
    "refused: cancelled",
    "refused: queue_full",
    "refused: settings_moved",
    "refused: storage_full",
    "refused: wrong_state",
    "settings were changed",
    "settings were changed while a turn had its own",
    "steering was taken",
    "the actor failed",
    "the daemon died",
    "the disk refused",
    "the queue was paused",
    "the queue was resumed",
    "the queue went on",
    "what nobody could answer was denied",
)
