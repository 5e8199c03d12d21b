"""The schema's description of each method besides its params: the shape of the answer, and a summary.

Loaded with the schema alone: these models take a megabyte, and few clients ask for the schema.
"""

from collections.abc import Mapping

from msgspec import Struct

from actors.vocabulary import answers as a
from transports import supervisor_answers as sa
from transports.dialects.control.api import answers as c
from transports.dialects.control.api import shapes as s


class MethodDescription(Struct, frozen=True):
    result: object  # the model of the answer, or a union of models
    summary: str


DESCRIPTIONS: Mapping[str, MethodDescription] = {
    "conversation/create": MethodDescription(c.CreatedConversation, "A new conversation."),
    "conversation/list": MethodDescription(c.ConversationPage, "List conversations."),
    "conversation/search": MethodDescription(
        sa.SearchHits,
        "Search what people, models and commands said in any conversation. What was stored in the last seconds may "
        "be missing, and so may older things while `read` is less than 1.",
    ),
    "conversation/resolve": MethodDescription(a.ResolvedReference, "The id that a prefix or a name stands for."),
    "conversation/get": MethodDescription(a.ConversationSummary, "One conversation in full."),
    "conversation/servers": MethodDescription(
        sa.Servers, "The MCP servers that clients have given a conversation, besides those of the config; no secret."
    ),
    "conversation/send": MethodDescription(a.AcceptedInput | a.TurnResult, "Say something."),
    "conversation/compact": MethodDescription(
        a.AcceptedInput | a.TurnResult,
        "Sum up the history, so that there is room again in the model's context. It has a turn of its own; while "
        "another runs it waits for that.",
    ),
    "conversation/interrupt": MethodDescription(
        a.InterruptedTurn, "Stop the turn; answered when all of it is gone. Again: kill."
    ),
    "conversations/interrupt": MethodDescription(c.InterruptOutcomes, "The same for several, or all; one answer."),
    "conversation/attach": MethodDescription(
        a.AttachedReader, "Everything after a cursor, then live, as `events` notifications."
    ),
    "conversation/detach": MethodDescription(a.Done, "End a subscription."),
    "conversation/history": MethodDescription(c.HistoryPage, "A page of stored events."),
    "events/read": MethodDescription(
        c.NewsPage,
        "Read stored events of all conversations, from a cursor on; may wait for the next. "
        "Of a fork or an import come the last events only: at most 64, and together at most 512 KiB.",
    ),
    "conversation/set": MethodDescription(
        a.ChangedSettings,
        "Change settings: all that is named, or nothing. They count from the next model request on, policy and "
        "sandbox from the next call on; in a turn that runs, too.",
    ),
    "conversation/rename": MethodDescription(a.Done, "Give or take a name."),
    "conversation/archive": MethodDescription(
        a.Done,
        "Into the archive, or out of it. Queued input whose end somebody waits for is withdrawn; the rest is kept.",
    ),
    "conversation/restart": MethodDescription(
        a.Done,
        "Go on with a conversation that has failed; after a turn that ended in an error, without its pictures.",
    ),
    "conversation/queue": MethodDescription(a.WaitingInputs, "The inputs that wait, in their order."),
    "conversation/resume_queue": MethodDescription(a.Done, "Start the inputs that wait in a paused queue."),
    "conversation/edit_input": MethodDescription(
        a.Done,
        "Give an input that waits other content. Its sender, if it waits, is answered by the turn that takes it.",
    ),
    "conversation/move_input": MethodDescription(
        a.Done, "Give an input that waits another place among those like it."
    ),
    "conversation/withdraw": MethodDescription(
        a.Done,
        "Withdraw an input that waits, or all. A sender that waits is told that it was withdrawn, and by whom.",
    ),
    "conversation/fork": MethodDescription(sa.StoredConversation, "A new conversation with this one's history."),
    "conversation/export": MethodDescription(sa.ExportedHistory, "Write the history into a file, as JSON lines."),
    "conversation/import": MethodDescription(
        sa.ImportedConversation,
        "A conversation from a file of JSON lines. It is run by the settings of a new one of this client, not by the "
        "file's.",
    ),
    "conversation/delete": MethodDescription(sa.StoredConversation, "For good."),
    "conversation/budget": MethodDescription(
        sa.Budgets, "The budgets of a conversation and what is used of them; `limits` gives it new ones."
    ),
    "budgets/shared": MethodDescription(
        sa.Budgets,
        "The budgets of the day and of the home and what is used of them; `limits` raises them above the config's.",
    ),
    "usage/read": MethodDescription(sa.Usage, "What was spent, by day, model, directory or conversation."),
    "jobs/list": MethodDescription(sa.Jobs, "List background commands."),
    "jobs/read": MethodDescription(sa.JobOutput, "Read the output of a background command; may wait for some."),
    "jobs/write": MethodDescription(sa.Job, "Write to a background command."),
    "jobs/wait": MethodDescription(sa.Job, "Wait for the end of a background command."),
    "jobs/end": MethodDescription(sa.Job, "End a background command; answered when all of it is gone."),
    "approvals/list": MethodDescription(s.Questions, "List open approvals."),
    "approvals/answer": MethodDescription(a.AnsweredApproval, "Answer a question."),
    "request/cancel": MethodDescription(a.Done, "Take an earlier request back."),
    "clients/list": MethodDescription(sa.Clients, "List connected clients and their subscriptions."),
    "clients/kill": MethodDescription(a.Done, "Disconnect a client."),
    "daemon/status": MethodDescription(sa.DaemonStatus, "The daemon itself."),
    "daemon/reload": MethodDescription(sa.ReloadedConfig, "Read the config again; answers what changed."),
    "daemon/down": MethodDescription(sa.StoppingDaemon, "Stop the daemon."),
    "config/get": MethodDescription(sa.ConfigValue, "The configuration in force, without secrets."),
    "agents/list": MethodDescription(
        sa.Agents,
        "List the agents that can carry out turns, as this client has them, and how to get what is missing.",
    ),
    "agents/check": MethodDescription(
        sa.AgentTrial, "Start an agent as for a conversation, ask what it can do, and end it; no prompt is sent."
    ),
    "schema": MethodDescription(s.Schema, "The JSON Schema of this API."),
}
