"""The shapes of answers and notifications of the control API: the models behind its schema.

`results` writes each answer with the members of its shape.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from actors.vocabulary.answers import Condition, Ending, LastEnding
from actors.vocabulary.events import (
    ApplyPatchApprovalRequest,
    ElicitationApprovalRequest,
    Envelope,
    ExecApprovalRequest,
    McpToolCallApprovalRequest,
    ToolUseApprovalRequest,
)
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.vocabulary.items import InputItem
from actors.vocabulary.settings import BusyPolicy, Decision, SettingChange, Settings

ENDED_DESCRIPTION = (
    "How the last turn ended, until the next begins; null: none has. denied: somebody said no to a question."
)


class Shape(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Empty(Shape):
    """Done; there is nothing more to say."""


class Reference(Shape):
    conversation: ConversationId = Field(description="Its id.")


class Created(Reference):
    settings: Settings = Field(description="How it is run.")
    notice: str | None = Field(
        description="One line for a person: which model was chosen, and how to choose another."
    )
    warnings: tuple[str, ...] = Field(description="Keys of the config that are ignored.")


class Row(Reference):
    name: str | None = Field(description="Its name.")
    state: Condition = Field(description="Its state.")
    cwd: str = Field(description="Its working directory.")
    agent: str = Field(description="The agent of its turns; empty: Greenroom's own.")
    model: str = Field(
        description="Its model, as far as it is known; empty: one that another agent has chosen itself."
    )
    preview: str = Field(description="What it is about: its agent's title for it, or how it began.")
    created: float = Field(description="When, in seconds since 1970.")
    updated: float = Field(description="When its last event happened.")
    seq: int = Field(description="The number of its last event.")
    tokens: int = Field(description="Tokens used so far.")
    usd: float = Field(description="Their price in US dollars, as far as it is known.")
    unpriced: int = Field(description="Responses whose price is not known.")
    uncounted: int = Field(description="Responses whose tokens the server has not told.")
    context_tokens: int | None = Field(description="How full the model's context is; null where nobody knows.")
    context_window: int | None = Field(description="Tokens that the model can read at once; null where unknown.")
    archived: bool = Field(description="Left out of lists unless asked for.")
    queued: int | None = Field(description="How many inputs wait; null where that was not noted.")
    ended: LastEnding | None = Field(description=ENDED_DESCRIPTION)


class Rows(Shape):
    conversations: tuple[Row, ...] = Field(description="Most recently used first.")
    total: int = Field(description="How many there are on all pages.")
    next_cursor: str | None = Field(description="For the next page; null on the last.")


class QuestionPlace(Shape):
    conversation: ConversationId = Field(description="The conversation that asks.")
    seq: int | None = Field(None, description="Its event, in lists, where that is known.")
    ts: float | None = Field(None, description="When it was asked, in lists, where that is known.")


class ExecQuestion(QuestionPlace, ExecApprovalRequest): ...


class PatchQuestion(QuestionPlace, ApplyPatchApprovalRequest): ...


class ToolQuestion(QuestionPlace, McpToolCallApprovalRequest): ...


class ServerQuestion(QuestionPlace, ElicitationApprovalRequest): ...


class AgentQuestion(QuestionPlace, ToolUseApprovalRequest): ...


AskedQuestion = ExecQuestion | PatchQuestion | ToolQuestion | ServerQuestion | AgentQuestion


class Reader(Shape):
    connection: ConnectionId = Field(description="Whose.")
    subscription: SubscriptionId = Field(description="Which.")
    seq: int = Field(description="The last event it was given.")
    behind: int = Field(description="How many it was not given yet.")
    read_only: bool = Field(description="It only watches.")


class Waiting(Shape):
    input: InputId = Field(description="Its id.")
    policy: BusyPolicy = Field(description="steer: joins the running turn. enqueue, interrupt: gets its own.")
    preview: str = Field(description="Its first words.")
    by: str = Field(description="Which client sent it.")
    since: float = Field(description="When, in seconds since 1970; 0 where that was not noted.")


class WaitingWhole(Waiting):
    items: tuple[InputItem, ...] = Field(description="The message whole.")


class WaitingInputs(Shape):
    paused: bool = Field(description="True while it is held until somebody lets it go on.")
    turn: TurnId | None = Field(description="The turn that runs before them.")
    waiting: tuple[Waiting | WaitingWhole, ...] = Field(description="In the order in which they will run.")


class OptionNow(Shape):
    id: str = Field(description="The agent's id of it.")
    name: str = Field(description="What it is, in the agent's words.")
    category: str = Field(description="mode, model, thought_level, or what the agent calls it.")
    value: str = Field(description="What it is now.")


class AgentNow(Shape):
    agent: str = Field(description="Its name in the config.")
    session: str = Field(description="Its own id of the session.")
    how: str = Field(description="How that began: new, resumed, loaded, seeded; empty: not yet.")
    program: str = Field(description="What the program calls itself, with its version.")
    can: tuple[str, ...] = Field(description="What it said that it can do.")
    note: str = Field(description="What a person should know about how it began; empty: nothing.")
    model: str = Field(description="Its model; empty: it has not said.")
    mode: str = Field(description="Its mode; empty: it has not said.")
    options: tuple[OptionNow, ...] = Field(description="All that can be set in it, with the values now.")


class Conversation(Reference):
    state: Condition = Field(description="Its state.")
    name: str | None = Field(description="Its name.")
    settings: Settings = Field(description="How it is run.")
    seq: int = Field(description="The number of its last stored event.")
    turn: TurnId | None = Field(description="The open turn.")
    queued: int = Field(description="How many inputs wait.")
    waiting: tuple[Waiting, ...] = Field(description="The inputs that wait, in the order in which they will run.")
    paused: bool = Field(description="True while queued inputs are held until somebody lets them go on.")
    pending: tuple[AskedQuestion, ...] = Field(description="Questions that wait for an answer.")
    readers: tuple[Reader, ...] = Field(description="Attached clients.")
    tokens: int = Field(description="Tokens used so far.")
    usd: float = Field(description="Their price in US dollars, as far as it is known.")
    unpriced: int = Field(description="Responses whose price is not known.")
    uncounted: int = Field(description="Responses whose tokens the server has not told.")
    context_tokens: int | None = Field(description="How full the model's context is; null where nobody knows.")
    context_window: int | None = Field(description="Tokens that the model can read at once; null where unknown.")
    created: float = Field(description="When, in seconds since 1970.")
    updated: float = Field(description="When its last event happened.")
    preview: str = Field(description="What it is about: its agent's title for it, or how it began.")
    agent_now: AgentNow | None = Field(
        description="What its agent has said of itself last; null: nothing yet, or it is Greenroom's own."
    )
    failed: str | None = Field(description="Why it was given up; null after a restart.")
    ended: LastEnding | None = Field(description=ENDED_DESCRIPTION)


class Changed(Shape):
    settings: Settings = Field(description="How it is run now.")
    name: str | None = Field(description="Its name now.")
    changed: tuple[SettingChange, ...] = Field(description="What has changed; empty if all of it was so already.")
    turn: TurnId | None = Field(description="The turn that goes on with them.")


class Taken(Shape):
    """Without `wait`: the input is stored."""

    input: InputId = Field(description="Its id.")
    turn: TurnId | None = Field(description="The turn that runs it; null while it waits.")
    seq: int = Field(description="The last event of that moment.")
    queued: int = Field(description="How many inputs wait.")
    duplicate: bool = Field(description="The key was known: this is the input of the first request.")


class TurnOver(Shape):
    """With `wait`: the turn that took the input has ended."""

    turn: TurnId = Field(description="Which turn.")
    ending: Ending = Field(description="How it ended.")
    message: str | None = Field(description="The last thing the model said, or what went wrong.")
    seq: int = Field(description="The number of its terminal event.")


class Stopped(Shape):
    turn: TurnId | None = Field(description="The turn that was stopped; null if nothing ran.")
    ending: Ending | None = Field(description="How it ended.")
    queued: int = Field(description="How many inputs wait, held until somebody lets them go on.")
    waiting: tuple[Waiting, ...] = Field(description="Those inputs, in the order in which they will run.")


class Why(Shape):
    code: str = Field(description="As in the table of errors.")
    message: str = Field(description="For people.")


class StoppedOne(Stopped):
    conversation: str = Field(description="As it was named.")


class NotStopped(Shape):
    conversation: str = Field(description="As it was named.")
    error: Why = Field(description="Why it was not.")


class StoppedMany(Shape):
    stopped: tuple[StoppedOne | NotStopped, ...] = Field(description="Each of them, in the order they were named.")


class Attachment(Shape):
    subscription: SubscriptionId = Field(description="The name that `events` and `ended` come under.")
    seq: int = Field(description="The last stored event at this moment.")
    summary: Conversation = Field(description="The conversation at this moment.")


class HistoryPage(Shape):
    events: tuple[Envelope, ...] = Field(description="Stored events, oldest first.")
    first_seq: int = Field(description="The oldest event that is still kept.")
    last_seq: int = Field(description="The newest event.")
    complete: bool = Field(description="There is nothing after this page; before it, if `before` was given.")


class NewsPage(Shape):
    events: tuple[Envelope, ...] = Field(description="Stored events of any conversation, in the order of storing.")
    cursor: int = Field(description="`after` of the next request.")
    lagged: bool = Field(description="Events before the first of them are not kept any more.")


class Questions(Shape):
    approvals: tuple[AskedQuestion, ...] = Field(description="Open approvals.")


class Decided(Shape):
    approval: ApprovalId = Field(description="The question.")
    decision: Decision = Field(description="Its answer, as it is stored.")
    option: str = Field(description="The option that was chosen, by its id; empty: none was named.")
    outside: bool = Field(description="It is a yes to run it outside the sandbox, where a yes alone means inside.")


class Schema(BaseModel):
    """The schema of the control API."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)


