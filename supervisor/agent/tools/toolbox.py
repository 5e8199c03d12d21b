"""One tool call of a model, carried out from its arguments to the text that answers it.

Every mistake that a model can make is answered with text. Loop thread.
"""

from msgspec import Struct

from actors.vocabulary.events import PlanUpdate
from supervisor.agent.processes.processes import Processes
from supervisor.agent.sandbox.sandbox import Sandbox
from supervisor.agent.tools.arguments import BadArguments, PatchArguments, PlanArguments, ShellArguments, parsed
from supervisor.agent.tools.patching import Patching
from supervisor.agent.tools.shell import Shell
from supervisor.agent.tools.specs import APPLY_PATCH, SHELL_NAMES, UPDATE_PLAN
from supervisor.agent.tools.work import Work
from supervisor.agent.transcript import OpenCall


class Toolbox(Struct, frozen=True):
    processes: Processes
    sandbox: Sandbox

    async def carry_out(self, work: Work, call: OpenCall) -> str:
        try:
            match call.name:
                case name if name in SHELL_NAMES:
                    arguments = parsed(ShellArguments, call.arguments, work.bounds)
                    return await Shell(self.processes, self.sandbox, work, call, arguments).run()
                case name if name == APPLY_PATCH:
                    text = parsed(PatchArguments, call.arguments, work.bounds).input
                    return await Patching(self.sandbox, work, call).apply(text, work.settings.cwd)
                case name if name == UPDATE_PLAN:
                    plan = parsed(PlanArguments, call.arguments, work.bounds)
                    work.say(PlanUpdate(explanation=plan.explanation, plan=plan.plan, item_id=call.item))
                    return "Plan updated"
                case _:
                    return f"unsupported call: {call.name}"
        except BadArguments as error:
            return str(error)
