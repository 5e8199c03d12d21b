"""Work on the machine for Codex's conversation methods: single commands, and a diff against the remote. Loop thread.

There is no approval for such a command: if it needs one, it is refused with that reason. All its processes have ended
when the request is answered.
"""

import asyncio
import contextlib
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from actors.vocabulary.errors import GreenroomError, InvalidInput, NotAllowed
from actors.vocabulary.ids import ConversationId, TurnId
from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, ReadOnly, SandboxMode, SandboxPolicy
from supervisor.agents.environments import CommandEnvironment
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.processes.command import Finished, NotStarted
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes
from supervisor.work.processes.spawn import reason
from supervisor.work.reach.readable import OutOfReach, Reach
from supervisor.work.reach.safe_git import GIT, PLAIN_DIFF, environment
from supervisor.work.safety.judge import confinement, judge_command
from supervisor.work.safety.program_names import are_system_programs
from supervisor.work.safety.rules import MayRun, MustAsk, Reject
from supervisor.work.sandbox.sandbox import Sandbox
from transports.supervisor_answers import RemoteDiff, SingleCommandResult

NO_CONVERSATION = ConversationId("")  # in place of a conversation, to which these commands don't belong
OUTPUT_BYTES = 1 << 20
DIFF_BYTES = 8 << 20  # fits a line that a client must be able to read; a longer diff is refused rather than cut
GIT_S = 30.0  # enough for a cold cache and a large repository; git that takes longer hangs
MOST_UNTRACKED = 1000  # files; a directory with more has some that should be ignored
# No program is started that the repository names; in the sandbox it could do no harm, either.
GIT_OPTIONS = ("-c", "core.quotePath=false", "-c", "safe.bareRepository=explicit")
FILTERS = r"^filter\..*\.(clean|process)$"


class Machine(Struct, frozen=True):
    """The directory, environment and sandbox of one client's commands."""

    processes: Processes
    sandbox: Sandbox
    command_environment: CommandEnvironment
    cwd: Path

    async def run_once(
        self, argv: tuple[str, ...], policy: ApprovalPolicy, sandbox: SandboxPolicy, timeout_s: float
    ) -> SingleCommandResult:
        if not argv:
            raise InvalidInput("command must not be empty")
        confinement = self._judge(argv, policy, sandbox)
        finished, output = await self._run(argv, confinement, self.command_environment.env, timeout_s, OUTPUT_BYTES)
        if finished.timed_out:
            raise GreenroomError(f"command timed out after {timeout_s * 1000:.0f} milliseconds")
        return SingleCommandResult(finished.exit_code, output.stdout.text(), output.stderr.text())

    async def diff_to_remote(self) -> RemoteDiff:
        """The diff against the newest commit below HEAD that a remote has, with the files that git does not track."""
        sha = await self._closest_remote()
        plain = (*await self._without_filters(), *PLAIN_DIFF)
        parts = [await self._git(*plain, sha)]
        listed = await self._git("ls-files", "-z", "--others", "--exclude-standard")
        names = await asyncio.to_thread(self._within_reach, [name for name in listed.split("\0") if name])
        if len(names) > MOST_UNTRACKED:
            raise InvalidInput(f"{len(names)} files are not tracked")
        new = (*plain, "--no-index", "--", "/dev/null")
        size = len(parts[0])
        for name in names:
            parts.append(await self._git(*new, name, may_differ=True))
            size += len(parts[-1])
            if size > DIFF_BYTES:
                raise InvalidInput(f"the diff has more than {DIFF_BYTES} characters")
        return RemoteDiff(sha, "".join(parts))

    def _within_reach(self, names: Sequence[str]) -> list[str]:
        """Leave out files that a client's model may not read, sandbox or not: a home may be a repository."""
        reach, found = Reach(self.cwd, hidden=self.sandbox.protection.hidden), list[str]()
        for name in names:
            folder, _, last = name.rpartition("/")
            with contextlib.suppress(OutOfReach):
                reach.check(Path(os.path.realpath(self.cwd / folder), last), name)  # git doesn't follow the last link
                found.append(name)
        return found

    async def _closest_remote(self) -> str:
        """The boundary of the commits that no remote has; HEAD if there are none."""
        if not await self._git("for-each-ref", "--count=1", "refs/remotes"):
            raise InvalidInput("no remote is known")
        ours = (await self._git("rev-list", "--boundary", "HEAD", "--not", "--remotes")).split()
        if not ours:
            return (await self._git("rev-parse", "HEAD")).strip()
        shared = [line.removeprefix("-") for line in ours if line.startswith("-")]
        if not shared:
            raise InvalidInput("nothing of this history is on a remote")
        return shared[0]

    async def _without_filters(self) -> tuple[str, ...]:
        """Options that switch off the filters through which git would read the work tree."""
        named = await self._git("config", "-z", "--name-only", "--get-regexp", FILTERS, may_differ=True)
        return tuple(word for name in named.split("\0") if name for word in ("-c", f"{name}="))

    async def _git(self, *arguments: str, may_differ: bool = False) -> str:
        """Run git, confined if possible: the client's search path chooses the program."""
        policy = ReadOnly() if self.sandbox.availability.ok else DangerFullAccess()
        env = environment(self.command_environment.env, (str(self.cwd),))
        finished, output = await self._run((*GIT, *GIT_OPTIONS, *arguments), policy, env, GIT_S, DIFF_BYTES)
        allowed = {0, 1} if may_differ else {0}
        if finished.exit_code not in allowed or output.stdout.omitted_bytes:
            verb = next(word for word in arguments if word != "-c" and "=" not in word)
            raise InvalidInput(f"git {verb} failed: {output.stderr.text().strip()[:200]}")
        return output.stdout.text()

    def _judge(self, argv: tuple[str, ...], policy: ApprovalPolicy, sandbox: SandboxPolicy) -> SandboxPolicy:
        mode, available = SandboxMode(sandbox.mode), self.sandbox.availability.ok
        plainly = not available and are_system_programs(argv, self.command_environment.env, sandbox, self.cwd)
        match judge_command(argv, policy, mode, sandbox_available=available, plainly_named=plainly):
            case MayRun() as run:
                return confinement(run, sandbox)
            case MustAsk():
                raise NotAllowed("it would need an approval, and nobody is asked for a command of its own")
            case Reject(text):
                raise NotAllowed(text)

    async def _run(
        self,
        argv: tuple[str, ...],
        policy: SandboxPolicy,
        env: Mapping[str, str],
        timeout_s: float,
        keep_bytes: int,
    ) -> tuple[Finished, Output]:
        output = Output(_not_shown, keep_bytes=keep_bytes)
        turn = TurnId(f"once-{secrets.token_hex(8)}")
        try:
            async with in_a_thread(lambda: self.sandbox.confine(policy, self.cwd, argv, env)) as confined:
                command = confined.command(NO_CONVERSATION, turn, timeout_s, self.command_environment.umask)
                result = await self.processes.run(command, output)
        except OSError as error:
            result = NotStarted(reason(error))
        finally:
            await self.processes.end_turn(turn)
        if isinstance(result, NotStarted):
            raise InvalidInput(str(result))
        return result, output


async def _not_shown(_: Stream, __: bytes) -> None:
    """Drop the output: no client watches it."""
