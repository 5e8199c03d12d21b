"""Reading the listing of `ps`, as macOS writes it."""

from supervisor.work.processes.ps import PsTable
from supervisor.work.processes.table import Process

LISTING = """\
    1     0     1 Ss   Mon Nov  3 09:00:01 2025     /sbin/launchd
  501     1   501 S+   Mon Nov  3 09:00:02 2025     python daemon.py HOME=/Users/me
  502   501   502 Ss   Mon Nov  3 10:00:00 2025     sleep 300 PATH=/bin GREENROOM_INSTANCE=abc GREENROOM_TURN=t-1
  503   502   502 Z    Mon Nov  3 10:00:00 2025     (sh)
what is no process
"""


def table() -> PsTable:
    read = PsTable()
    read.read(LISTING)
    return read


def test_every_process_is_a_candidate_for_there_is_no_sub_reaper() -> None:
    assert table().candidates() == [1, 501, 502, 503]


def test_marks_children_and_death_are_read() -> None:
    read = table()
    assert read.marks(502) == {"GREENROOM_INSTANCE": "abc", "GREENROOM_TURN": "t-1"}
    assert read.marks(501) == {}
    assert read.children(501) == [502]
    assert read.look(503) == Process(503, 502, 502, 502, 1762164000, dead=True)
    assert read.look(504) is None


def test_start_times_are_seconds_since_the_epoch_whatever_the_zone() -> None:
    started = table().look(1)
    assert started is not None
    assert started.start == 1762160401
