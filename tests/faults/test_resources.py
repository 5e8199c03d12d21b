"""R: failures of descriptors, disks, clocks, memory and other users, with which the daemon has to go on."""

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest

from tests.faults.caller import WAIT_S, Caller, Gone, Message, Refused, dial
from tests.faults.conftest import START, Measure
from tests.faults.daemon_harness import DEMO, ROOT, DaemonHarness, NotReady, served_by, until
from tests.faults.follower import Follower, judge
from tests.faults.report import Row
from tests.support.model_server import ModelServer
from tests.support.standstill import standing_still

MIB = 1024 * 1024
STORAGE = {"storage_full", "storage_failed", "storage_read_only"}
DAY_S = 86_400
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0 or sys.platform != "linux", reason="takes root, on Linux")
FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))), None)
STRANGER = """
import contextlib, socket, sys
sock = socket.socket(socket.AF_UNIX)
sock.connect(sys.argv[1])
with contextlib.suppress(OSError):  # he may have been refused before he has said a word
    sock.sendall(b'{"greenroom":{"protocol":1,"dialect":"control"}}\\n')
print(sock.makefile("rb").readline().decode())
"""


STARTER = """
import sys
from pathlib import Path
from supervisor.daemon.launch import launch
from tests.faults.caller import Caller
launch()
caller = Caller(Path(sys.argv[1]), "starter", Path("/"))
print(caller.call("daemon/status")["pid"])
caller.close()
"""


def turn(caller: Caller, conversation: str, words: str = "say hello") -> str:
    return str(caller.send(conversation, words, wait=True)["ending"])


# --- descriptors --------------------------------------------------------------------------------------------------


def without_descriptors(home: Path, model: ModelServer, row: Row, rounds: int) -> None:
    """Connect clients until no descriptor is left: the next is told to try again, and nothing spins."""
    harness = DaemonHarness(home, served_by(model.base_url))
    try:
        harness.start(["prlimit", "--nofile=64:64"])
        caller = harness.caller()
        conversation = caller.create()
        assert turn(caller, conversation) == "completed"
        before, fit = harness.fds(), 0
        for _ in range(rounds):
            with ExitStack() as crowd:
                for sock in crowded(harness):
                    crowd.enter_context(sock)
                    fit += 1
                cpu = harness.cpu_s()
                time.sleep(0.3)  # the time in which a listener that spins would show
                assert harness.cpu_s() - cpu < 0.15, "it spins when it has no descriptor left"
                assert caller.call("conversation/get", conversation=conversation)["turn"] is None
            until(lambda: harness.fds() <= before + 2, "descriptors were not given back")
            assert turn(harness.caller(), conversation, 'call shell ["true"]; then; say x') == "completed"
            row.times += 1
            harness._callers.pop().close()
        row.notes.append(f"{fit // rounds} clients fit into 64 descriptors")
    finally:
        harness.__exit__()


def crowded(harness: DaemonHarness) -> Iterator[socket.socket]:
    """All clients that were accepted before the first refusal, which must say to try again."""
    for _ in range(64):
        sock, said = dial(harness.socket, "crowd", harness.home)
        if "error" in said:
            assert said["error"]["data"]["code"] == "overloaded", said
            assert said["error"]["data"]["retryable"], said
            sock.close()
            return
        yield sock
    raise AssertionError("more clients than descriptors")


# --- disks --------------------------------------------------------------------------------------------------------


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    path.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(path)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip(f"this system does not let us mount: {done.stderr.decode().strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)


def full_disk(tmp_path: Path, model: ModelServer, row: Row, rounds: int) -> None:
    """Turns stop with a reason, reading and interrupting go on, and nothing was shown that is not stored."""
    with (
        small_disk(tmp_path / "disk", "4m") as disk,
        DaemonHarness(disk / "home", served_by(model.base_url)) as harness,
    ):
        caller = harness.caller()
        conversation, busy = caller.create(), caller.create()
        followers = [Follower(conversation), Follower(busy)]
        for follower in followers:
            follower.attach(caller)
        for number in range(rounds):
            caller.send(busy, "say begun; stall forever")
            followers[1].wait_type("task_started", number + 1)
            filler = disk / "filler"
            with suppress(OSError), filler.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(4096))
            refusal = until_refused(caller, conversation)
            assert refusal.name in STORAGE, refusal
            assert caller.call("conversation/list")["total"] == 2
            assert caller.history(conversation)[0]["seq"] == 1
            interrupt = caller.start("conversation/interrupt", conversation=busy)
            filler.unlink()
            interrupt.result(WAIT_S)
            until(lambda: _works(caller, conversation), "the disk has room again, and the daemon does not see it")
            row.times += 1
        for follower in followers:
            history = settled(caller, follower.conversation)
            judge(history)
            follower.wait_seq(history[-1]["seq"])
            follower.check(history)


