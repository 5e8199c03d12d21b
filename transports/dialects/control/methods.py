"""The table of the control API: each method's parameters, what it does, and which handler carries it out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from transports.dialect import Action
from transports.dialects.control import handlers, params

if TYPE_CHECKING:
    from transports.dialects.control.call import Call

Handler = Callable[["Call", Any], Iterable[Action]]


@dataclass(frozen=True, slots=True)
class Method:
    params: type[BaseModel]
    handler: Handler
    summary: str
    urgent: bool = False  # ends other requests, so it is let in when there is room for no more of those


METHODS: dict[str, Method] = {
    "conversation/create": Method(params.Create, handlers.create, "A new conversation."),
    "conversation/list": Method(params.ListConversations, handlers.list_conversations, "List conversations."),
    "conversation/resolve": Method(params.Resolve, handlers.resolve, "The id that a prefix or a name stands for."),
    "conversation/get": Method(params.Named, handlers.get, "One conversation in full."),
    "conversation/send": Method(params.Send, handlers.send, "Say something."),
    "conversation/interrupt": Method(
        params.Interrupt,
        handlers.interrupt,
        "Stop the turn; answered when all of it is gone. Again: kill.",
        urgent=True,
    ),
    "conversations/interrupt": Method(
        params.InterruptMany, handlers.interrupt_many, "The same for several, or for all; one answer.", urgent=True
    ),
    "conversation/attach": Method(
        params.Attach, handlers.attach, "Everything after a cursor, then live, as `events` notifications."
    ),
    "conversation/detach": Method(params.Detach, handlers.detach, "End a subscription.", urgent=True),
    "conversation/history": Method(params.History, handlers.history, "A page of stored events."),
    "events/read": Method(
        params.ReadEvents,
        handlers.read_events,
        "Read stored events of all conversations, from a cursor on; may wait for the next.",
    ),
    "conversation/rename": Method(params.Rename, handlers.rename, "Give or take a name."),
    "conversation/archive": Method(
        params.Archive,
        handlers.archive,
        "Into the archive, or out of it. Queued input whose end somebody waits for is withdrawn; the rest is kept.",
    ),
    "conversation/restart": Method(
        params.Named,
        handlers.restart,
        "Go on with a conversation that has failed; after a turn that ended in an error, without its pictures.",
    ),
    "conversation/resume_queue": Method(
        params.Named, handlers.resume_queue, "Start the inputs that wait in a paused queue."
    ),
    "conversation/withdraw": Method(params.Withdraw, handlers.withdraw, "Withdraw an input that waits."),
    "conversation/fork": Method(params.Fork, handlers.fork, "A new conversation with this one's history."),
    "conversation/export": Method(params.Export, handlers.export, "The history as JSON lines, in pieces."),
    "conversation/import": Method(params.Import, handlers.import_, "A conversation from JSON lines."),
    "conversation/delete": Method(params.Named, handlers.delete, "For good."),
    "approvals/list": Method(params.ListApprovals, handlers.list_approvals, "List open approvals."),
    "approvals/answer": Method(params.AnswerApproval, handlers.answer_approval, "Answer a question.", urgent=True),
    "request/cancel": Method(params.Cancel, handlers.cancel, "Take an earlier request back.", urgent=True),
    "clients/list": Method(params.Nothing, handlers.list_clients, "List connected clients and their subscriptions."),
    "clients/kill": Method(params.KillClient, handlers.kill_client, "Disconnect a client.", urgent=True),
    "daemon/status": Method(params.Nothing, handlers.status, "The daemon itself."),
    "daemon/reload": Method(params.Nothing, handlers.reload, "Read the config again; answers what changed."),
    "daemon/down": Method(params.Down, handlers.down, "Stop the daemon.", urgent=True),
    "config/get": Method(params.ConfigGet, handlers.config_get, "The configuration in force, without secrets."),
    "schema": Method(params.Nothing, handlers.schema, "The JSON Schema of this API."),
}
