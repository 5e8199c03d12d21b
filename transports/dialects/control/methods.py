"""The table of the control API: each method's params, the handler that carries it out, the shape of the answer."""

from collections.abc import Mapping

from transports.dialects.control import handlers
from transports.dialects.control import params as p
from transports.dialects.control import shapes as s
from transports.dialects.control.subscriptions import ControlCall
from transports.dialects.kit.methods import Method, always, method

METHODS: Mapping[str, Method[ControlCall]] = {
    "conversation/create": method(p.Create, handlers.create, s.Created, "A new conversation."),
    "conversation/list": method(p.ListConversations, handlers.list_conversations, s.Rows, "List conversations."),
    "conversation/search": method(
        p.Search,
        handlers.search,
        s.Hits,
        "Search what people, models and commands said in any conversation. What was stored in the last seconds may "
        "be missing, and so may older things while `read` is less than 1.",
    ),
    "conversation/resolve": method(
        p.Resolve, handlers.resolve, s.Reference, "The id that a prefix or a name stands for."
    ),
    "conversation/get": method(p.Named, handlers.get, s.Conversation, "One conversation in full."),
    "conversation/send": method(p.Send, handlers.send, s.Taken | s.TurnOver, "Say something."),
    "conversation/interrupt": method(
        p.Interrupt,
        handlers.interrupt,
        s.Stopped,
        "Stop the turn; answered when all of it is gone. Again: kill.",
        urgent=always,
    ),
    "conversations/interrupt": method(
        p.InterruptMany,
        handlers.interrupt_many,
        s.StoppedMany,
        "The same for several, or for all; one answer.",
        urgent=always,
    ),
    "conversation/attach": method(
        p.Attach, handlers.attach, s.Attachment, "Everything after a cursor, then live, as `events` notifications."
    ),
    "conversation/detach": method(p.Detach, handlers.detach, s.Empty, "End a subscription.", urgent=always),
    "conversation/history": method(p.History, handlers.history, s.HistoryPage, "A page of stored events."),
    "events/read": method(
        p.ReadEvents,
        handlers.read_events,
        s.NewsPage,
        "Read stored events of all conversations, from a cursor on; may wait for the next. "
        "Of a fork or an import come the last events only: at most 64, and together at most 512 KiB.",
    ),
    "conversation/rename": method(p.Rename, handlers.rename, s.Empty, "Give or take a name."),
    "conversation/archive": method(
        p.Archive,
        handlers.archive,
        s.Empty,
        "Into the archive, or out of it. Queued input whose end somebody waits for is withdrawn; the rest is kept.",
    ),
    "conversation/restart": method(
        p.Named,
        handlers.restart,
        s.Empty,
        "Go on with a conversation that has failed; after a turn that ended in an error, without its pictures.",
    ),
    "conversation/resume_queue": method(
        p.Named, handlers.resume_queue, s.Empty, "Start the inputs that wait in a paused queue."
    ),
    "conversation/withdraw": method(p.Withdraw, handlers.withdraw, s.Empty, "Withdraw an input that waits."),
    "conversation/fork": method(p.Fork, handlers.fork, s.Reference, "A new conversation with this one's history."),
    "conversation/export": method(p.Export, handlers.export, s.Exported, "The history as JSON lines, in pieces."),
    "conversation/import": method(
        p.Import, handlers.import_, s.Reference | s.Uploaded, "A conversation from JSON lines."
    ),
    "conversation/delete": method(p.Named, handlers.delete, s.Reference, "For good."),
    "approvals/list": method(p.ListApprovals, handlers.list_approvals, s.Questions, "List open approvals."),
    "approvals/answer": method(
        p.AnswerApproval, handlers.answer_approval, s.Decided, "Answer a question.", urgent=always
    ),
    "request/cancel": method(p.Cancel, handlers.cancel, s.Empty, "Take an earlier request back.", urgent=always),
    "clients/list": method(
        p.Nothing, handlers.list_clients, s.Clients, "List connected clients and their subscriptions."
    ),
    "clients/kill": method(p.KillClient, handlers.kill_client, s.Empty, "Disconnect a client.", urgent=always),
    "daemon/status": method(p.Nothing, handlers.status, s.Status, "The daemon itself."),
    "daemon/reload": method(p.Nothing, handlers.reload, s.Reloaded, "Read the config again; answers what changed."),
    "daemon/down": method(p.Down, handlers.down, s.Stopping, "Stop the daemon.", urgent=always),
    "config/get": method(
        p.ConfigGet, handlers.config_get, s.Configured, "The configuration in force, without secrets."
    ),
    "schema": method(p.Nothing, handlers.schema, s.Schema, "The JSON Schema of this API."),
}