def until_refused(caller: Caller, conversation: str) -> Refused:
    """Run turns until the disk is full: at a prompt, or in the middle of a turn."""
    for _ in range(500):
        error = caller.start(
            "conversation/send", conversation=conversation, prompt=f"say {'x' * 4000}", wait=True
        ).exception(WAIT_S)
        if isinstance(error, Refused):
            return error
        assert error is None, error
    raise AssertionError("a full disk took everything")


def _works(caller: Caller, conversation: str) -> bool:
    answer = caller.start("conversation/send", conversation=conversation, prompt="say hello", wait=True)
    return answer.exception(WAIT_S) is None and answer.result()["ending"] == "completed"


def settled(caller: Caller, conversation: str) -> list[Message]:
    until(lambda: caller.call("conversation/get", conversation=conversation)["turn"] is None, "a turn has no end")
    return caller.history(conversation)


def failing_writes(home: Path, model: ModelServer, row: Row, rounds: int) -> None:
    """Let the n-th write of the journal fail, by a limit on the size of files that comes and goes."""
    with DaemonHarness(home, served_by(model.base_url)) as harness:
        caller = harness.caller()
        conversation = caller.create()
        follower = Follower(conversation)
        follower.attach(caller)
        wal = Path(f"{harness.paths.journal_file}-wal")
        soft, hard = resource.prlimit(harness.pid, resource.RLIMIT_FSIZE)
        refused = 0
        for number in range(rounds):
            assert turn(caller, conversation, "say before") == "completed"
            limit = wal.stat().st_size + number * 2048
            resource.prlimit(harness.pid, resource.RLIMIT_FSIZE, (limit, hard))
            answer = caller.start(
                "conversation/send", conversation=conversation, prompt='call shell ["true"]; then; say x', wait=True
            )
            error = answer.exception(WAIT_S)
            resource.prlimit(harness.pid, resource.RLIMIT_FSIZE, (soft, hard))
            if isinstance(error, Refused):
                assert error.name in STORAGE, error
                refused += 1
            until(lambda: _works(caller, conversation), "it never recovered")
            row.times += 1
        history = settled(caller, conversation)
        judge(history)
        follower.wait_seq(history[-1]["seq"])
        follower.check(history)
        row.notes.append(f"{refused} turns were refused or stopped by it")
        assert refused > 0, "no write failed"


# --- memory -------------------------------------------------------------------------------------------------------


def big_output(harness: DaemonHarness, row: Row, mib: int) -> None:
    """Run a tool with endless output: it takes neither memory nor history."""
    caller = harness.caller()
    conversation = caller.create()
    follower = Follower(conversation)
    follower.attach(caller)
    journal = Path(harness.paths.journal_file)
    before, stored = harness.rss(), journal.stat().st_size
    command = f'{{"command":["bash","-c","yes 0123456789abcdef | head -c {mib}M"],"timeout":600000}}'
    sent = caller.start(
        "conversation/send", conversation=conversation, prompt=f"call shell {command}; then; say x", wait=True
    )
    most = 0
    while not sent.done():
        most = max(most, harness.rss() - before)
        with suppress(TimeoutError):
            sent.exception(0.05)
    assert sent.result()["ending"] == "completed"
    history = caller.history(conversation)
    judge(history)
    (end,) = [one["event"] for one in history if one["event"]["type"] == "work_ended"]
    assert end["exit_code"] == 0
    assert len(end["output"]) < 2 * MIB
    grown = journal.stat().st_size - stored
    assert most < 64 * MIB, f"{mib} MiB of output cost {most / MIB:.0f} MiB of memory"
    assert grown < 8 * MIB, f"{mib} MiB of output cost {grown / MIB:.0f} MiB of history"
    row.times += 1
    row.notes.append(f"{mib:,} MiB printed, {most / MIB:.0f} MiB of memory, {grown / MIB:.1f} MiB of journal")
    caller.delete(conversation)


# --- time ---------------------------------------------------------------------------------------------------------


