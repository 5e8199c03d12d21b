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
from supervisor.agent.processes import Command, Finished, NotStarted, Output, Processes, reason
from supervisor.agent.processes.output import Stream
from supervisor.agent.safety.hints import parsed_command
from supervisor.agent.safety.judge import confinement, judge_command
from supervisor.agent.safety.names import plainly_named
from supervisor.agent.safety.rules import RETRY_REASON, MayRun, MustAsk, Reject
from supervisor.agent.sandbox import Confined, Sandbox
from supervisor.agent.tools.arguments import ShellArguments
from supervisor.agent.tools.patching import Patching
from supervisor.agent.tools.work import Work
from supervisor.agent.transcript import OpenCall

UNPRINTABLE = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r\x1b"}  # six characters each in JSON
NOT_FOUND = 127  # outside the sandbox a missing program would be missing, too
REJECTED = "exec command rejected by user"
SHOWN = 200  # characters of an unusable directory name that are shown


class ShellLimits(Struct, frozen=True):
    timeout_s: float = 10.0
    history_bytes: int = 128 * 1024
    model_bytes: int = 10 * 1024
    model_lines: int = 256


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


class Shell:
    def __init__(self, processes: Processes, sandbox: Sandbox, patching: Patching, limits: ShellLimits) -> None:
        self._processes = processes
        self._sandbox = sandbox
        self._patching = patching
        self._limits = limits

    async def run(self, work: Work, call: OpenCall, arguments: ShellArguments) -> str:
        if sum(word.count("\n") for word in arguments.command) > work.bounds.patch_lines:  # before anything parses it
            return "error: " + work.bounds.beyond("patch_lines", "the command has too many lines")
        cwd = work.settings.cwd / (arguments.workdir or "")
        if (wrong := _no_path(arguments.workdir or "")) is not None:
            return f"error: {wrong}"
        try:
            patch = patch_in(arguments.command)
        except PatchSyntax as error:
            return f"error: {error.message}"
        if patch is not None:
            return await self._patching.apply(work, call, patch.text, cwd / (patch.workdir or ""))
        size = sum(map(len, (*arguments.command, arguments.workdir or "", arguments.justification or "")))
        if size > work.bounds.command_bytes:
            return "error: " + work.bounds.beyond(
                "command_bytes", "the command is too long; write a file and run that"
            )
        return await self._judged(work, call, arguments, cwd)

    async def _judged(self, work: Work, call: OpenCall, arguments: ShellArguments, cwd: Path) -> str:
        settings, available = work.settings, self._sandbox.availability.ok
        verdict = judge_command(
            arguments.command,
            settings.approval_policy,
            SandboxMode(settings.sandbox.mode),
            sandbox_available=available,
            plainly_named=not available
            and plainly_named(arguments.command, work.env, settings.sandbox, settings.cwd),
            escalated=arguments.with_escalated_permissions,
        )
        match verdict:
            case Reject():
                return verdict.text
            case MustAsk():
                answer = await work.ask(
                    self._request(work, call, arguments, cwd, arguments.justification or verdict.reason)
                )
                if not answer.approved:
                    return _rejected(answer.reason)
                return self._told(await self._execute(work, call, arguments, cwd, DangerFullAccess()), arguments)
            case MayRun():
                return await self._run(work, call, arguments, cwd, verdict)

    async def _run(self, work: Work, call: OpenCall, arguments: ShellArguments, cwd: Path, verdict: MayRun) -> str:
        retry = verdict.retry_unsandboxed_on_failure
        ran = _already(work, call) if retry else None
        if ran is None:
            policy = confinement(verdict, work.settings.sandbox)
            ran = await self._execute(work, call, arguments, cwd, policy)
            if not (retry and verdict.sandboxed and ran.failed):
                return self._told(ran, arguments)
            work.say(ev.BackgroundEvent(message=f"Execution failed: exit code {ran.exit_code}"))
        request = self._request(work, call, arguments, cwd, RETRY_REASON, retry=True)
        answer = await work.ask(request)
        if not answer.approved:
            return f"{_rejected(answer.reason)}\n{self._told(ran, arguments)}"
        work.say(ev.BackgroundEvent(message="retrying command without sandbox"))
        return self._told(await self._execute(work, call, arguments, cwd, DangerFullAccess()), arguments)

    def _request(
        self,
        work: Work,
        call: OpenCall,
        arguments: ShellArguments,
        cwd: Path,
        why: str | None,
        *,
        retry: bool = False,
    ) -> ev.ExecApprovalRequest:
        return ev.ExecApprovalRequest(
            call_id=call.call,
            command=arguments.command,
            cwd=cwd,
            reason=why,
            approval_id=work.new_approval(),
            item_id=call.item,
            retry=retry,
            outside_sandbox=True,  # an approved command runs outside
            deadline_s=work.deadline_s,
            default=work.default,
        )

    async def _execute(
        self, work: Work, call: OpenCall, arguments: ShellArguments, cwd: Path, policy: SandboxPolicy
    ) -> Ran:
        """Run the command; its begin and end events are sent in every case."""
        work.say(
            ev.ExecCommandBegin(
                call_id=call.call,
                command=arguments.command,
                cwd=cwd,
                parsed_cmd=parsed_command(arguments.command),
                item_id=call.item,
            )
        )

        async def take(stream: Stream, chunk: bytes) -> None:
            delta = ev.ExecCommandOutputDelta(call_id=call.call, stream=stream, chunk=chunk, item_id=call.item)
            work.turn.emit(delta)
            await work.turn.room()

        output = Output(take, keep_bytes=self._limits.history_bytes)
        try:
            await work.turn.stored()  # otherwise a crash could leave no record of a command that ran
            result, notices = await self._start(work, arguments, cwd, output, policy)
        except asyncio.CancelledError:
            _say_ended(work, call, Ran(-1, output.stdout.text(), output.stderr.text(), 0.0))
            raise
        ran = _ran(result, output, notices)
        _say_ended(work, call, ran)
        return ran

    async def _start(
        self, work: Work, arguments: ShellArguments, cwd: Path, output: Output, policy: SandboxPolicy
    ) -> tuple[Finished | NotStarted, tuple[str, ...]]:
        """Run the command, and return its result and the notices about its sandbox."""
        order = work.turn.order
        timeout_s = arguments.timeout / 1000 if arguments.timeout else self._limits.timeout_s
        try:
            async with in_a_thread(lambda: self._confined(work, policy, arguments, cwd)) as confined:
                for notice in confined.notices:
                    work.say(ev.BackgroundEvent(message=notice))
                command = Command(
                    confined.argv,
                    confined.cwd,
                    confined.env,
                    order.conversation,
                    order.turn,
                    timeout_s,
                    keeper=confined.keeper,
                    pass_fds=confined.pass_fds,
                    umask=work.around.umask,
                )
                result = await self._processes.run(command, output)
        except OSError as error:
            return NotStarted(reason(error)), ()
        for notice in confined.aftermath:
            work.say(ev.BackgroundEvent(message=notice))
        return result, (*confined.notices, *confined.aftermath)

    def _confined(
        self, work: Work, policy: SandboxPolicy, arguments: ShellArguments, start: Path
    ) -> AbstractContextManager[Confined]:
        """Confine the command. Entered in a worker thread, because a disk that is away can block it."""
        settings = work.settings
        pins = self._sandbox.pins(work.turn.order.conversation, settings, work.env)
        return self._sandbox.confine(policy, settings.cwd, arguments.command, work.env, start=start, pins=pins)

    def _told(self, ran: Ran, arguments: ShellArguments) -> str:
        """Compose the text for the model: both streams, their head and tail, and how much is missing between."""
        if ran.not_started is not None:
            return ran.not_started
        output = ran.stdout if not ran.stderr else f"{ran.stdout}\n[stderr]\n{ran.stderr}".lstrip("\n")
        if ran.timed_out:
            limit_ms = arguments.timeout or self._limits.timeout_s * 1000
            output = f"command timed out after {limit_ms:.0f} milliseconds\n{output}"
        output = "".join(f"[{notice}]\n" for notice in ran.notices) + output
        told = shortened(output.translate(UNPRINTABLE), self._limits.model_bytes, self._limits.model_lines)
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


