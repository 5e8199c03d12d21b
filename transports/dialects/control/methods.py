"""The table of the control API: each method with its params and its handler. The schema's texts are elsewhere."""

from collections.abc import Mapping

from transports.dialects.control.api import params as p
from transports.dialects.control.api.subscriptions import ControlCall
from transports.dialects.control.handlers import approvals, conversations, daemon, jobs, reading, spending, turns
from transports.dialects.kit.methods import Method, always_urgent, method
from transports.jsonrpc import JsonObject


def schema(_: ControlCall, __: p.EmptyParams) -> JsonObject:
    from transports.dialects.control.schema import api_schema  # a megabyte of models; few clients ever ask

    return api_schema()


METHODS: Mapping[str, Method[ControlCall]] = {
    "conversation/create": method(p.CreateParams, conversations.create),
    "conversation/list": method(p.ListConversationsParams, conversations.list_conversations),
    "conversation/search": method(p.SearchParams, conversations.search),
    "conversation/resolve": method(p.ResolveParams, conversations.resolve),
    "conversation/get": method(p.ConversationParams, conversations.get),
    "conversation/servers": method(p.ConversationParams, conversations.servers),
    "conversation/send": method(p.SendParams, turns.send),
    "conversation/compact": method(p.CompactParams, turns.compact),
    "conversation/interrupt": method(p.InterruptParams, turns.interrupt, urgent=always_urgent),
    "conversations/interrupt": method(p.InterruptManyParams, turns.interrupt_many, urgent=always_urgent),
    "conversation/attach": method(p.AttachParams, reading.attach),
    "conversation/detach": method(p.DetachParams, reading.detach, urgent=always_urgent),
    "conversation/history": method(p.HistoryParams, reading.history),
    "events/read": method(p.ReadEventsParams, reading.read_events),
    "conversation/set": method(p.SetParams, conversations.set_),
    "conversation/rename": method(p.RenameParams, conversations.rename),
    "conversation/archive": method(p.ArchiveParams, conversations.archive),
    "conversation/restart": method(p.ConversationParams, conversations.restart),
    "conversation/queue": method(p.ReadQueueParams, turns.read_queue),
    "conversation/resume_queue": method(p.ConversationParams, turns.resume_queue),
    "conversation/edit_input": method(p.EditInputParams, turns.edit_input),
    "conversation/move_input": method(p.MoveInputParams, turns.move_input),
    "conversation/withdraw": method(p.WithdrawParams, turns.withdraw),
    "conversation/fork": method(p.ForkParams, conversations.fork),
    "conversation/export": method(p.ExportParams, conversations.export),
    "conversation/import": method(p.ImportParams, conversations.import_),
    "conversation/delete": method(p.ConversationParams, conversations.delete),
    "conversation/budget": method(p.BudgetParams, spending.budget),
    "budgets/shared": method(p.SharedBudgetsParams, spending.shared_budgets),
    "usage/read": method(p.ReadUsageParams, spending.usage),
    "jobs/list": method(p.ListJobsParams, jobs.list_jobs),
    "jobs/read": method(p.ReadJobParams, jobs.read_job),
    "jobs/write": method(p.WriteJobParams, jobs.write_job),
    "jobs/wait": method(p.WaitForJobParams, jobs.wait_for_job),
    "jobs/end": method(p.JobParams, jobs.end_job, urgent=always_urgent),
    "approvals/list": method(p.ListApprovalsParams, approvals.list_approvals),
    "approvals/answer": method(p.AnswerApprovalParams, approvals.answer_approval, urgent=always_urgent),
    "request/cancel": method(p.CancelParams, approvals.cancel, urgent=always_urgent),
    "clients/list": method(p.EmptyParams, daemon.list_clients),
    "clients/kill": method(p.KillClientParams, daemon.kill_client, urgent=always_urgent),
    "daemon/status": method(p.EmptyParams, daemon.status),
    "daemon/reload": method(p.EmptyParams, daemon.reload),
    "daemon/down": method(p.DownParams, daemon.stop_daemon, urgent=always_urgent),
    "config/get": method(p.ConfigGetParams, daemon.config_get),
    "agents/list": method(p.EmptyParams, daemon.list_agents),
    "agents/check": method(p.CheckAgentParams, daemon.check_agent),
    "schema": method(p.EmptyParams, schema),
}
