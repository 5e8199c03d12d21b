"""A command from the model's argv to the text it reads: judged, approved, sandboxed, run, reported. Loop thread."""

import asyncio
import json
import os
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.settings import DangerFullAccess, SandboxMode, SandboxPolicy
from supervisor.agent.entering import in_a_thread
from supervisor.agent.patch.errors import PatchSyntax
from supervisor.agent.patch.recognise import patch_in
from supervisor.agent.processes.command import NotStarted
from supervisor.agent.processes.output import Output, Stream
from supervisor.agent.processes.processes import Processes
from supervisor.agent.processes.spawn import reason
from supervisor.agent.safety.hints import parsed_command
from supervisor.agent.safety.judge import confinement, judge_command
from supervisor.agent.safety.names import plainly_named
from supervisor.agent.safety.rules import RETRY_REASON, MayRun, MustAsk, Reject
from supervisor.agent.sandbox.confined import Confined
from supervisor.agent.sandbox.sandbox import Sandbox
from supervisor.agent.tools.arguments import ShellArguments
from supervisor.agent.tools.patching import Patching
from supervisor.agent.tools.work import Work
from supervisor.agent.transcript import OpenCall
from supervisor.agent.turn import ApprovalAnswer

UNPRINTABLE = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r\x1b"}  # six characters each in JSON
NOT_FOUND = 127  # outside the sandbox a missing program would be missing, too
SHOWN = 200  # characters of an unusable directory name that are shown


class Ran(Struct, frozen=True):
    """The result of a command, as the model and all clients see it."""

    exit_code: int
    stdout: str
    stderr: str
    duration_s: float
    timed_out: bool = False
    not_started: str | None = None
    notices: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """The command failed in a way that the sandbox may have caused."""
        return self.exit_code not in {0, NOT_FOUND} and self.not_started is None and not self.timed_out


