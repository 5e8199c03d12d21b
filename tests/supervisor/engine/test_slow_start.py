"""A start that takes long: what it does is told, and everybody who waits for it waits on."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from supervisor.cli.starting import StartProgress as ToldSlowStart
from supervisor.daemon import daemon_lock, launch
from supervisor.daemon.daemon_lock import AlreadyRunning, DaemonLock, take_lock
from supervisor.daemon.launch import BUSY, READY, START_S
from supervisor.engine import slow_start
from supervisor.engine.slow_start import EACH_S, SlowStart
from transports import jsonrpc
from transports.bridge.daemon_link import PATIENCE_S, DaemonLink
from transports.dialects.mcp.protocol.replay import McpReplay

STEP_S = 0.75 * START_S  # between two words of the daemon; two of them are more than anybody waits in silence


class Time:
    """A clock that a test moves. `asleep` runs instead of a sleep."""

    def __init__(self, asleep: Callable[[], None] = lambda: None) -> None:
        self.now = 0.0
        self._asleep = asleep

    def monotonic(self) -> float:
        return self.now

    def sleep(self, _: float) -> None:
        self._asleep()


def test_a_word_each_second_says_what_goes_on_and_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, told = Time(), list[str]()
    monkeypatch.setattr(slow_start, "time", clock)
    slow = SlowStart(told.append)
    for number in range(9):
        slow.tell(f"step {number}")
        clock.now += EACH_S / 2
    assert told == ["step 2 (1 s)", "step 4 (2 s)", "step 6 (3 s)", "step 8 (4 s)"]


def test_a_starting_client_waits_for_a_daemon_that_says_what_it_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    heard = (tmp_path / "1", tmp_path / "2", tmp_path / "3")
    code = (
        "import os, sys, time\n"
        "for file in sys.argv[4:]:\n"
        f"    os.write(3, {BUSY!r} + os.path.basename(file).encode() + b' of 3\\n')\n"
        "    while not os.path.exists(file): time.sleep(0.01)\n"
        f"os.write(3, {READY!r})"
    )
    monkeypatch.setattr(launch, "PROGRAM", ("-c", code))
    clock, told = Time(), list[str]()
    monkeypatch.setattr(launch, "time", clock)

    def busy(text: str) -> None:
        told.append(text)
        clock.now += STEP_S
        heard[len(told) - 1].touch()

    launch.launch(tuple(map(str, heard)), busy=busy)
    assert told == ["1 of 3", "2 of 3", "3 of 3"]
    assert clock.now > START_S


def test_a_daemon_that_finds_the_lock_taken_waits_as_long_as_the_holder_says_what_it_does(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = str(tmp_path / "daemon.lock")
    holder = DaemonLock(file)
    words, told = iter(["one", "two", "three"]), list[str]()

    def asleep() -> None:
        clock.now += STEP_S
        word = next(words, None)
        if word is None:
            holder.release()
        else:
            holder.tell_busy(word)

    clock = Time(asleep)
    monkeypatch.setattr(daemon_lock, "time", clock)
    take_lock(file, START_S, told.append).release()
    assert told == ["one", "two", "three"]
    assert clock.now > 2 * START_S


def test_the_activity_of_a_starting_daemon_is_in_its_lock_until_it_serves(tmp_path: Path) -> None:
    file = str(tmp_path / "daemon.lock")
    holder = DaemonLock(file)
    holder.tell_busy("the journal is checked (3 s)")
    with pytest.raises(AlreadyRunning, match="is starting or stopping") as taken:
        DaemonLock(file)
    assert (taken.value.busy_with, taken.value.socket) == ("the journal is checked (3 s)", "")
    assert daemon_lock.is_alive(taken.value.pid)
    holder.tell("/run/some.sock")
    with pytest.raises(AlreadyRunning, match="already runs") as taken:
        DaemonLock(file)
    assert (taken.value.busy_with, taken.value.socket) == ("", "/run/some.sock")
    holder.release()


class BusyDaemon:
    """A daemon on its way up, that says something whenever it is heard."""

    def __init__(self) -> None:
        self.ready = False

    def fileno(self) -> int:
        return 0

    def outcome(self) -> str | None:
        return "" if self.ready else None

    def close(self) -> None:
        pass


class Nowhere:
    def __init__(self, daemon: BusyDaemon) -> None:
        self._daemon = daemon

    def dial(self) -> None:
        return None

    def start(self) -> BusyDaemon:
        return self._daemon

    def left_in_order(self) -> bool:
        return True


def test_a_bridge_waits_for_a_daemon_that_says_what_it_does() -> None:
    daemon = BusyDaemon()
    link = DaemonLink(Nowhere(daemon), b"{}\n", McpReplay(), lambda _: None)
    link.take(jsonrpc.request(1, "tools/list"), 0.0)
    for number in range(1, 5):
        link.turn({daemon.fileno(): 1}, 0.75 * PATIENCE_S * number)
    assert not link.outbox
    link.turn({}, 10 * PATIENCE_S)  # it has fallen silent
    assert b"not ready in time" in link.outbox


def test_a_terminal_shows_one_line_that_changes_and_a_file_gets_the_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for is_terminal, expected in (
        (True, "\r\x1b[Kgreenroom: one\r\x1b[Kgreenroom: two\n"),
        (False, "greenroom: one\n"),
    ):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal)
        with ToldSlowStart() as slow:
            slow.tell("one")
            slow.tell("two")
        assert capsys.readouterr().err == expected
