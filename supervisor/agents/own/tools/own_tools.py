"""The tools of our own: shell, update_plan and apply_patch, as the toolbox has them. A new tool is a class here."""

from typing import ClassVar

from msgspec import Struct

from actors.vocabulary.events import PlanUpdate
from actors.vocabulary.settings import Settings
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools import specs
from supervisor.agents.own.tools.arguments import PatchArguments, PlanArguments, ShellArguments, parse_arguments
from supervisor.agents.own.tools.grep import GrepTool
from supervisor.agents.own.tools.job_tool import JobTool
from supervisor.agents.own.tools.patching import Patching
from supervisor.agents.own.tools.reading_tools import reading_tools
from supervisor.agents.own.tools.shell import Shell
from supervisor.agents.own.tools.tool_result import ToolResult
from supervisor.agents.own.tools.toolbox import Tool
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.work.jobs.jobs import BackgroundJobs
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.sandbox import Sandbox


def own_tools(
    processes: Processes, sandbox: Sandbox, jobs: BackgroundJobs, bounds: Bounds = DEFAULTS
) -> tuple[Tool, ...]:
    return (
        ShellTool(processes, sandbox, jobs, bounds),
        JobTool(jobs),
        PlanTool(),
        PatchTool(sandbox),
        *reading_tools(sandbox),
        GrepTool(processes, sandbox),
    )


class ShellTool(Struct, frozen=True):
    names: ClassVar = specs.SHELL_NAMES
    only_reads: ClassVar = False
    processes: Processes
    sandbox: Sandbox
    jobs: BackgroundJobs
    bounds: Bounds = DEFAULTS

    def spec(self, settings: Settings) -> ToolSpec | None:
        return specs.shell(settings, self.bounds)

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        arguments = parse_arguments(ShellArguments, call.arguments, work.bounds)
        return await Shell(self.processes, self.sandbox, self.jobs, work, call, arguments).run()


class PlanTool(Struct, frozen=True):
    names: ClassVar = frozenset({specs.UPDATE_PLAN})
    only_reads: ClassVar = False

    def spec(self, settings: Settings) -> ToolSpec | None:
        return specs.PLAN if settings.include_plan_tool else None

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        plan = parse_arguments(PlanArguments, call.arguments, work.bounds)
        work.say(PlanUpdate(explanation=plan.explanation, plan=plan.plan, item_id=call.item))
        return ToolResult("Plan updated")


class PatchTool(Struct, frozen=True):
    names: ClassVar = frozenset({specs.APPLY_PATCH})
    only_reads: ClassVar = False
    sandbox: Sandbox

    def spec(self, settings: Settings) -> ToolSpec | None:
        return specs.patch(settings) if settings.include_apply_patch_tool else None

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        text = parse_arguments(PatchArguments, call.arguments, work.bounds).input
        return await Patching(self.sandbox, work, call).apply(text, work.settings.cwd)
