"""The owners of processes, in cases that no real process can be made to show, on a table that the test writes."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest

from actors.vocabulary.ids import TurnId
from supervisor.work.processes.command import COMMAND, INSTANCE, TURN
from supervisor.work.processes.table import Process
from supervisor.work.processes.tree import Scope, Tree

MINE, OTHERS = TurnId("mine"), TurnId("others")
PARENT, ORPHAN = 1_000_001, 1_000_002  # above every number that a system gives


TAGS = {MINE: 101, OTHERS: 99}


def run_of(turn: str) -> str:
    return f"run of {turn}"


def marks(turn: str) -> dict[str, str]:
    return {INSTANCE: "us", TURN: turn, COMMAND: run_of(turn)}


class WrittenTable:
    boot = "this"

    def __init__(self) -> None:
        self.processes: dict[int, Process] = {}
        self.marked: dict[int, dict[str, str]] = {}
        self.tagged: dict[int, int] = {}
        self.on_look: Callable[[int], None] = lambda _: None

    def put(self, pid: int, *, ppid: int, dead: bool = False, start: int = 10, turn: str = MINE) -> None:
        self.processes[pid] = Process(pid, ppid, pid, pid, start, dead)
        self.marked[pid] = {} if dead else marks(turn)

    def now(self) -> int:
        return 0

    def refresh(self) -> None:
        pass

    def candidates(self) -> Sequence[int]:
        return [pid for pid, process in self.processes.items() if process.ppid == os.getpid()]

    def all_pids(self) -> Sequence[int]:
        return list(self.processes)

    def look(self, pid: int) -> Process | None:
        self.on_look(pid)
        return self.processes.get(pid)

    def children(self, pid: int) -> Sequence[int]:
        return [child for child, process in self.processes.items() if process.ppid == pid]

    def tag(self, pid: int) -> int | None:
        return self.tagged.get(pid)

    def marks(self, pid: int) -> Mapping[str, str]:
        return self.marked.get(pid, {})


def found(
    table: WrittenTable, scope: Scope, since: Mapping[TurnId, int] | None = None, ending: Iterable[TurnId] = ()
) -> list[int]:
    tree = Tree(table, "us")
    tree.since = dict(since or {MINE: 0})
    for turn in tree.since:
        tree.enter(run_of(turn), turn, TAGS[turn])
    tree.ending = set(ending)
    return [process.pid for process in tree.find(scope)]


def test_a_parent_that_dies_between_the_list_and_the_look_does_not_hide_its_child() -> None:
    """Our list has the parent; it dies, its child becomes ours; we look at the parent and see a zombie."""
    table = WrittenTable()
    table.put(PARENT, ppid=os.getpid())
    table.put(ORPHAN, ppid=PARENT)

    def die(pid: int) -> None:
        if pid == PARENT:
            table.put(PARENT, ppid=os.getpid(), dead=True)
            table.put(ORPHAN, ppid=os.getpid())

    table.on_look = die
    assert found(table, Scope(MINE)) == [ORPHAN]


def test_one_that_runs_away_from_another_turn_does_not_make_us_look_at_everybody_again_and_again() -> None:
    """The runaway is quick: after every third look there is another of it."""
    table, looks = WrittenTable(), 0
    for number in range(50):
        table.put(PARENT + number, ppid=os.getpid(), turn=OTHERS)

    def run_away(_: int) -> None:
        nonlocal looks
        looks += 1
        if looks % 3 == 0:
            newest = PARENT + 50 + looks
            table.put(newest - 3, ppid=os.getpid(), dead=True)
            table.put(newest, ppid=os.getpid(), turn=OTHERS)

    table.on_look = run_away
    assert found(table, Scope(MINE), {MINE: 0, OTHERS: 0}) == []
    assert looks < 100


def test_each_is_struck_at_sight_with_its_children_known_and_the_newest_first() -> None:
    table, story = WrittenTable(), []
    table.put(PARENT, ppid=os.getpid())
    table.put(PARENT + 5, ppid=PARENT)
    table.put(ORPHAN, ppid=os.getpid())
    table.on_look = lambda pid: story.append(f"look {pid - PARENT}")
    tree = Tree(table, "us")
    tree.since = {MINE: 0}
    tree.enter(run_of(MINE), MINE, None)

    def strike(process: Process) -> None:
        story.append(f"strike {process.pid - PARENT}")
        del table.processes[process.pid]
        for child in table.children(process.pid):
            table.put(child, ppid=os.getpid(), turn=OTHERS)  # nothing would tell its owner any more

    assert [process.pid for process in tree.find(Scope(MINE), strike)] == [ORPHAN, PARENT, PARENT + 5]
    strikes = [story.index(f"strike {number}") for number in (1, 0, 5)]
    assert strikes == sorted(strikes)
    assert "look 0" not in story[: strikes[0]]


def test_a_descendant_of_a_marked_orphan_belongs_with_it_whatever_its_own_mark() -> None:
    table = WrittenTable()
    table.put(PARENT, ppid=os.getpid())
    table.put(ORPHAN, ppid=PARENT)
    table.marked[ORPHAN] = {}
    assert sorted(found(table, Scope(MINE))) == [PARENT, ORPHAN]
    assert found(table, Scope(OTHERS), {MINE: 0, OTHERS: 0}) == []


def test_an_orphan_that_was_seen_before_is_known_without_its_marks() -> None:
    table = WrittenTable()
    table.put(ORPHAN, ppid=os.getpid())
    scope = Scope(MINE)
    both = {MINE: 0, OTHERS: 0}
    assert found(table, scope, both) == [ORPHAN]
    table.marked[ORPHAN] = {}
    assert found(table, scope, both) == [ORPHAN]
    table.put(ORPHAN, ppid=os.getpid(), start=11)  # the same number, another process
    table.marked[ORPHAN] = {}
    assert found(table, scope, both) == []


def test_an_orphan_without_marks_belongs_to_the_only_turn_that_was_open_when_it_started() -> None:
    table = WrittenTable()
    table.put(ORPHAN, ppid=os.getpid(), start=10)
    table.marked[ORPHAN] = {}
    assert found(table, Scope(MINE), {MINE: 10, OTHERS: 11}) == [ORPHAN]
    assert found(table, Scope(MINE), {MINE: 10, OTHERS: 10}) == []
    assert found(table, Scope(MINE), {MINE: 11}) == []


def test_an_orphan_without_marks_is_not_left_to_a_turn_that_is_ending_itself() -> None:
    table = WrittenTable()
    table.put(ORPHAN, ppid=os.getpid(), start=10)
    table.marked[ORPHAN] = {}
    both = {MINE: 10, OTHERS: 10}
    assert found(table, Scope(MINE), both, ending={MINE}) == []
    assert found(table, Scope(MINE), both, ending={MINE, OTHERS}) == [ORPHAN]
    assert found(table, Scope(OTHERS), both, ending={MINE, OTHERS}) == [ORPHAN]


def test_the_marks_of_another_instance_are_no_proof() -> None:
    table = WrittenTable()
    table.put(ORPHAN, ppid=os.getpid())
    table.marked[ORPHAN] = {INSTANCE: "them", TURN: MINE}
    assert found(table, Scope(MINE), {MINE: 0, OTHERS: 0}) == []


# --- evidence that a process can't choose, and evidence that it can -------------------------------------------------

BOTH = {MINE: 0, OTHERS: 0}
FALSE_MARKS: dict[str, dict[str, str]] = {
    "a turn that never was": {INSTANCE: "us", TURN: "x", COMMAND: "x"},
    "no run": {INSTANCE: "us", TURN: MINE},
    "a run of another turn": {INSTANCE: "us", TURN: MINE, COMMAND: run_of(OTHERS)},
    "another daemon": {**marks(OTHERS), INSTANCE: "them"},
    "nothing": {},
}


@pytest.mark.parametrize("false", FALSE_MARKS)
def test_marks_that_name_no_run_of_an_open_turn_free_nobody_from_the_only_turn_there_is(false: str) -> None:
    table = WrittenTable()
    table.put(ORPHAN, ppid=os.getpid())
    table.marked[ORPHAN] = FALSE_MARKS[false]
    assert found(table, Scope(MINE)) == [ORPHAN]
    assert found(table, Scope(MINE), BOTH) == []  # it may be either's, and is the last one's
    assert found(table, Scope(MINE), BOTH, ending={OTHERS}) == [ORPHAN]


@pytest.mark.parametrize("false", [*FALSE_MARKS, "another open turn's"])
def test_the_number_that_a_process_inherits_counts_before_its_marks(false: str) -> None:
    table = WrittenTable()
    table.put(ORPHAN, ppid=os.getpid())
    table.marked[ORPHAN] = FALSE_MARKS.get(false, marks(OTHERS))
    table.tagged[ORPHAN] = TAGS[MINE]
    assert found(table, Scope(MINE), BOTH) == [ORPHAN]
    assert found(table, Scope(MINE, run_of(MINE)), BOTH) == [ORPHAN]
    assert found(table, Scope(MINE, "another run"), BOTH) == []
    assert found(table, Scope(OTHERS), BOTH, ending={MINE}) == []


def test_a_number_that_is_no_commands_says_nothing() -> None:
    table = WrittenTable()
    table.put(ORPHAN, ppid=os.getpid())
    table.tagged[ORPHAN] = TAGS[MINE] - 1
    assert found(table, Scope(MINE), BOTH) == [ORPHAN]
    assert found(table, Scope(OTHERS), BOTH) == []
    table.marked[ORPHAN] = {}
    assert found(table, Scope(MINE)) == [ORPHAN]


def test_the_processes_of_a_turn_are_forgotten_with_it() -> None:
    tree = Tree(WrittenTable(), "us")
    for turn in BOTH:
        tree.open(turn)
        tree.enter(run_of(turn), turn, TAGS[turn])
    tree.close(MINE)
    assert (tree.runs, tree.tags, set(tree.since)) == ({run_of(OTHERS): OTHERS}, {99: run_of(OTHERS)}, {OTHERS})
