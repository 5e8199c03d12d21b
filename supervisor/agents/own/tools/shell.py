"""A command from the model's argv to the text it reads: judged, approved, sandboxed, run, reported. Loop thread."""

import asyncio
import os
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.settings import DangerFullAccess, SandboxMode, SandboxPolicy, WorkspaceWrite
from supervisor.agents.own.tools.arguments import ShellArguments
from supervisor.agents.own.tools.background import Background
from supervisor.agents.own.tools.command_result import CommandResult, not_started
from supervisor.agents.own.tools.patching import Patching
from supervisor.agents.own.tools.sandbox_failures import failure_of, may_be_held_back
from supervisor.agents.own.tools.time_limit import TimeLimit, time_limit
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.agents.turn import ApprovalAnswer
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.work.jobs.job import JobSpec
from supervisor.work.jobs.jobs import BackgroundJobs
from supervisor.work.patch.errors import PatchSyntax
from supervisor.work.patch.recognise import patch_in
from supervisor.work.processes.command import NotStarted
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes
from supervisor.work.processes.spawn import reason
from supervisor.work.safety.git_commands import history_directory
from supervisor.work.safety.hints import command_hints
from supervisor.work.safety.judge import confinement, judge_command
from supervisor.work.safety.program_names import are_system_programs
from supervisor.work.safety.rules import APPROVED_INSIDE, RETRY_REASON, MayRun, MustAsk, Reject, Verdict
from supervisor.work.sandbox.history_repository import Repository
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.sandbox import Sandbox

STAYS_INSIDE = "not run again outside of the sandbox: the settings were changed, and no longer allow it"
SHOWN = 200  # characters of an unusable directory name that are shown


