"""One tool call of a model, carried out from its arguments to the text that answers it.

Every mistake that a model can make is answered with text. Loop thread.
"""

from supervisor.agent.tools.arguments import BadArguments, PatchArguments, PlanArguments, ShellArguments, parsed
from supervisor.agent.tools.patching import Patching
from supervisor.agent.tools.plan import update_plan
from supervisor.agent.tools.shell import Shell
from supervisor.agent.tools.specs import APPLY_PATCH, SHELL_NAMES, UPDATE_PLAN
from supervisor.agent.tools.work import Work
from supervisor.agent.transcript import OpenCall


class Toolbox:
    def __init__(self, shell: Shell, patching: Patching) -> None:
        self._shell = shell
        self._patching = patching

    async def carry_out(self, work: Work, call: OpenCall) -> str:
        try:
            match call.name:
                case name if name in SHELL_NAMES:
                    return await self._shell.run(work, call, parsed(ShellArguments, call.arguments, work.bounds))
                case name if name == APPLY_PATCH:
                    text = parsed(PatchArguments, call.arguments, work.bounds).input
                    return await self._patching.apply(work, call, text, work.settings.cwd)
                case name if name == UPDATE_PLAN:
                    return update_plan(work, call, parsed(PlanArguments, call.arguments, work.bounds))
                case _:
                    return f"unsupported call: {call.name}"
        except BadArguments as error:
            return str(error)
