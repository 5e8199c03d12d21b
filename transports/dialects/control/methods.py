"""The table of the control API: each method's parameters, what it does, and which handler carries it out."""

from collections.abc import Mapping

from transports.dialects.control import handlers, params
from transports.dialects.control.subscriptions import ControlCall
from transports.dialects.kit.methods import Method, always, method

METHODS: Mapping[str, Method[ControlCall]] = {
    "conversation/create": method(params.Create, handlers.create, "A new conversation."),
    "conversation/list": method(params.ListConversations, handlers.list_conversations, "List conversations."),
    "conversation/search": method(
        params.Search,
        handlers.search,
        "Search what people, models and commands said in any conversation. What was stored in the last seconds may "
        "be missing, and so may older things while `read` is less than 1.",
    ),
    "conversation/resolve": method(params.Resolve, handlers.resolve, "The id that a prefix or a name stands for."),
    "conversation/get": method(params.Named, handlers.get, "One conversation in full."),
    "conversation/send": method(params.Send, handlers.send, "Say something."),
    "conversation/interrupt": method(
        params.Interrupt,
        handlers.interrupt,
        "Stop the turn; answered when all of it is gone. Again: kill.",
        urgent=always,
    ),
    "conversations/interrupt": method(
        params.InterruptMany, handlers.interrupt_many, "The same for several, or for all; one answer.", urgent=always
    ),
    "conversation/attach": method(
        params.Attach, handlers.attach, "Everything after a cursor, then live, as `events` notifications."
    ),
    "conversation/detach": method(params.Detach, handlers.detach, "End a subscription.", urgent=always),
    "conversation/history": method(params.History, handlers.history, "A page of stored events."),
    "events/read": method(
        params.ReadEvents,
        handlers.read_events,
        "Read stored events of all conversations, from a cursor on; may wait for the next. "
        "Of a fork or an import come the last events only: at most 64, and together at most 512 KiB.",
    ),
    "conversation/rename": method(params.Rename, handlers.rename, "Give or take a name."),
    "conversation/archive": method(
        params.Archive,
        handlers.archive,
        "Into the archive, or out of it. Queued input whose end somebody waits for is withdrawn; the rest is kept.",
    ),
    "conversation/restart": method(
        params.Named,
        handlers.restart,
        "Go on with a conversation that has failed; after a turn that ended in an error, without its pictures.",
    ),
    "conversation/resume_queue": method(
        params.Named, handlers.resume_queue, "Start the inputs that wait in a paused queue."
    ),
    "conversation/withdraw": method(params.Withdraw, handlers.withdraw, "Withdraw an input that waits."),
    "conversation/fork": method(params.Fork, handlers.fork, "A new conversation with this one's history."),
    "conversation/export": method(params.Export, handlers.export, "The history as JSON lines, in pieces."),
    "conversation/import": method(params.Import, handlers.import_, "A conversation from JSON lines."),
    "conversation/delete": method(params.Named, handlers.delete, "For good."),
    "approvals/list": method(params.ListApprovals, handlers.list_approvals, "List open approvals."),
    "approvals/answer": method(params.AnswerApproval, handlers.answer_approval, "Answer a question.", urgent=always),
    "request/cancel": method(params.Cancel, handlers.cancel, "Take an earlier request back.", urgent=always),
    "clients/list": method(params.Nothing, handlers.list_clients, "List connected clients and their subscriptions."),
    "clients/kill": method(params.KillClient, handlers.kill_client, "Disconnect a client.", urgent=always),
    "daemon/status": method(params.Nothing, handlers.status, "The daemon itself."),
    "daemon/reload": method(params.Nothing, handlers.reload, "Read the config again; answers what changed."),
    "daemon/down": method(params.Down, handlers.down, "Stop the daemon.", urgent=always),
    "config/get": method(params.ConfigGet, handlers.config_get, "The configuration in force, without secrets."),
    "schema": method(params.Nothing, handlers.schema, "The JSON Schema of this API."),
}
