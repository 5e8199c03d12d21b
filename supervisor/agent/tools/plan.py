"""The tool that shows the model's plan: an event, and a fixed answer."""

from actors.vocabulary.events import PlanUpdate
from supervisor.agent.tools.arguments import PlanArguments
from supervisor.agent.tools.work import Work
from supervisor.agent.transcript import OpenCall


def update_plan(work: Work, call: OpenCall, arguments: PlanArguments) -> str:
    work.say(PlanUpdate(explanation=arguments.explanation, plan=arguments.plan, item_id=call.item))
    return "Plan updated"
