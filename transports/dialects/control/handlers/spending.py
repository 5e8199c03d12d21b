"""Budgets, and the use that is made of them."""

from actors.messages import conversation as m
from transports import requests as r
from transports.dialects.control.api import params as p
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.kit.script import (
    Script,
    ask,
    command,
    conversation_named,
)
from transports.jsonrpc import JsonObject


def budget(call: ControlCall, given: p.Budget) -> Script[JsonObject]:
    one = yield from conversation_named(given.conversation)
    now = yield from command(one, m.Inspect())
    read = yield from ask(r.ReadBudget(now.settings, now.spent, now.turn_spent, given.limits))
    if given.limits:
        change = m.ChangeSettings(read.settings, ("overrides",), now.settings, by=call.client.label)
        yield from command(one, change)
    return {"budgets": list(read.budgets)}


def usage(_: ControlCall, given: p.ReadUsage) -> Script[r.Plain]:
    return ask(r.ReadUsage(given.by, given.since, given.limit))


def shared_budgets(_: ControlCall, given: p.SharedBudgets) -> Script[r.Plain]:
    return ask(r.ReadSharedBudgets(given.limits))