def clock_jumps(home: Path, model: ModelServer, row: Row, rounds: int) -> None:
    """Set the clock a day on and back while a model streams, a question waits and a command runs: no time-out."""
    assert FAKETIME is not None
    clock = home.parent / "clock"
    clock.write_text("+0", encoding="ascii")
    more = "approval_deadline_seconds = 3600\nidle_park_seconds = 600"
    harness = DaemonHarness(home, served_by(model.base_url, more, policy="untrusted"))
    try:
        harness.start(
            LD_PRELOAD=str(FAKETIME),
            FAKETIME_TIMESTAMP_FILE=str(clock),
            FAKETIME_CACHE_DURATION="1",  # s; without it every wait of a thread reads that file
            FAKETIME_DONT_FAKE_MONOTONIC="1",
        )
        caller = harness.caller()
        asking, streaming, probe = caller.create(), caller.create(), caller.create()
        followers = [Follower(asking), Follower(streaming)]
        for follower in followers:
            follower.attach(caller)
        for number in range(rounds):
            name, away = f"clock-{number}", number % 2 == 0
            caller.send(asking, 'call shell ["touch","/nowhere/at/all"]; then; say done')
            followers[0].wait_type("approval_requested", number + 1)
            streamed = caller.start(
                "conversation/send", conversation=streaming, prompt=f"say a; hold {name}; say b", wait=True
            )
            model.wait_held(name)
            clock.write_text(f"+{DAY_S}" if away else "+0", encoding="ascii")
            until(partial(_is_another_day, caller, probe, away=away), "the clock did not jump")
            assert _works(caller, caller.create()), "nothing works on another day"
            model.open(name)
            assert streamed.result(WAIT_S)["ending"] == "completed"
            approval = followers[0].seen[-1]["event"]["approval_id"]
            caller.call("approvals/answer", approval=approval, decision="denied")
            followers[0].wait_type("task_complete", number + 1)
            row.times += 1
        for follower in followers:
            history = caller.history(follower.conversation)
            judge(history)
            follower.check(history)
    finally:
        harness.__exit__()


def _is_another_day(caller: Caller, probe: str, *, away: bool) -> bool:
    caller.call("conversation/rename", conversation=probe, name=f"at-{time.monotonic_ns()}")
    updated = caller.call("conversation/get", conversation=probe)["updated"]
    return bool((abs(updated - time.time()) > DAY_S / 2) == away)


def asleep(harness: DaemonHarness, row: Row, seconds: float) -> None:
    """Suspend the daemon like a closed laptop: attached clients go on, and nothing times out."""
    caller, reader = harness.caller(), harness.caller("reader")
    conversation = caller.create()
    follower = Follower(conversation)
    follower.attach(reader)
    streamed = caller.start(
        "conversation/send", conversation=conversation, prompt="slow 20; stream 200 word", wait=True
    )
    follower.wait_delta()
    with standing_still(harness.pid):
        time.sleep(seconds)  # it is asleep: there is nothing to wait for
        late = caller.start("conversation/list")
        assert not late.done()
    late.result(WAIT_S)
    assert streamed.result(WAIT_S)["ending"] == "completed"
    assert turn(reader, conversation) == "completed"
    history = caller.history(conversation)
    judge(history)
    follower.wait_seq(history[-1]["seq"])
    follower.check(history)
    caller.delete(conversation)
    row.times += 1


# --- the socket and who comes -------------------------------------------------------------------------------------


def deleted_socket(harness: DaemonHarness, row: Row, rounds: int) -> None:
    longest = 0.0
    for _ in range(rounds):
        caller = harness.caller()
        harness.socket.unlink()
        began = time.monotonic()
        until(harness.socket.exists, "the socket was not made again")
        until(lambda: _answers(harness), "nobody listens at the new socket")
        longest = max(longest, time.monotonic() - began)
        assert caller.call("daemon/status")["pid"] == harness.pid, "who was connected has been hung up on"
        row.times += 1
    row.notes.append(f"back after {longest:.1f} s at most")


def _answers(harness: DaemonHarness) -> bool:
    try:
        dial(harness.socket, "again", harness.home)[0].close()
    except (OSError, Gone):
        return False
    return True


