"""A small model of the histories that a conversation may have, whatever happened; it knows nothing of the core.

`Story` reads what became durable, one append at a time, and objects to everything that a history must not contain.
"""

from collections import Counter
from dataclasses import dataclass, field

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, InputId, ItemId, TurnId
from actors.vocabulary.records import Record
from actors.vocabulary.settings import AbortReason, BusyPolicy, Decision, Settings
from tests.actors.conversation.words import text

TERMINAL = (ev.TaskComplete, ev.TurnAborted)


@dataclass
class Story:
    seq: int = 0
    turn: TurnId | None = None
    ended: dict[TurnId, ev.TaskComplete | ev.TurnAborted] = field(default_factory=dict)
    settings: Settings | None = None
    own: Settings | None = None  # of the turn
    failed: bool = False
    paused: bool = False
    waiting: dict[InputId, BusyPolicy] = field(default_factory=dict)
    withdrawn: set[InputId] = field(default_factory=set)
    words: dict[InputId, str] = field(default_factory=dict)
    first_words: dict[InputId, str] = field(default_factory=dict)  # before anybody edited them
    taken_by: dict[InputId, TurnId] = field(default_factory=dict)
    items: set[ItemId] = field(default_factory=set)
    calls: dict[CallId, ItemId] = field(default_factory=dict)
    questions: dict[ApprovalId, ev.ApprovalRequested] = field(default_factory=dict)
    decided: dict[ApprovalId, Decision] = field(default_factory=dict)
    situations: Counter[str] = field(default_factory=Counter)

    def take(self, records: tuple[Record, ...]) -> None:
        """Take the events of one decision, which all happened at one moment."""
        events = [ev.durable_adapter.validate_json(record.body) for record in records]
        place = 0
        while place < len(events):
            self._number(records[place])
            if isinstance(events[place], ev.TaskStarted):
                place = self._start(records, events, place)
            elif isinstance(events[place], ev.UserMessage):
                place = self._join(records, events, place)
            else:
                self._take(records[place], events[place], events[place + 1 :])
                place += 1
        self._at_rest()

    def _number(self, record: Record) -> None:
        assert record.seq == self.seq + 1, "numbers are dense"
        assert (record.type == "session_configured") == (record.seq == 1), "a conversation begins once"
        self.seq += 1

    def _at_rest(self) -> None:
        """Check that no input waits that could run while nothing runs."""
        if self.turn is None and not self.failed:
            assert BusyPolicy.INTERRUPT not in self.waiting.values(), "urgent input was left behind"
            assert self.paused or not self.waiting, "input waits for nothing"
            assert BusyPolicy.STEER not in self.waiting.values(), "what steers has no turn to join"
        if self.turn is None:
            assert self.waiting or not self.paused, "nothing is held by a pause"

    # --- turns and their input ------------------------------------------------------------------------------------

    def _start(self, records: tuple[Record, ...], events: list[ev.DurableEvent], place: int) -> int:
        turn = records[place].turn
        assert turn is not None
        assert self.turn is None, "one turn at a time"
        assert turn not in self.ended, "a turn's id is used once"
        assert not self.failed, "a conversation that was given up starts nothing"
        self.turn = turn
        self._begin_with(events[place])
        inputs, end = self._messages(records, events, place + 1)
        assert inputs, "a turn begins with what was said"
        self._judge_start(inputs)
        self._mark_taken(inputs)
        return end

    @property
    def running_settings(self) -> Settings | None:
        return self.own or self.settings

    def _begin_with(self, started: ev.DurableEvent) -> None:
        assert isinstance(started, ev.TaskStarted)
        self.own = started.settings

    def _change(self, event: ev.SettingsChanged) -> None:
        """Only models differ in this test. A turn with a model of its own takes the new one, too."""
        assert {one.name for one in event.changed} == {"model"}, "a change of nothing is no event"
        assert event.settings != self.settings or self.own is not None, "a change of nothing is no event"
        self.settings = event.settings
        self.own = self.own and self.own.model_copy(update={"model": event.settings.model})
        self.situations["settings were changed" + (" while a turn had its own" if self.own else "")] += 1

    def _judge_start(self, inputs: list[InputId]) -> None:
        urgent = self._waiting(BusyPolicy.INTERRUPT)
        steering, queue = self._waiting(BusyPolicy.STEER), self._waiting(BusyPolicy.ENQUEUE)
        if urgent:
            assert inputs == urgent[:1], "what interrupts runs next, in its order"
            self.situations["an urgent input ran" + (" although the queue was paused" if self.paused else "")] += 1
            return
        if inputs[-1] not in self.waiting:
            assert not inputs[:-1], "a message goes alone"
            self.situations["a message ran" + (" before those that are held" if self.paused else "")] += 1
        elif steering:
            assert inputs == steering, "what steered too late starts the next turn, all of it"
            self.situations["late steering started a turn"] += 1
        else:
            assert not self.paused, "a paused queue starts nothing"
            assert inputs == queue[:1], "the queue runs in order, one at a time"
            self.situations["the queue went on"] += 1

    def _join(self, records: tuple[Record, ...], events: list[ev.DurableEvent], place: int) -> int:
        assert self.turn is not None, "input is taken by a turn"
        self.seq -= 1  # counted again below
        inputs, end = self._messages(records, events, place)
        steering = self._waiting(BusyPolicy.STEER)
        assert inputs == steering, "a turn takes everything that steers it, in order, and nothing else"
        self._mark_taken(inputs)
        self.situations["steering was taken"] += 1
        return end

    def _messages(
        self, records: tuple[Record, ...], events: list[ev.DurableEvent], place: int
    ) -> tuple[list[InputId], int]:
        inputs: list[InputId] = []
        while place < len(events):
            message = events[place]
            if not isinstance(message, ev.UserMessage):
                break
            self._number(records[place])
            assert records[place].turn == self.turn
            assert message.input_id is not None
            assert message.input_id not in self.taken_by, "input is taken once"
            assert message.input_id not in self.withdrawn, "withdrawn input is not taken"
            if message.input_id in self.waiting:
                assert text(message.items) == self.words[message.input_id], "what runs is what waited, as edited"
            self.words[message.input_id] = text(message.items)
            self.first_words.setdefault(message.input_id, text(message.items))
            inputs.append(message.input_id)
            place += 1
        return inputs, place

    def _waiting(self, policy: BusyPolicy) -> list[InputId]:
        return [one for one, its in self.waiting.items() if its is policy]

    def _mark_taken(self, inputs: list[InputId]) -> None:
        assert self.turn is not None
        for one in inputs:
            self.waiting.pop(one, None)
            self.taken_by[one] = self.turn

    # --- everything else ------------------------------------------------------------------------------------------

    def _take(self, record: Record, event: ev.DurableEvent, rest: list[ev.DurableEvent]) -> None:
        assert record.turn == self.turn, "an event belongs to the turn that is open"
        match event:
            case ev.InputQueued() | ev.InputWithdrawn() | ev.QueuePaused() | ev.QueueResumed():
                self._take_queue(event)
            case ev.InputEdited():
                assert event.input_id in self.waiting, "only what waits is edited"
                self.words[event.input_id] = text(event.items)
                self.situations["input was edited"] += 1
            case ev.InputMoved():
                self._move(event)
            case ev.ConversationFailed() | ev.ConversationRestarted():
                self.failed = isinstance(event, ev.ConversationFailed)
            case ev.TaskComplete() | ev.TurnAborted():
                self._end(event, rest)
            case ev.SessionConfigured():
                self.settings = event.settings
            case ev.SettingsChanged():
                self._change(event)
            case ev.ConversationRenamed() | ev.ConversationArchived():
                pass
            case _:
                assert self.turn is not None, f"{event.type} outside a turn"
                self._take_work(event)

    def _take_queue(self, event: ev.InputQueued | ev.InputWithdrawn | ev.QueuePaused | ev.QueueResumed) -> None:
        match event:
            case ev.InputQueued():
                assert event.input_id not in self.words, "input is accepted once"
                self.words[event.input_id] = self.first_words[event.input_id] = text(event.items)
                self.waiting[event.input_id] = event.policy
            case ev.InputWithdrawn():
                del self.waiting[event.input_id]
                self.withdrawn.add(event.input_id)
                self.situations["input was withdrawn"] += 1
            case ev.QueuePaused():
                urgent = self._waiting(BusyPolicy.INTERRUPT)
                if self.turn is not None:  # which was to be replaced, and is interrupted
                    assert urgent
                    kept = {one: how for one, how in self.waiting.items() if one not in urgent}
                    self.waiting = {**dict.fromkeys(urgent, BusyPolicy.ENQUEUE), **kept}  # its place in line is kept
                    self.situations["a replacement waits for somebody"] += 1
                else:
                    assert self._waiting(BusyPolicy.STEER) or not self.paused
                    steering = dict.fromkeys(self._waiting(BusyPolicy.STEER), BusyPolicy.ENQUEUE)
                    rest = {one: how for one, how in self.waiting.items() if one not in {*urgent, *steering}}
                    self.waiting = {**{one: self.waiting[one] for one in urgent}, **steering, **rest}
                assert event.queued == len(self.waiting) - len(self._waiting(BusyPolicy.INTERRUPT)) > 0
                self.paused = True
                self.situations["the queue was paused"] += 1
            case ev.QueueResumed():
                assert self.paused
                self.paused = False
                self.situations["the queue was resumed"] += 1

    def _move(self, event: ev.InputMoved) -> None:
        how = self.waiting.pop(event.input_id)
        order = [*self.waiting.items()]
        place = len(order) if event.before is None else [one for one, _ in order].index(event.before)
        assert event.before is None or order[place][1] is how, "what waits alike changes places"
        self.waiting = dict([*order[:place], (event.input_id, how), *order[place:]])
        self.situations["input was moved"] += 1

    def _end(self, event: ev.TaskComplete | ev.TurnAborted, rest: list[ev.DurableEvent]) -> None:
        assert self.turn is not None, "a turn ends once"
        assert not self.items, "what was begun has ended"
        assert not self.calls, "every call has its output"
        assert not self.questions, "no question outlives its turn"
        self.ended[self.turn] = event
        self.turn = None
        why = event.reason.value if isinstance(event, ev.TurnAborted) else "complete"
        self.situations[f"a turn ended: {why}"] += 1
        if isinstance(event, ev.TurnAborted) and event.reason is not AbortReason.REPLACED and not self.paused:
            said = next((one for one in rest if not isinstance(one, ev.InputWithdrawn)), None)
            gone = sum(isinstance(one, ev.InputWithdrawn) for one in rest)
            left = len(self.waiting) - len(self._waiting(BusyPolicy.INTERRUPT)) - gone
            assert isinstance(said, ev.QueuePaused) or left <= 0, "an interrupted turn pauses the queue"

    def _take_work(self, event: ev.DurableEvent) -> None:
        match event:
            case ev.ToolCall():
                assert event.call_id not in self.calls
                self.calls[event.call_id] = event.item_id
            case ev.ToolOutput():
                del self.calls[event.call_id]
            case ev.WorkBegan():
                assert event.item_id not in self.items
                self.items.add(event.item_id)
            case ev.WorkEnded():
                self.items.remove(event.item_id)
            case ev.ApprovalRequested():
                assert event.approval_id not in {*self.questions, *self.decided}, "a question is asked once"
                self.questions[event.approval_id] = event
            case ev.ApprovalResolved():
                del self.questions[event.approval_id]
                assert event.approval_id not in self.decided, "a question is answered once"
                self.decided[event.approval_id] = event.decision
                self.situations[f"a question was answered: {event.decision.value}"] += 1
            case ev.AgentMessage() if event.partial:
                self.situations["partial text was kept"] += 1
            case _:
                pass