class EventsParams(Shape):
    subscription: SubscriptionId = Field(description="Whose slice this is.")
    events: tuple[Envelope, ...] = Field(description="Stored events in order, then the unfinished tail as deltas.")
    live: bool = Field(description="It reaches the present.")
    lagged: bool = Field(description="The reader had fallen behind what memory keeps; said once.")
    gap: tuple[int, int] | None = Field(None, description="Events from-to that are not kept any more.")
    pending: tuple[AskedQuestion, ...] | None = Field(
        None, description="On the first slice that is live, if any wait: the questions to be answered."
    )


class AnnouncedParams(Shape):
    message: str = Field(description="For people: what is wrong with the daemon as a whole, or well again.")


class EndedParams(Shape):
    subscription: SubscriptionId = Field(description="Which.")
    reason: str = Field(description="Why, for people. Attach again by cursor.")


class ErrorData(BaseModel):
    """Further members are the error's own, as the table in docs/control-api.md has them."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    code: str = Field(description="The error's stable name.")
    retryable: bool = Field(description="The same request may succeed later.")


class Error(Shape):
    code: int = Field(description="JSON-RPC's number, or ours.")
    message: str = Field(description="For people.")
    data: ErrorData | None = Field(None, description="Not with JSON-RPC's own errors.")


class ErrorMessage(Shape):
    jsonrpc: Literal["2.0"]
    id: int | str | None = Field(description="The request's; null where it could not be read.")
    error: Error


NOTIFICATIONS: dict[str, tuple[str, type[BaseModel]]] = {
    "events": ("Events that a subscription has not seen: stored ones, then the unfinished tail.", EventsParams),
    "ended": ("The conversation ended a subscription by itself; attach again by cursor.", EndedParams),
    "announcement": ("The daemon has something to say that concerns every client, attached or not.", AnnouncedParams),
}