def read_only_disk(tmp_path: Path, row: Row, rounds: int) -> None:
    """Make the disk read-only: the start fails and says why; on a writable disk the next finds everything."""
    with small_disk(tmp_path / "disk", "4m") as disk:
        harness = DaemonHarness(disk / "home")
        harness.start()
        conversation = harness.caller("writer").create()
        for _ in range(rounds):
            harness.leave()
            harness.signal(signal.SIGTERM)
            harness.ended()
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            with pytest.raises(NotReady, match=r"[Rr]ead.only"):
                harness.start()
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
            harness.start()
            assert [one["seq"] for one in harness.caller("reader").history(conversation)] == [1]
            row.times += 1
        harness.leave()
        harness.signal(signal.SIGTERM)
        harness.ended()


def strangers(harness: DaemonHarness, row: Row, rounds: int) -> None:
    """Connect as another user, who is refused even if the socket's file could be opened."""
    opened = [harness.socket, *harness.socket.parents[:6]]
    modes = {path: path.stat().st_mode for path in opened}
    try:
        for path in opened:
            path.chmod(modes[path] | 0o007)
        for _ in range(rounds):
            said = subprocess.run(
                [
                    "setpriv",
                    "--reuid=65534",
                    "--regid=65534",
                    "--clear-groups",
                    sys.executable,
                    "-c",
                    STRANGER,
                    str(harness.socket),
                ],
                capture_output=True,
                text=True,
                check=False,
                timeout=WAIT_S,
            )
            if "Permission denied" in said.stderr and sys.executable in said.stderr:
                pytest.skip("the other user may not run this interpreter")
            assert "not_allowed" in said.stdout, said
            row.times += 1
    finally:
        for path in opened:
            path.chmod(modes[path])
    assert harness.caller().call("daemon/status")["pid"] == harness.pid


def starts(home: Path, row: Row, at_once: int) -> None:
    """Start many at once: one daemon, which answers each starter as soon as that hears of it."""
    harness = DaemonHarness(home, DEMO)
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(DEMO, encoding="utf-8")
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", STARTER, str(harness.socket)],
            cwd=ROOT,
            env=harness.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(at_once)
    ]
    told = {one.communicate(timeout=120)[0] for one in starters}
    try:
        assert len(told) == 1, told
        assert all(one.returncode == 0 for one in starters), told
    finally:
        with suppress(OSError, Gone):
            caller = Caller(harness.socket, "end", home)
            caller.call("daemon/down", drain_s=0)
            caller.gone.wait(WAIT_S)
            caller.close()
    until(lambda: not harness.processes(), f"{harness.processes()} go on")
    until(lambda: not harness.socket.exists(), "the daemon ended and left its socket")  # it hangs up first
    row.times += at_once


def after_everything(harness: DaemonHarness, row: Row) -> None:
    """End all conversations; threads and descriptors must become as before the first client."""
    caller = harness.caller()
    for one in caller.call("conversation/list", archived=True, limit=1000)["conversations"]:
        caller.call("conversation/interrupt", conversation=one["conversation"], kill=True)
        caller.delete(one["conversation"])
    harness.leave()

    def as_before() -> bool:
        """Whether threads and descriptors are as before, but for asyncio's workers and what is kept open."""
        return harness.threads() <= START["threads"] + 6 and harness.fds() <= START["fds"] + 6

    until(as_before, f"{START} at the start; now {harness.threads()} threads, {harness.fds()} descriptors", WAIT_S)
    row.times += 1
    row.notes.append(f"threads {START['threads']} before, {harness.threads()} after")
    row.notes.append(f"descriptors {START['fds']} before, {harness.fds()} after")
    row.notes.append(f"memory {harness.rss() / MIB:.0f} MiB")


# --- the small versions -------------------------------------------------------------------------------------------


