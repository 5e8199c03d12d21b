"""A patch from its text to the files: verified, judged, approved where the policy demands it, applied as a whole."""

import asyncio
from contextlib import AbstractContextManager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary import events as ev
from actors.vocabulary.settings import DangerFullAccess, SandboxMode, SandboxPolicy
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.agents.turn import ApprovalAnswer
from supervisor.config.bounds import Bounds
from supervisor.disk.workspace import missing_directory
from supervisor.loop.worker_job import WorkerJob, in_worker
from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.effort import Effort
from supervisor.work.patch.errors import PatchError, PatchMismatch, PatchStale
from supervisor.work.patch.grammar import parse
from supervisor.work.patch.plan import PatchPlan, plan_patch
from supervisor.work.reach.readable import Reach
from supervisor.work.safety.judge import judge_patch
from supervisor.work.safety.roots import are_writable, obeyed_by
from supervisor.work.safety.rules import MayRun, MustAsk, Reject, Verdict
from supervisor.work.sandbox.roots import Roots
from supervisor.work.sandbox.sandbox import Sandbox
from supervisor.work.sandbox.settings_watch import allow_writes


class PatchJudgement(Struct, frozen=True):
    """The verdict about a patch. `outside`: a command in the sandbox could not write all of it.

    `obeyed_by`: the programs that would obey the written files.
    """

    verdict: Verdict
    outside: bool
    obeyed_by: tuple[str, ...]


class Patching(Struct, frozen=True):
    """One call with a patch."""

    sandbox: Sandbox
    work: Work
    call: OpenCall

    async def apply(self, text: str, cwd: Path) -> ToolResult:
        try:
            plan = await in_worker(_plan, text, replace(self.work.reach, cwd=cwd), self.work.bounds)
        except PatchError as error:
            return failure("patch", f"error: {error.message}", f"the patch does not apply: {error.message}")
        judged = await asyncio.to_thread(self._judge, plan)
        verdict = judged.verdict
        match verdict:
            case Reject():
                return failure("refused", f"patch rejected: {verdict.text}")
            case MustAsk():
                answer = await self._ask(plan, judged)
                if not answer.is_approved:
                    return failure("refused", answer.rejection_of("patch"))
                now = await asyncio.to_thread(self._judge, plan)  # the settings may have changed meanwhile
                if isinstance(now.verdict, Reject):
                    return failure("refused", f"patch rejected: {now.verdict.text}")
            case MayRun():
                pass
        return await self._write(plan, auto_approved=not isinstance(verdict, MustAsk))

    def _judge(self, plan: PatchPlan) -> PatchJudgement:
        settings = self.work.settings
        with self._roots() as roots:
            inside = _may_write(settings.sandbox, roots, plan)
            obeyed = obeyed_by(roots, settings.cwd, plan.touched_paths)
        verdict = judge_patch(
            inside_roots=inside,
            empty=plan.empty,
            policy=settings.approval_policy,
            sandbox_mode=SandboxMode(settings.sandbox.mode),
            sandbox_available=self.sandbox.availability.ok,
            obeyed_by=obeyed,
        )
        return PatchJudgement(verdict, not inside, obeyed)

    def _roots(self) -> AbstractContextManager[Roots]:
        settings = self.work.settings
        pins = self.sandbox.pins(self.work.turn.order.conversation, settings, self.work.env)
        return self.sandbox.roots(settings.sandbox, settings.cwd, pins, self.work.env)

    def _apply(self, plan: PatchPlan, *, auto_approved: bool) -> str:
        """Write under the roots as they are now, which must still cover the plan if no person approved it."""
        with self._roots() as roots:
            if auto_approved and not _may_write(self.work.settings.sandbox, roots, plan):
                raise PatchStale("the directories that may be written have changed since the patch was verified")
            pinned = {root.path: root.identity() for root in roots.writable}
            with allow_writes(plan.touched_paths):
                return apply_plan(plan, self.work.environment.umask, pinned)

    async def _ask(self, plan: PatchPlan, judged: PatchJudgement) -> ApprovalAnswer:
        work = self.work
        request = ev.ApprovalRequested(
            call_id=self.call.call,
            subject=ev.FilesSubject(changes=plan.changes),
            reason=judged.verdict.reason if isinstance(judged.verdict, MustAsk) else None,
            outside_sandbox=judged.outside,
            obeyed_by=judged.obeyed_by,
            approval_id=work.new_approval(),
            item_id=self.call.item,
            deadline_s=work.deadline_s,
            default=work.default,
        )
        return await work.ask(request)

    async def _write(self, plan: PatchPlan, *, auto_approved: bool) -> ToolResult:
        work, call = self.work, self.call
        subject = ev.FilesSubject(changes=plan.changes)
        work.say(ev.WorkBegan(call_id=call.call, item_id=call.item, subject=subject, auto_approved=auto_approved))
        # The journal must have the beginning on disk before any file changes, or a crash would hide it.
        await work.turn.wait_until_stored()
        try:
            # A thread can't be cancelled half-way, so the turn's end waits for it: all of the patch, or nothing.
            thread = asyncio.to_thread(self._apply, plan, auto_approved=auto_approved)
            done = await asyncio.shield(applying := asyncio.ensure_future(thread))
        except asyncio.CancelledError:
            await asyncio.wait({applying})
            self._say_ended(plan, *_outcome(applying))
            raise
        except PatchError as error:
            self._say_ended(plan, "", error.message)
            text = f"error: {error.message}" if isinstance(error, PatchStale) else error.message
            return failure("patch", text, f"the patch could not be written: {error.message}")
        self._say_ended(plan, done, "")
        work.say(ev.TurnDiff(unified_diff=await in_worker(lambda job: work.changes.diff(job.go_on))))
        return ToolResult(done)

    def _say_ended(self, plan: PatchPlan, output: str, errors: str) -> None:
        if not errors:
            self.work.changes.remember(plan)
        self.work.say(
            ev.WorkEnded(
                call_id=self.call.call,
                item_id=self.call.item,
                kind="files",
                status="failed" if errors else "completed",
                output=output,
                errors=errors,
            )
        )


def _plan(job: WorkerJob, text: str, reach: Reach, bounds: Bounds) -> PatchPlan:
    if not reach.cwd.exists():
        raise PatchMismatch(missing_directory(reach.cwd))
    effort = Effort(bounds, job.go_on)
    effort.spend_lines(text.count("\n"))
    return plan_patch(parse(text, job.go_on), reach, effort)


def _may_write(policy: SandboxPolicy, roots: Roots, plan: PatchPlan) -> bool:
    return isinstance(policy, DangerFullAccess) or are_writable(roots, plan.touched_paths)


def _outcome(applying: "asyncio.Future[str]") -> tuple[str, str]:
    error = applying.exception()
    return (applying.result(), "") if error is None else ("", str(error))