class Shell(Struct, frozen=True):
    """One call of the tool."""

    processes: Processes
    sandbox: Sandbox
    work: Work
    call: OpenCall
    arguments: ShellArguments

    @property
    def cwd(self) -> Path:
        return self.work.settings.cwd / (self.arguments.workdir or "")

    async def run(self) -> str:
        arguments, bounds = self.arguments, self.work.bounds
        if sum(word.count("\n") for word in arguments.command) > bounds.patch_lines:  # before anything parses it
            return "error: " + bounds.beyond("patch_lines", "the command has too many lines")
        if (wrong := _no_path(arguments.workdir or "")) is not None:
            return f"error: {wrong}"
        try:
            patch = patch_in(arguments.command)
        except PatchSyntax as error:
            return f"error: {error.message}"
        if patch is not None:
            patching = Patching(self.sandbox, self.work, self.call)
            return await patching.apply(patch.text, self.cwd / (patch.workdir or ""))
        size = sum(map(len, (*arguments.command, arguments.workdir or "", arguments.justification or "")))
        if size > bounds.command_bytes:
            return "error: " + bounds.beyond("command_bytes", "the command is too long; write a file and run that")
        return await self._judged()

    async def _judged(self) -> str:
        arguments, settings, available = self.arguments, self.work.settings, self.sandbox.availability.ok
        verdict = judge_command(
            arguments.command,
            settings.approval_policy,
            SandboxMode(settings.sandbox.mode),
            sandbox_available=available,
            plainly_named=not available
            and plainly_named(arguments.command, self.work.env, settings.sandbox, settings.cwd),
            escalated=arguments.with_escalated_permissions,
        )
        match verdict:
            case Reject():
                return verdict.text
            case MustAsk():
                answer = await self._ask(arguments.justification or verdict.reason)
                if not answer.approved:
                    return answer.rejects("exec command")
                return self._told(await self._execute(DangerFullAccess()))
            case MayRun():
                return await self._run(verdict)

    async def _run(self, verdict: MayRun) -> str:
        retry = verdict.retry_unsandboxed_on_failure
        ran = self._already() if retry else None
        if ran is None:
            ran = await self._execute(confinement(verdict, self.work.settings.sandbox))
            if not (retry and verdict.sandboxed and ran.failed):
                return self._told(ran)
            self.work.say(ev.BackgroundEvent(message=f"Execution failed: exit code {ran.exit_code}"))
        answer = await self._ask(RETRY_REASON, retry=True)
        if not answer.approved:
            return f"{answer.rejects('exec command')}\n{self._told(ran)}"
        self.work.say(ev.BackgroundEvent(message="retrying command without sandbox"))
        return self._told(await self._execute(DangerFullAccess()))

    def _already(self) -> Ran | None:
        """Return a result from an earlier life of this turn: no command is run again only to ask the same."""
        ended = self.work.transcript.ended(self.call.item)
        if ended is None:
            return None
        duration_s = ended.duration.secs + ended.duration.nanos / 1e9
        return Ran(ended.exit_code, ended.stdout, ended.stderr, duration_s)

    async def _ask(self, why: str | None, *, retry: bool = False) -> ApprovalAnswer:
        work = self.work
        request = ev.ExecApprovalRequest(
            call_id=self.call.call,
            command=self.arguments.command,
            cwd=self.cwd,
            reason=why,
            approval_id=work.new_approval(),
            item_id=self.call.item,
            retry=retry,
            outside_sandbox=True,  # an approved command runs outside
            deadline_s=work.deadline_s,
            default=work.default,
        )
        return await work.ask(request)

    async def _execute(self, policy: SandboxPolicy) -> Ran:
        """Run the command; its begin and end events are sent in every case."""
        work, call, command = self.work, self.call, self.arguments.command
        parsed = parsed_command(command)
        work.say(
            ev.ExecCommandBegin(
                call_id=call.call, command=command, cwd=self.cwd, parsed_cmd=parsed, item_id=call.item
            )
        )

        async def take(stream: Stream, chunk: bytes) -> None:
            delta = ev.ExecCommandOutputDelta(call_id=call.call, stream=stream, chunk=chunk, item_id=call.item)
            work.turn.emit(delta)
            await work.turn.room()

        output = Output(take, keep_bytes=work.bounds.command_output_bytes)
        try:
            await work.turn.stored()  # otherwise a crash could leave no record of a command that ran
            ran = await self._start(output, policy)
        except asyncio.CancelledError:
            self._say_ended(Ran(-1, output.stdout.text(), output.stderr.text(), 0.0))
            raise
        self._say_ended(ran)
        return ran

    async def _start(self, output: Output, policy: SandboxPolicy) -> Ran:
        work, order = self.work, self.work.turn.order
        try:
            async with in_a_thread(lambda: self._confined(policy)) as confined:
                for notice in confined.notices:
                    work.say(ev.BackgroundEvent(message=notice))
                command = confined.command(order.conversation, order.turn, self._timeout_ms / 1000, work.around.umask)
                result = await self.processes.run(command, output)
        except OSError as error:
            return _not_started(NotStarted(reason(error)))
        for notice in confined.aftermath:
            work.say(ev.BackgroundEvent(message=notice))
        if isinstance(result, NotStarted):
            return _not_started(result)
        return Ran(
            result.exit_code,
            output.stdout.text(),
            output.stderr.text(),
            result.duration_s,
            timed_out=result.timed_out,
            notices=(*confined.notices, *confined.aftermath),
        )

    @property
    def _timeout_ms(self) -> float:
        return self.arguments.timeout or self.work.bounds.command_timeout_ms

    def _confined(self, policy: SandboxPolicy) -> AbstractContextManager[Confined]:
        """Confine the command. Entered in a worker thread, because a disk that is away can block it."""
        work, settings = self.work, self.work.settings
        pins = self.sandbox.pins(work.turn.order.conversation, settings, work.env)
        return self.sandbox.confine(policy, settings.cwd, self.arguments.command, work.env, start=self.cwd, pins=pins)

    def _say_ended(self, ran: Ran) -> None:
        seconds = int(ran.duration_s)
        self.work.say(
            ev.ExecCommandEnd(
                call_id=self.call.call,
                stdout=ran.stdout,
                stderr=ran.stderr,
                exit_code=ran.exit_code,
                duration=ev.Duration(secs=seconds, nanos=int((ran.duration_s - seconds) * 1e9)),
                item_id=self.call.item,
            )
        )

    def _told(self, ran: Ran) -> str:
        """Compose the text for the model: both streams, their head and tail, and how much is missing between."""
        if ran.not_started is not None:
            return ran.not_started
        output = ran.stdout if not ran.stderr else f"{ran.stdout}\n[stderr]\n{ran.stderr}".lstrip("\n")
        if ran.timed_out:
            output = f"command timed out after {self._timeout_ms:.0f} milliseconds\n{output}"
        output = "".join(f"[{notice}]\n" for notice in ran.notices) + output
        bounds = self.work.bounds
        told = shortened(output.translate(UNPRINTABLE), bounds.model_output_bytes, bounds.model_output_lines)
        metadata = {"exit_code": ran.exit_code, "duration_seconds": round(ran.duration_s, 1)}
        return json.dumps({"output": told, "metadata": metadata}, ensure_ascii=False)


def _no_path(workdir: str) -> str | None:
    """Return why a directory name can't be passed to the system at all, or None."""
    try:
        os.fsencode(workdir)
    except UnicodeEncodeError:
        return f"workdir {workdir[:SHOWN]!a} is no path: it can't be encoded; name a directory, or leave it out"
    if "\0" in workdir:
        return f"workdir {workdir[:SHOWN]!a} is no path: it has a NUL in it; name a directory, or leave it out"
    return None


def shortened(text: str, max_bytes: int, max_lines: int) -> str:
    """Keep the first and the last half of the allowed size, and say between them how much was left out and why."""
    lines = text.splitlines(keepends=True)
    if len(lines) <= max_lines and len(text.encode()) <= max_bytes:
        return text
    head = _fitting(lines[: max_lines // 2], max_bytes // 2)
    tail = _fitting(lines[max(len(lines) - max_lines // 2, 0) :], max_bytes // 2, from_end=True)
    left_out = len(text.encode()) - len(head.encode()) - len(tail.encode())
    gap = f"[… {left_out} bytes left out: at most {max_lines} lines and {max_bytes} bytes are shown …]"
    return f"{head.rstrip(chr(10))}\n{gap}\n{tail}"


def _fitting(lines: list[str], max_bytes: int, *, from_end: bool = False) -> str:
    raw = "".join(lines).encode()
    part = raw[-max_bytes:] if from_end else raw[:max_bytes]
    return part.decode("utf-8", "ignore")


def _not_started(result: NotStarted) -> Ran:
    return Ran(-1, "", str(result), 0.0, not_started=str(result))