def test_without_descriptors_clients_are_refused_and_nothing_spins(
    home: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("R", "no descriptor left") as row:
        without_descriptors(home, model, row, 1)


@ROOT_ONLY
def test_a_full_disk_stops_turns_and_nothing_else(tmp_path: Path, model: ModelServer, measure: Measure) -> None:
    with measure("R", "a disk that fills up") as row:
        full_disk(tmp_path, model, row, 1)


def test_a_write_that_fails_is_said_and_nothing_is_half_stored(
    home: Path, model: ModelServer, measure: Measure
) -> None:
    with measure("R", "the n-th write of the journal fails") as row:
        failing_writes(home, model, row, 12)


@ROOT_ONLY
def test_a_read_only_disk_is_named_at_the_start(tmp_path: Path, measure: Measure) -> None:
    with measure("R", "a start on a read-only disk") as row:
        read_only_disk(tmp_path, row, 1)


def test_a_hundred_megabytes_of_output_cost_little(harness: DaemonHarness, measure: Measure) -> None:
    with measure("R", "a tool that prints and prints") as row:
        big_output(harness, row, 100)


def test_a_clock_that_jumps_ends_nothing(home: Path, model: ModelServer, measure: Measure) -> None:
    if FAKETIME is None:
        pytest.skip("libfaketime is not installed")
    with measure("R", "the clock jumps by a day, on and back") as row:
        clock_jumps(home, model, row, 2)


def test_a_daemon_that_slept_goes_on(harness: DaemonHarness, measure: Measure) -> None:
    with measure("R", "SIGSTOP for 2 s, then SIGCONT") as row:
        asleep(harness, row, 2)


def test_a_deleted_socket_comes_back(harness: DaemonHarness, measure: Measure) -> None:
    with measure("R", "the socket deleted") as row:
        deleted_socket(harness, row, 1)


@ROOT_ONLY
def test_another_user_is_refused(harness: DaemonHarness, measure: Measure) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    with measure("R", "another user at the socket") as row:
        strangers(harness, row, 1)


def test_of_many_starts_at_once_one_daemon_comes(home: Path, measure: Measure) -> None:
    with measure("R", "starts at once") as row:
        starts(home, row, 4)


def test_after_everything_threads_and_descriptors_are_as_before(harness: DaemonHarness, measure: Measure) -> None:
    with measure("R", "threads and descriptors after everything") as row:
        after_everything(harness, row)


# --- the long versions --------------------------------------------------------------------------------------------


@pytest.mark.soak
def test_without_descriptors_again_and_again(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("R", "no descriptor left") as row:
        without_descriptors(home, model, row, 50)


@pytest.mark.soak
@ROOT_ONLY
def test_a_disk_that_fills_up_again_and_again(tmp_path: Path, model: ModelServer, measure: Measure) -> None:
    with measure("R", "a disk that fills up") as row:
        full_disk(tmp_path, model, row, 30)


@pytest.mark.soak
def test_three_hundred_failing_writes(home: Path, model: ModelServer, measure: Measure) -> None:
    with measure("R", "the n-th write of the journal fails") as row:
        failing_writes(home, model, row, 300)


@pytest.mark.soak
def test_ten_gigabytes_of_output_cost_little(harness: DaemonHarness, measure: Measure) -> None:
    with measure("R", "a tool that prints and prints") as row:
        big_output(harness, row, 10_240)


@pytest.mark.soak(takes_s=75)
def test_a_clock_that_jumps_again_and_again(home: Path, model: ModelServer, measure: Measure) -> None:
    if FAKETIME is None:
        pytest.skip("libfaketime is not installed")
    with measure("R", "the clock jumps by a day, on and back") as row:
        clock_jumps(home, model, row, 40)


@pytest.mark.soak(takes_s=60)
def test_a_daemon_that_slept_for_a_minute_goes_on(harness: DaemonHarness, measure: Measure) -> None:
    with measure("R", "SIGSTOP for a minute, then SIGCONT") as row:
        asleep(harness, row, 60)


@pytest.mark.soak
def test_a_socket_deleted_again_and_again(harness: DaemonHarness, measure: Measure) -> None:
    with measure("R", "the socket deleted") as row:
        deleted_socket(harness, row, 20)


@pytest.mark.soak
def test_of_twenty_starts_at_once_one_daemon_comes(home: Path, measure: Measure) -> None:
    with measure("R", "starts at once") as row:
        starts(home, row, 20)


@pytest.mark.soak
@ROOT_ONLY
def test_a_read_only_disk_again_and_again(tmp_path: Path, measure: Measure) -> None:
    with measure("R", "a start on a read-only disk") as row:
        read_only_disk(tmp_path, row, 10)


@pytest.mark.soak
@ROOT_ONLY
def test_another_user_is_refused_again_and_again(harness: DaemonHarness, measure: Measure) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    with measure("R", "another user at the socket") as row:
        strangers(harness, row, 50)


@pytest.mark.soak
def test_after_all_the_long_runs_threads_and_descriptors_are_as_before(
    harness: DaemonHarness, measure: Measure
) -> None:
    with measure("R", "threads and descriptors after everything") as row:
        after_everything(harness, row)
