"""A patch from its text to the files: verified first, judged, asked about where policy says so, applied whole."""

import asyncio
from pathlib import Path

from actors import events as ev
from actors.settings import SandboxMode
from supervisor.agent.bounds import Bounds
from supervisor.agent.chore import Chore, in_worker
from supervisor.agent.patch.apply import apply_plan
from supervisor.agent.patch.effort import Effort
from supervisor.agent.patch.errors import PatchError, PatchStale
from supervisor.agent.patch.grammar import parse
from supervisor.agent.patch.plan import PatchPlan, plan_patch
from supervisor.agent.patch.turn_diff import TurnChanges
from supervisor.agent.safety.judge import judge_patch
from supervisor.agent.safety.roots import writable_roots
from supervisor.agent.safety.rules import Ask, Reject, Run, Verdict
from supervisor.agent.sandbox import Sandbox
from supervisor.agent.tools.work import Work
from supervisor.agent.transcript import OpenCall


class Patching:
    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    async def apply(self, work: Work, call: OpenCall, text: str, cwd: Path) -> str:
        """What the model gets to read."""
        try:
            plan = await in_worker(_planned, text, cwd, work.bounds)
        except PatchError as error:
            return f"error: {error.message}"
        verdict = await asyncio.to_thread(self._judge, work, plan)
        match verdict:
            case Reject():
                return f"patch rejected: {verdict.text}"
            case Ask():
                answer = await work.ask(self._request(work, call, plan, verdict))
                if not answer.approved:
                    return _rejected(answer.reason)
            case Run():
                pass
        return await self._write(work, call, plan, auto_approved=not isinstance(verdict, Ask))

    def _judge(self, work: Work, plan: PatchPlan) -> Verdict:
        settings = work.settings
        tmpdir = Path(work.env["TMPDIR"]) if work.env.get("TMPDIR") else None
        return judge_patch(
            inside_roots=writable_roots(settings.sandbox, settings.cwd, tmpdir).cover(plan.touched),
            empty=plan.empty,
            policy=settings.approval_policy,
            sandbox_mode=SandboxMode(settings.sandbox.mode),
            sandbox_available=self._sandbox.availability.ok,
        )

    def _request(self, work: Work, call: OpenCall, plan: PatchPlan, verdict: Ask) -> ev.ApplyPatchApprovalRequest:
        return ev.ApplyPatchApprovalRequest(
            call_id=call.call,
            changes=plan.changes,
            reason=verdict.reason,
            approval_id=work.new_approval(),
            item_id=call.item,
            deadline_s=work.deadline_s,
            default=work.default,
        )

    async def _write(self, work: Work, call: OpenCall, plan: PatchPlan, *, auto_approved: bool) -> str:
        work.say(
            ev.PatchApplyBegin(
                call_id=call.call, auto_approved=auto_approved, changes=plan.changes, item_id=call.item
            )
        )
        # What is done to the files must stand in the history, whatever becomes of the disk or of us.
        await work.turn.stored()
        try:
            # A thread can't be cancelled half-way, so the turn's end waits for it: all of the patch, or nothing.
            done = await asyncio.shield(applying := asyncio.ensure_future(asyncio.to_thread(apply_plan, plan)))
        except asyncio.CancelledError:
            await asyncio.wait({applying})
            self._ended(work, call, plan, *_outcome(applying))
            raise
        except PatchError as error:
            self._ended(work, call, plan, "", error.message)
            return f"error: {error.message}" if isinstance(error, PatchStale) else error.message
        self._ended(work, call, plan, done, "")
        work.say(ev.TurnDiff(unified_diff=await in_worker(_all_changes, work.changes)))
        return done

    def _ended(self, work: Work, call: OpenCall, plan: PatchPlan, stdout: str, stderr: str) -> None:
        if not stderr:
            work.changes.remember(plan)
        work.say(
            ev.PatchApplyEnd(call_id=call.call, stdout=stdout, stderr=stderr, success=not stderr, item_id=call.item)
        )


def _planned(chore: Chore, text: str, cwd: Path, bounds: Bounds) -> PatchPlan:
    effort = Effort(bounds, chore.go_on)
    effort.spend_lines(text.count("\n"))
    return plan_patch(parse(text, chore.go_on), cwd, effort)


def _all_changes(chore: Chore, changes: TurnChanges) -> str:
    return changes.diff(chore.go_on)


def _outcome(applying: "asyncio.Future[str]") -> tuple[str, str]:
    error = applying.exception()
    return (applying.result(), "") if error is None else ("", str(error))


def _rejected(reason: str) -> str:
    return f"patch rejected by user: {reason}" if reason else "patch rejected by user"
