"""Processes whose parent dies in the moment in which they are looked for. No process is real."""

from collections.abc import Mapping, Sequence

import pytest

from actors.vocabulary.ids import TurnId
from supervisor.work.processes.spawn import ChildProcess
from supervisor.work.processes.table import Process
from supervisor.work.processes.tree import Scope, Tree

ROOT, SHELL, SLEEP, US = 10, 11, 12, 1
TURN = TurnId("turn")


class Dying:
    """A table of root, shell and sleep, below each other. The shell dies just before it is looked at.

    `heir`: the process that its child goes to, which is ourselves or, in a sandbox, the first one in there.
    """

    boot = "boot"

    def __init__(self, heir: int) -> None:
        self.heir = heir
        self.below = {US: [ROOT], ROOT: [SHELL], SHELL: [SLEEP], SLEEP: []}

    def now(self) -> int:
        return 1

    def refresh(self) -> None:
        pass

    def candidates(self) -> Sequence[int]:
        return list(self.below[US])

    def all_pids(self) -> Sequence[int]:
        return list(self.below)

    def look(self, pid: int) -> Process | None:
        if pid == SHELL and self.below[SHELL]:
            self.below[SHELL] = []
            self.below[ROOT] = []
            self.below[self.heir].append(SLEEP)
        return Process(pid, US, pid, pid, start=5, dead=pid == SHELL)

    def children(self, pid: int) -> Sequence[int]:
        return list(self.below[pid])

    def tag(self, pid: int) -> int | None:
        return 7 if pid == SLEEP else None

    def marks(self, _: int) -> Mapping[str, str]:
        return {}


def tree_of(table: Dying) -> Tree:
    tree = Tree(table, "instance")
    tree.open(TURN)
    tree.enter("run", TURN, 7)
    child = ChildProcess.__new__(ChildProcess)
    child.pid, child.turn, child.run = ROOT, TURN, "run"
    tree.children[ROOT] = child
    return tree


@pytest.mark.parametrize("heir", [US, ROOT])
def test_children_passed_on_by_a_dying_process_beside_a_live_one_are_found(heir: int) -> None:
    found = tree_of(Dying(heir)).find_all(Scope(TURN))
    assert sorted(process.pid for process in found) == [ROOT, SLEEP]
