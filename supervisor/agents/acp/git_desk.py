"""Runs the git subcommands that change history for a confined agent, each in a sandbox of its own.

The agent's sandbox has `.git` read-only. In it a small program stands for git: it puts its arguments as a file into a
folder, the desk, and writes the file's name into a pipe, the bell. The requests are foreign: each runs in a sandbox
no wider than the agent's, with the view of the repository that a command gets which a person has allowed to change
history. Loop thread; disk in worker threads.
"""

import asyncio
import base64
import json
import os
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import structlog
from msgspec import Struct

from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import Pin, Settings, WorkspaceWrite
from supervisor.agents.acp.git_asking import ANSWERS, ASKS, BELL, GIT
from supervisor.disk.folders import open_below, open_folder, remove_tree
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import MARKS, Command, NotStarted
from supervisor.work.processes.input import Input
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes
from supervisor.work.safety.git_commands import CHANGES, history_directory
from supervisor.work.sandbox.bubblewrap import SYSTEM
from supervisor.work.sandbox.order import PlacedFile
from supervisor.work.sandbox.sandbox import Sandbox

log = structlog.get_logger()
PROGRAM_FILE = "asking.py"
INSIDE = Path("/dev/greenroom")  # below /dev, the only folder of every sandbox in which a mount point can be made
ASKED_BYTES = 4 << 20  # of a request: arguments, variables and input
ANSWER_BYTES = 1 << 20  # of each stream
AT_ONCE, WAITING = 4, 64  # requests of an agent; git's own locks let one through for each repository
LEAVE_TO_GIT = b"{}"  # the answer that leaves the command to git in the agent's sandbox
LIMIT_S = 600.0  # of a command: hooks may run tests
NAME_BYTES = 33  # of a request's name in the bell, and the end of its line


class GitRequest(Struct, frozen=True):
    args: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    input: str


class GitResult(Struct, frozen=True):
    exit_code: int
    out: bytes
    err: bytes


