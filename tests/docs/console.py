"""Runs the `console` blocks of a page, one command after the other, in a home of its own, on a terminal.

What differs from run to run (ids, ages, sizes, numbers of processes) is the same to the comparison. `…` in what a
page expects stands for anything: alone on a line for any lines, else for a part of that line.
"""

import fcntl
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.docs.pages import Block, blocks
from tests.support import acp_agent
from tests.support.warden import MARK

COLUMNS, ROWS = 100, 50
COMMAND_S = 30.0  # the longest commands of the docs wait for a turn; a busy machine takes its time
SHOWN_HOME = "/home/ada-byron"  # as long as the real one, so that tables keep their columns
_HEREDOC = re.compile(r"<<'(\w+)'")
# They show what an agent does, its commands too, with a prompt of their own: the rest of the block is theirs.
_SHOWS_A_TURN = re.compile(r"greenroom (run (?!.*(-d|--detach)\b)|send .*--wait\b|logs )")


@dataclass(frozen=True, slots=True)
class Step:
    """A command, and the output that the page shows for it. `start` and `end` are lines of the page."""

    command: str
    start: int
    end: int
    expected: tuple[str, ...]


def steps(page: str) -> Iterator[Step]:
    for block in blocks(page):
        if block.language == "console":
            yield from _steps(block)


def _steps(block: Block) -> Iterator[Step]:
    lines = block.lines
    at = 0
    while at < len(lines):
        assert lines[at].startswith("$ "), f"line {block.start + at + 1}: a console block begins with a command"
        last = _end_of_command(lines, at)
        end = _end_of_output(lines, at, last + 1)
        command = "\n".join((lines[at][2:], *lines[at + 1 : last + 1]))
        yield Step(command, block.start + last + 1, block.start + end, lines[last + 1 : end])
        at = end


def _end_of_command(lines: tuple[str, ...], at: int) -> int:
    heredoc = _HEREDOC.search(lines[at])
    return lines.index(heredoc[1], at) if heredoc else at


def _end_of_output(lines: tuple[str, ...], at: int, start: int) -> int:
    if _SHOWS_A_TURN.search(lines[at]):
        return len(lines)
    return next((n for n in range(start, len(lines)) if lines[n].startswith("$ ")), len(lines))


class TerminalUser:
    """A person with an empty home directory, a terminal, and the program on the path."""

    def __enter__(self) -> Self:
        self._home = Path(tempfile.mkdtemp(prefix="gr", dir="/tmp")).resolve()
        (self._home / "run").mkdir(mode=0o700)
        (self._home / "shop").mkdir()
        self._install_an_agent()
        self._place = self._home / "run" / "cwd"
        self._place.write_text(f"{self._home}/shop\n")
        self._status = 0
        return self

    def _install_an_agent(self) -> None:
        """A program that speaks ACP and does what it is told, in place of those that have to be logged in."""
        program = self._home / "bin" / "my-agent"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec {sys.executable} {acp_agent.__file__} --options "$@"\n')
        program.chmod(0o755)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.types("greenroom down --now")
            assert not self._daemon_is_left(), f"a daemon of {self._home} is left over"
        finally:
            shutil.rmtree(self._home, ignore_errors=True)

    def _daemon_is_left(self) -> bool:
        """Whether a daemon still holds the lock; one that starts late would make the home anew."""
        lock = self._home / ".local/state/greenroom/daemon.lock"
        if not lock.exists():
            return False
        with lock.open() as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def types(self, command: str) -> str:
        """Type a command; the terminal's text afterwards. The next command has the same directory and exit status."""
        place = self._place.read_text().strip()
        script = f"(exit {self._status})\n{command}\nstatus=$?; pwd > {self._place}; exit $status"
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        try:
            with subprocess.Popen(
                ["bash", "-c", script],
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                cwd=place,
                env=self._environment(),
                start_new_session=True,
            ) as shell:
                os.close(theirs)
                written = _read_to_the_end(ours, command, shell)
                self._status = shell.wait(COMMAND_S)
        finally:
            os.close(ours)
        return written.decode().replace("\r\n", "\n").replace(str(self._home), SHOWN_HOME)

    def _environment(self) -> dict[str, str]:
        """An environment without our variables, above all without keys and home."""
        return {
            "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self._home),
            "XDG_RUNTIME_DIR": str(self._home / "run"),
            "SHELL": "/bin/bash",
            "USER": "ada",
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "NO_COLOR": "1",
            "PAGER": "cat",
            MARK: os.environ.get(MARK, ""),
        }


def _read_to_the_end(terminal: int, command: str, shell: subprocess.Popen[bytes]) -> bytes:
    deadline, written = time.monotonic() + COMMAND_S, b""
    while select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux says EIO where others say end of file
            return written
        if not piece:
            return written
        written += piece
    shell.kill()
    raise AssertionError(f"`{command}` did not end in {COMMAND_S} s, after\n{written.decode()}")


# --- comparing ----------------------------------------------------------------------------------------------------

_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b[0-9a-f]{8}\b"), "ID"),
    (re.compile(r"\b[0-9a-f]{12}@UUID"), "APPROVAL"),
    (re.compile(r"\b[0-9a-f]{16}-\d+\b"), "TURN"),
    (re.compile(r"\b\d{10}\.\d+\b"), "TIME"),
    (re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\bpid \d+"), "pid N"),
    (re.compile(r"\[\d+\]"), "[N]"),
    (re.compile(r"\b\d+(\.\d+)? (B|KiB|MiB|GiB|TiB)(?!\w)"), "SIZE"),
    (re.compile(r"\b\d+(\.\d+)? ?(ms|s|min|m|h|d)\b"), "SPAN"),
    (re.compile(r"\b\d+ tokens\b"), "N tokens"),
    (re.compile(r"(?<=[\s>])\d{2,}(?=\s+\S)"), "N"),  # counts in tables
    (re.compile(r" +"), " "),
)


def plain(text: str) -> str:
    """The output without what differs between two runs of the same command."""
    for pattern, word in _VOLATILE:
        text = pattern.sub(word, text)
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines() if line.strip())


def fits(expected: str, written: str) -> bool:
    lines = [
        r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*?") + r"\n"
        for line in plain(expected).splitlines()
    ]
    return re.fullmatch("".join(lines), plain(written)) is not None