def _ran(result: Finished | NotStarted, output: Output, notices: tuple[str, ...]) -> Ran:
    if isinstance(result, NotStarted):
        return Ran(-1, "", str(result), 0.0, not_started=str(result))
    return Ran(
        result.exit_code,
        output.stdout.text(),
        output.stderr.text(),
        result.duration_s,
        timed_out=result.timed_out,
        notices=notices,
    )


def _say_ended(work: Work, call: OpenCall, ran: Ran) -> None:
    seconds = int(ran.duration_s)
    work.say(
        ev.ExecCommandEnd(
            call_id=call.call,
            stdout=ran.stdout,
            stderr=ran.stderr,
            exit_code=ran.exit_code,
            duration=ev.Duration(secs=seconds, nanos=int((ran.duration_s - seconds) * 1e9)),
            item_id=call.item,
        )
    )


def _already(work: Work, call: OpenCall) -> Ran | None:
    """Return a result from an earlier life of this turn: a command is not run again only to ask the same question."""
    ended = work.transcript.ended(call.item)
    if ended is None:
        return None
    duration_s = ended.duration.secs + ended.duration.nanos / 1e9
    return Ran(ended.exit_code, ended.stdout, ended.stderr, duration_s)


def _rejected(why: str) -> str:
    return f"{REJECTED}: {why}" if why else REJECTED
