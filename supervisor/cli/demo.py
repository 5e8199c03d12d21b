"""`greenroom demo`: a tour with a daemon and a home of its own, which are removed afterwards.

Every step runs a command that a person could type; the second terminal is a second process.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from supervisor.cli.kit import terminal
from supervisor.cli.kit.problems import Problem
from supervisor.daemon.daemon_lock import is_alive

PATIENCE_S = 30.0  # for any step; the whole tour takes seconds
POLL_S = 0.05
WORK = "plan write, read; then write note.txt: buy milk"
CONFINED_OPTIONS = ("--sandbox", "workspace-write")
UNCONFINED_OPTIONS = ("--sandbox", "danger-full-access")
NEEDS_APPROVAL = "ask date > /dev/null && echo done"
PROGRAM = (sys.executable, "-m", "supervisor.cli.app")
KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TERM", "COLUMNS", "NO_COLOR", "PYTHONPATH", "VIRTUAL_ENV", "TZ")


def run(_: Namespace) -> int:
    base = Path(tempfile.mkdtemp(prefix="greenroom-demo-"))
    tour = Tour(base)
    try:
        with _cleaned_up_on_term():
            tour.go()
    finally:
        tour.clean_up()
    print(f"\nThat was the tour. Its daemon and its files are gone.\nIn this shell go on with:\n{next_commands()}")
    return 0


def next_commands() -> str:
    """The commands to go on with, as they work in the shell that the tour was started from."""
    program = own_program()
    return "\n".join(f"  {program} {words}" for words in ("up", "run 'say hello'", "ls", "help"))


def own_program() -> str:
    """The program as a shell finds it: its name if that is on the PATH, else its path."""
    beside = Path(sys.executable).with_name("greenroom")
    found = shutil.which("greenroom")
    if not beside.exists():
        return "greenroom" if found else shlex.join(PROGRAM)
    return "greenroom" if found and beside.samefile(found) else shlex.quote(str(beside))


class Tour:
    def __init__(self, base: Path) -> None:
        self._base = base
        self._paint = terminal.Paint(sys.stdout)
        self._workspace = base / "workspace"
        self._workspace.mkdir()
        (base / "home").mkdir(mode=0o700)
        (base / "home" / "config.toml").write_text('model_provider = "demo"\n', encoding="utf-8")
        environ = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
        # A HOME of its own, too: a login shell that prints a greeting would print it in the middle of the tour.
        self._environ = {**environ, "GREENROOM_HOME": str(base / "home"), "HOME": str(base)}
        self._daemons: set[int] = set()

    def go(self) -> None:
        self._title("One daemon owns all conversations.")
        self._do("up")
        self._note_the_daemon()
        self._title("A new conversation: a plan, a patch, then a command.")
        confined = self._can_confine()
        # Without a sandbox every step would need an approval; the tour has its own directory in any case.
        self._do("run", "--name", "tour", *(CONFINED_OPTIONS if confined else UNCONFINED_OPTIONS), WORK)
        self._do("send", "tour", "--wait", "run cat note.txt")
        self._title("A turn asks for an approval. A second terminal gives it.")
        if confined:
            self._approval()
        else:
            self._approval_unconfined()
        self._title("A second terminal interrupts. The conversation stays.")
        counting = self._begin("send", "tour", "--wait", "count 500")
        time.sleep(1.0)  # for the person to see it count
        if terminal.is_terminal():
            print(flush=True)  # it stopped in the middle of a line
        self._do("interrupt", "tour", second=True)
        self._end(counting)
        self._do("ls")
        self._title("The daemon is killed. What was finished is kept.")
        self._do("send", "tour", "count 500")
        self._kill()
        self._do("ls")
        self._do("up")
        self._note_the_daemon()
        self._do("logs", "tour", "-n", "3")
        self._title("The conversation goes on.")
        self._do("send", "tour", "--wait", "say Here we are again.")
        self._do("down")

    def _approval(self) -> None:
        asking = self._begin("send", "tour", "--wait", NEEDS_APPROVAL)
        while asking.poll() is None and not json.loads(self._output_of("approvals", "tour", "--json") or "[]"):
            time.sleep(POLL_S)  # the turn begins in another process
        self._do("approve", "tour", second=True)
        self._end(asking)

    def _approval_unconfined(self) -> None:
        """Show an approval without a sandbox, where only the policy that trusts nothing asks."""
        self._do("run", "--name", "careful", "--approval", "untrusted", *UNCONFINED_OPTIONS, "-d", NEEDS_APPROVAL)
        self._do("wait", "careful", "--for", "approval")
        self._do("approvals")
        self._do("approve", "careful", second=True)
        self._do("wait", "careful")

    # --- steps ----------------------------------------------------------------------------------------------------

    def _title(self, text: str) -> None:
        print(f"\n{self._paint(f'# {text}', 'bold')}", flush=True)

    def _show(self, words: tuple[str, ...], *, second: bool) -> None:
        lines = _lines("second terminal $ greenroom" if second else "$ greenroom", words, terminal.size()[0])
        print(self._paint(" \\\n".join(lines), "cyan", "bold"), flush=True)

    def _do(self, *words: str, second: bool = False) -> None:
        """Run a command to its end. Any exit code will do: some steps show failures."""
        self._show(words, second=second)
        self._end(self._process(words))

    def _begin(self, *words: str) -> "subprocess.Popen[bytes]":
        self._show(words, second=False)
        return self._process(words)

    def _process(self, words: tuple[str, ...]) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603  # our own program
            [*PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            stderr=None if sys.stdout.isatty() else subprocess.STDOUT,  # errors keep their place in a pipe
            env=self._environ,
            cwd=self._workspace,
        )

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        try:
            process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Problem("a step of the tour did not end", "`greenroom doctor` may show why", "timed_out") from None

    def _can_confine(self) -> bool:
        findings = json.loads(self._output_of("doctor", "--json"))
        return any(finding["what"] == "sandbox" and not finding["advice"] for finding in findings)

    def _output_of(self, *words: str) -> str:
        done = subprocess.run(  # noqa: S603  # our own program
            [*PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self._environ,
            check=False,
        )
        return done.stdout

    def _note_the_daemon(self) -> None:
        self._daemons.add(int(self._output_of("pid")))

    def _kill(self) -> None:
        (pid,) = self._daemons
        print(self._paint(f"$ kill -9 {pid}", "cyan", "bold"), flush=True)
        os.kill(pid, signal.SIGKILL)
        _wait_for_the_end_of(pid)
        self._daemons.clear()

    def clean_up(self) -> None:
        """Remove every process and file of the tour, however it ended."""
        if (self._base / "home").exists():
            subprocess.run(  # noqa: S603  # our own program
                [*PROGRAM, "down", "--now"], env=self._environ, capture_output=True, timeout=PATIENCE_S, check=False
            )
        for pid in self._daemons:
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)
                _wait_for_the_end_of(pid)
        shutil.rmtree(self._base, ignore_errors=True)


def _lines(line: str, words: tuple[str, ...], columns: int) -> list[str]:
    """A command as a person would type it, in lines that fit: broken between words, never inside a quoted word."""
    lines = []
    for word in words:
        shown = word if word.isascii() and " " not in word else f"'{word}'"
        if len(line) + 1 + len(shown) > columns - len(" \\"):
            lines.append(line)
            line = f"   {shown}"
        else:
            line = f"{line} {shown}"
    return [*lines, line]


@contextlib.contextmanager
def _cleaned_up_on_term() -> Iterator[None]:
    """Let TERM end the tour as Ctrl-C does, with everything removed."""

    def end_tour(*_: object) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, end_tour)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _wait_for_the_end_of(pid: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(POLL_S)
