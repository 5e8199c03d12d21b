"""The table of the control API: each method with its params and its handler. The schema's texts are elsewhere."""

from collections.abc import Mapping

from transports.dialects.control.api import params as p
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.control.handlers import approvals, conversations, daemon, jobs, reading, spending, turns
from transports.dialects.kit.methods import Method, always, method
from transports.jsonrpc import JsonObject


def schema(_: ControlCall, __: p.Nothing) -> JsonObject:
    from transports.dialects.control.schema import api_schema  # a megabyte of models; few clients ever ask

    return api_schema()


METHODS: Mapping[str, Method[ControlCall]] = {
    "conversation/create": method(p.Create, conversations.create),
    "conversation/list": method(p.ListConversations, conversations.list_conversations),
    "conversation/search": method(p.Search, conversations.search),
    "conversation/resolve": method(p.Resolve, conversations.resolve),
    "conversation/get": method(p.Named, conversations.get),
    "conversation/servers": method(p.Named, conversations.servers),
    "conversation/send": method(p.Send, turns.send),
    "conversation/compact": method(p.Compact, turns.compact),
    "conversation/interrupt": method(p.Interrupt, turns.interrupt, urgent=always),
    "conversations/interrupt": method(p.InterruptMany, turns.interrupt_many, urgent=always),
    "conversation/attach": method(p.Attach, reading.attach),
    "conversation/detach": method(p.Detach, reading.detach, urgent=always),
    "conversation/history": method(p.History, reading.history),
    "events/read": method(p.ReadEvents, reading.read_events),
    "conversation/set": method(p.Set, conversations.set_),
    "conversation/rename": method(p.Rename, conversations.rename),
    "conversation/archive": method(p.Archive, conversations.archive),
    "conversation/restart": method(p.Named, conversations.restart),
    "conversation/queue": method(p.ReadQueue, turns.read_queue),
    "conversation/resume_queue": method(p.Named, turns.resume_queue),
    "conversation/edit_input": method(p.EditInput, turns.edit_input),
    "conversation/move_input": method(p.MoveInput, turns.move_input),
    "conversation/withdraw": method(p.Withdraw, turns.withdraw),
    "conversation/fork": method(p.Fork, conversations.fork),
    "conversation/export": method(p.Export, conversations.export),
    "conversation/import": method(p.Import, conversations.import_),
    "conversation/delete": method(p.Named, conversations.delete),
    "conversation/budget": method(p.Budget, spending.budget),
    "budgets/shared": method(p.SharedBudgets, spending.shared_budgets),
    "usage/read": method(p.ReadUsage, spending.usage),
    "jobs/list": method(p.ListJobs, jobs.list_jobs),
    "jobs/read": method(p.ReadJob, jobs.read_job),
    "jobs/write": method(p.WriteJob, jobs.write_job),
    "jobs/wait": method(p.WaitForJob, jobs.wait_for_job),
    "jobs/end": method(p.NamedJob, jobs.end_job, urgent=always),
    "approvals/list": method(p.ListApprovals, approvals.list_approvals),
    "approvals/answer": method(p.AnswerApproval, approvals.answer_approval, urgent=always),
    "request/cancel": method(p.Cancel, approvals.cancel, urgent=always),
    "clients/list": method(p.Nothing, daemon.list_clients),
    "clients/kill": method(p.KillClient, daemon.kill_client, urgent=always),
    "daemon/status": method(p.Nothing, daemon.status),
    "daemon/reload": method(p.Nothing, daemon.reload),
    "daemon/down": method(p.Down, daemon.down, urgent=always),
    "config/get": method(p.ConfigGet, daemon.config_get),
    "agents/list": method(p.Nothing, daemon.list_agents),
    "agents/check": method(p.CheckAgent, daemon.check_agent),
    "schema": method(p.Nothing, schema),
}