class GitDesk:
    """Serves the git requests of an agent, for as long as it lives."""

    def __init__(
        self, folder: Path, sandbox: Sandbox, processes: Processes, settings: Settings, pins: Sequence[Pin]
    ) -> None:
        self._folder = folder
        self._sandbox = sandbox
        self._processes = processes
        self._settings = settings
        self._pins = pins
        self._room = asyncio.Semaphore(AT_ONCE)
        self._running: set[asyncio.Task[None]] = set()
        self._free = list(range(AT_ONCE))
        self._closed = False

    @asynccontextmanager
    async def open(self, conversation: ConversationId, owner: TurnId, umask: int) -> AsyncIterator[None]:
        """Serve while the context lasts. The commands belong to `owner`, and end with it."""
        bell = os.open(self._folder / BELL, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        loop = asyncio.get_running_loop()

        def take_requests() -> None:
            room = WAITING - len(self._running)
            if not room:  # the pipe fills up then, and the agent's git gets an error
                loop.remove_reader(bell)
            for name in _request_names(bell, room):
                task = loop.create_task(self._serve(name, conversation, owner, umask))
                self._running.add(task)
                task.add_done_callback(forget_task)

        def forget_task(task: asyncio.Task[None]) -> None:
            self._running.discard(task)
            if not self._closed:
                loop.add_reader(bell, take_requests)

        loop.add_reader(bell, take_requests)
        try:
            yield
        finally:
            loop.remove_reader(bell)
            await self._close(bell)

    async def _close(self, bell: int) -> None:
        self._closed = True
        os.close(bell)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await asyncio.to_thread(remove_tree, self._folder)

    async def _serve(self, name: str, conversation: ConversationId, owner: TurnId, umask: int) -> None:
        async with self._room:
            place = self._free.pop()
            own = TurnId(f"{owner}-git-{place}")
            self._processes.tie(own, owner)
            try:
                answer = await self._carry_out(name, conversation, own, umask)
            except (OSError, ValueError, msgspec.MsgspecError) as error:
                answer = _answer(128, b"", f"git: {error}\n".encode())
            finally:
                await self._processes.end_turn(own)
                self._free.append(place)
            await asyncio.to_thread(self._put, name, answer)

    async def _carry_out(self, name: str, conversation: ConversationId, own: TurnId, umask: int) -> bytes:
        """Run the requested command if it changes history; else let the agent's git do it itself."""
        request = await asyncio.to_thread(self._read, name)
        policy, cwd, start = self._settings.sandbox, self._settings.cwd, Path(request.cwd)
        assert isinstance(policy, WorkspaceWrite)  # noqa: S101  # otherwise there is no desk
        changes = history_directory(("git", *request.args)) is not None
        found = await asyncio.to_thread(self._sandbox.repository, policy, cwd, start) if changes else None
        if found is None:
            return LEAVE_TO_GIT
        env = {name: value for name, value in request.env.items() if name not in MARKS}
        argv = (real_git(env)[0], *request.args)
        confining = in_a_thread(
            lambda: self._sandbox.confine(policy, cwd, argv, env, start=start, pins=self._pins, history=found),
            leave_there=True,
        )
        async with confining as inside:
            command = inside.command(conversation, own, LIMIT_S, umask)
            result = await self._run(command, base64.b64decode(request.input))
        if not isinstance(result, GitResult):
            return _answer(128, b"", f"git: {result}\n".encode())
        notes = "".join(f"greenroom: {finding}\n" for finding in (*inside.notices, *inside.aftermath))
        return _answer(result.exit_code, result.out, result.err + notes.encode())

    async def _run(self, command: Command, words: bytes) -> GitResult | NotStarted:
        stdin, output = Input(), Output(_ignore_output, keep_bytes=ANSWER_BYTES)
        running = asyncio.ensure_future(self._processes.run(command, output, stdin))
        while not (stdin.is_open or running.done()):  # noqa: ASYNC110 - it is opened in the next steps of the loop
            await asyncio.sleep(0)
        await stdin.write(words)
        stdin.close()
        result = await running
        if isinstance(result, NotStarted):
            return result
        return GitResult(result.exit_code, output.stdout.text().encode(), output.stderr.text().encode())

    def _read(self, name: str) -> GitRequest:
        asks = open_folder(Path(os.path.realpath(self._folder / ASKS)))
        file = open_below(asks, (name,), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(file, "rb") as stream:
            data = stream.read(ASKED_BYTES + 1)
        (self._folder / ASKS / name).unlink(missing_ok=True)
        if len(data) > ASKED_BYTES:
            raise ValueError(f"more than {ASKED_BYTES} bytes of arguments, variables and input")
        return msgspec.json.decode(data, type=GitRequest)

    def _put(self, name: str, answer: bytes) -> None:
        """Write the answer into the folder that the agent can only read."""
        new = self._folder / f"new-{name}"
        new.write_bytes(answer)
        new.rename(self._folder / ANSWERS / name)


def _request_names(bell: int, most: int) -> Iterator[str]:
    """Read the names of new requests from the bell; skip anything that is no name."""
    for name in os.read(bell, NAME_BYTES * most).decode("ascii", "replace").split("\n"):
        if len(name) == NAME_BYTES - 1 and name.isalnum():
            yield name


async def _ignore_output(_: Stream, __: bytes) -> None:
    """Ignore a piece of output: the whole is sent at the end."""


def _answer(code: int, out: bytes, err: bytes) -> bytes:
    encoded = {"code": code, "out": base64.b64encode(out).decode(), "err": base64.b64encode(err).decode()}
    return json.dumps(encoded).encode()


def real_git(env: Mapping[str, str]) -> tuple[str, ...]:
    """Return the real paths of all gits on this search path and in the system's folders."""
    path = os.pathsep.join((env.get("PATH", ""), *SYSTEM))
    entries = [entry for entry in path.split(os.pathsep) if entry.startswith("/")]
    found = (shutil.which("git", path=entry) for entry in entries)
    return tuple(dict.fromkeys(os.path.realpath(program) for program in found if program is not None))


def make_desk(folder: Path, env: Mapping[str, str], writable: Sequence[Path]) -> tuple[PlacedFile, ...]:
    """Make the desk's folder, if there is a git; return its parts with their places in the agent's sandbox."""
    gits = [
        Path(program) for program in real_git(env) if not any(Path(program).is_relative_to(root) for root in writable)
    ]
    if not gits:
        return ()
    for part in (ASKS, ANSWERS):
        (folder / part).mkdir(mode=0o700, parents=True)
    os.mkfifo(folder / BELL, 0o600)
    (folder / GIT).touch()
    shutil.copyfile(
        Path(__file__).with_name("git_asking.py"), folder / PROGRAM_FILE
    )  # our own file may lie in /tmp, which the sandbox replaces
    asking = shlex.join((os.path.realpath(sys.executable), "-SEs", str(INSIDE / PROGRAM_FILE), str(INSIDE)))
    script = (
        f"#!/bin/sh\n# Changes of history are asked for; all else is git's own.\nfor word do\n"
        f'case "$word" in {"|".join(sorted(CHANGES))}) exec {asking} "$@" ;; esac\ndone\nexec {INSIDE / GIT} "$@"\n'
    )
    (folder / "program").write_text(script)
    (folder / "program").chmod(0o755)
    return (
        PlacedFile(folder, INSIDE),
        PlacedFile(folder / ASKS, INSIDE / ASKS, writable=True),
        PlacedFile(gits[0], INSIDE / GIT),
        *(PlacedFile(folder / "program", git) for git in gits),
    )
