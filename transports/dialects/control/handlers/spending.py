"""Budgets, and spending."""

from actors.messages import conversation as m
from transports import supervisor_requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    command,
    conversation_named,
)
from transports.supervisor_answers import Budgets, Usage


def budget(call: ControlCall, params: p.BudgetParams) -> Script[Budgets]:
    conversation = yield from conversation_named(params.conversation)
    now = yield from command(conversation, m.InspectSpending())
    result = yield from ask(r.ReadBudget(now.settings, now.spent, now.turn_spent, params.limits))
    if params.limits:
        change = m.ChangeSettings(result.settings, ("overrides",), now.settings, by=call.client.label)
        yield from command(conversation, change)
    return result.budgets


def usage(_: ControlCall, params: p.ReadUsageParams) -> Script[Usage]:
    return ask(r.ReadUsage(params.by, params.since, params.limit))


def shared_budgets(_: ControlCall, params: p.SharedBudgetsParams) -> Script[Budgets]:
    return ask(r.ReadSharedBudgets(params.limits))