class Shell(Struct, frozen=True):
    """One call of the tool."""

    processes: Processes
    sandbox: Sandbox
    jobs: BackgroundJobs
    work: Work
    call: OpenCall
    arguments: ShellArguments

    @property
    def cwd(self) -> Path:
        return self.work.settings.cwd / (self.arguments.workdir or "")

    async def run(self) -> ToolResult:
        arguments, bounds = self.arguments, self.work.bounds
        if sum(word.count("\n") for word in arguments.command) > bounds.patch_lines:  # before anything parses it
            return _unusable(bounds.describe_excess("patch_lines", "the command has too many lines"))
        if (wrong := _no_path(arguments.workdir or "")) is not None:
            return _unusable(wrong)
        try:
            patch = patch_in(arguments.command)
        except PatchSyntax as error:
            return failure("patch", f"error: {error.message}", f"the patch can't be read: {error.message}")
        if patch is not None:
            patching = Patching(self.sandbox, self.work, self.call)
            return await patching.apply(patch.text, self.cwd / (patch.workdir or ""))
        size = sum(map(len, (*arguments.command, arguments.workdir or "", arguments.justification or "")))
        if size > bounds.command_bytes:
            return _unusable(
                bounds.describe_excess("command_bytes", "the command is too long; write a file and run that")
            )
        return await self._run_as_judged()

    def _verdict(self, history: Repository | None = None) -> Verdict:
        """Judge by the settings of this moment."""
        arguments, settings, available = self.arguments, self.work.settings, self.sandbox.availability.ok
        return judge_command(
            arguments.command,
            settings.approval_policy,
            SandboxMode(settings.sandbox.mode),
            sandbox_available=available,
            plainly_named=not available
            and are_system_programs(arguments.command, self.work.env, settings.sandbox, settings.cwd),
            escalated=arguments.with_escalated_permissions,
            history=history is not None,
        )

    async def _run_as_judged(self) -> ToolResult:
        history = await self._history()
        match verdict := self._verdict(history):
            case Reject():
                return failure("refused", verdict.text)
            case MustAsk():
                asked = history if verdict.history else None
                why = self.arguments.justification or verdict.reason
                answer = await self._ask(why, history=asked, inside=verdict.inside)
                if not answer.is_approved:
                    return failure("refused", answer.rejection_of("exec command"))
                if asked is not None:
                    return await self._run_with_history(asked)
                return await self._run_approved(leaves=answer.outside or not verdict.inside)
            case MayRun():
                return await self._run_allowed(verdict)

    async def _run_with_history(self, asked: Repository) -> ToolResult:
        """Look and judge again. A question that is another by now is asked anew: only history was approved."""
        history = await self._history()
        if history == asked and self._verdict(history) == MustAsk(history=True):
            return self._report(await self._execute(self.work.settings.sandbox, history))
        return await self._run_as_judged()

    async def _run_approved(self, *, leaves: bool) -> ToolResult:
        """Judge an approved command again, because settings that changed meanwhile may allow less.

        `leaves`: the command was approved to run outside of the sandbox. If it was approved to run inside, and there
        is no inside any more, it is asked about anew.
        """
        match verdict := self._verdict():
            case Reject():
                return failure("refused", verdict.text)
            case MustAsk() if not (leaves or verdict.inside):
                return await self._run_as_judged()
            case MustAsk() if not leaves:
                return await self._run_allowed(APPROVED_INSIDE)
            case MustAsk() if self.arguments.background is not None:
                return await self._in_background(DangerFullAccess())
            case MustAsk():
                return self._report(await self._execute(DangerFullAccess()))
            case MayRun():
                return await self._run_allowed(verdict)

    async def _run_allowed(self, verdict: MayRun) -> ToolResult:
        if self.arguments.background is not None:
            return await self._in_background(confinement(verdict, self.work.settings.sandbox))
        return await self._run(verdict)

    async def _history(self) -> Repository | None:
        """Find the repository whose history the command changes, if the sandbox can open that alone."""
        settings, place = self.work.settings, history_directory(self.arguments.command)
        if place is None or self.arguments.background is not None or self.arguments.with_escalated_permissions:
            return None
        if not (isinstance(settings.sandbox, WorkspaceWrite) and self.sandbox.opens_history):
            return None
        return await asyncio.to_thread(self.sandbox.repository, settings.sandbox, settings.cwd, self.cwd / place)

    async def _in_background(self, policy: SandboxPolicy) -> ToolResult:
        order, keeps = self.work.turn.order, self.arguments.background == "conversation"
        spec = JobSpec(order.conversation, order.turn, self.arguments.command, self.cwd, keeps)
        return await Background(self.jobs, self.work, self.call).start(spec, lambda: self._confine(policy))

    async def _run(self, verdict: MayRun) -> ToolResult:
        ran = self._past_run() if verdict.retry_unsandboxed_on_failure or verdict.retry_where_held_back else None
        if ran is None:
            policy = confinement(verdict, self.work.settings.sandbox)
            ran = await self._execute(policy)
            if not self._is_worth_a_retry(verdict, policy, ran):
                return self._report(ran)
            self.work.say(ev.BackgroundEvent(message=f"Execution failed: exit code {ran.exit_code}"))
        answer = await self._ask(RETRY_REASON, retry=True, failed=failure_of(ran))
        if not answer.is_approved:
            return failure("refused", f"{answer.rejection_of('exec command')}\n{self._report(ran).text}")
        if not _may_leave(self._verdict()):
            self.work.say(ev.BackgroundEvent(message=STAYS_INSIDE))
            return self._report(ran)
        self.work.say(ev.BackgroundEvent(message="retrying command without sandbox"))
        return self._report(await self._execute(DangerFullAccess()))

    def _is_worth_a_retry(self, verdict: MayRun, policy: SandboxPolicy, ran: CommandResult) -> bool:
        if not (verdict.sandboxed and ran.maybe_sandbox_failure):
            return False
        held_back = verdict.retry_where_held_back and may_be_held_back(ran, policy, self.work.env)
        return verdict.retry_unsandboxed_on_failure or held_back

    def _past_run(self) -> CommandResult | None:
        """Return a result from an earlier life of this turn: no command is run again only to ask the same."""
        ended = self.work.transcript.calls.command_end(self.call.item)
        if ended is None or ended.exit_code is None:
            return None
        return CommandResult(ended.exit_code, ended.output, ended.errors, ended.duration.seconds)

    async def _ask(
        self,
        why: str | None,
        *,
        retry: bool = False,
        failed: str = "",
        history: Repository | None = None,
        inside: bool = False,
    ) -> ApprovalAnswer:
        work = self.work
        request = ev.ApprovalRequested(
            call_id=self.call.call,
            subject=ev.CommandSubject(command=self.arguments.command, cwd=self.cwd),
            reason=why,
            approval_id=work.new_approval(),
            item_id=self.call.item,
            retry=retry,
            outside_sandbox=history is None and not inside,  # any other approved command runs outside
            deadline_s=work.deadline_s,
            default=work.default,
            history_of=None if history is None else history.work_tree,
            background=self.arguments.background,
            inside_or_outside=inside,
            failed=failed,
        )
        return await work.ask(request)

    async def _execute(self, policy: SandboxPolicy, history: Repository | None = None) -> CommandResult:
        """Run the command; its begin and end events are sent in every case."""
        work, call, command = self.work, self.call, self.arguments.command
        subject = ev.CommandSubject(command=command, cwd=self.cwd, hints=command_hints(command))
        work.say(ev.WorkBegan(call_id=call.call, item_id=call.item, subject=subject))

        async def take(stream: Stream, chunk: bytes) -> None:
            work.turn.emit(ev.WorkOutput(call_id=call.call, item_id=call.item, stream=stream, chunk=chunk))
            await work.turn.wait_for_room()

        output = Output(take, keep_bytes=work.bounds.command_output_bytes)
        try:
            await work.turn.wait_until_stored()  # otherwise a crash could leave no record of a command that ran
            ran = await self._start(output, policy, history)
        except asyncio.CancelledError:
            self._say_ended(CommandResult(-1, output.stdout.text(), output.stderr.text(), 0.0), "cancelled")
            raise
        self._say_ended(ran, "failed" if ran.exit_code else "completed")
        return ran

    async def _start(self, output: Output, policy: SandboxPolicy, history: Repository | None) -> CommandResult:
        work, order = self.work, self.work.turn.order
        try:
            confining = in_a_thread(lambda: self._confine(policy, history), leave_there=history is not None)
            async with confining as confined:
                for notice in confined.notices:
                    work.say(ev.BackgroundEvent(message=notice))
                command = confined.command(
                    order.conversation, order.turn, self._time_limit.ms / 1000, work.environment.umask
                )
                result = await self.processes.run(command, output)
        except OSError as error:
            return not_started(NotStarted(reason(error)))
        for notice in confined.aftermath:
            work.say(ev.BackgroundEvent(message=notice))
        if isinstance(result, NotStarted):
            return not_started(result)
        return CommandResult(
            result.exit_code,
            output.stdout.text(),
            output.stderr.text(),
            result.duration_s,
            timed_out=result.timed_out,
            notices=(*confined.notices, *confined.aftermath),
        )

    @property
    def _time_limit(self) -> TimeLimit:
        return time_limit(self.arguments.timeout, self.work.bounds)

    def _confine(
        self, policy: SandboxPolicy, history: Repository | None = None
    ) -> AbstractContextManager[ConfinedCommand]:
        """Confine the command. Entered in a worker thread, because a disk that is away can block it."""
        work, settings = self.work, self.work.settings
        if isinstance(policy, WorkspaceWrite):  # as the call was judged; the settings may have changed since
            settings = settings.model_copy(update={"sandbox": policy})
        pins = self.sandbox.pins(work.turn.order.conversation, settings, work.env)
        argv, cwd = self.arguments.command, settings.cwd
        return self.sandbox.confine(policy, cwd, argv, work.env, start=self.cwd, pins=pins, history=history)

    def _report(self, ran: CommandResult) -> ToolResult:
        return ran.tool_result(self._time_limit, self.work.bounds)

    def _say_ended(self, ran: CommandResult, status: ev.WorkStatus) -> None:
        self.work.say(
            ev.WorkEnded(
                call_id=self.call.call,
                item_id=self.call.item,
                kind="command",
                status=status,
                output=ran.stdout,
                errors=ran.stderr,
                exit_code=ran.exit_code,
                duration=ev.Duration.from_seconds(ran.duration_s),
            )
        )


def _unusable(why: str) -> ToolResult:
    return failure("arguments", f"error: {why}")


def _may_leave(verdict: Verdict) -> bool:
    """Tell whether a command that was approved to run outside of the sandbox still may, by the present settings."""
    match verdict:
        case MayRun():
            return verdict.retry_unsandboxed_on_failure or not verdict.sandboxed
        case _:
            return isinstance(verdict, MustAsk)


def _no_path(workdir: str) -> str | None:
    """Return why a directory name can't be passed to the system at all, or None."""
    try:
        os.fsencode(workdir)
    except UnicodeEncodeError:
        return f"workdir {workdir[:SHOWN]!a} is no path: it can't be encoded; name a directory, or leave it out"
    if "\0" in workdir:
        return f"workdir {workdir[:SHOWN]!a} is no path: it has a NUL in it; name a directory, or leave it out"
    return None
