"""Answers to requests, and the outside view of a conversation. A leaf.

Refusals are answers too: expected, returned, never raised between actors. A struct whose members have descriptions
is also the answer on the wire of the control API: its schema, the reference and the classes of the Python client are
made of it.
"""

from typing import Annotated

from msgspec import Meta, Struct

from actors.vocabulary.agent_description import AgentNow
from actors.vocabulary.conditions import ENDED, Condition, Ending, LastEnding
from actors.vocabulary.errors import GreenroomError, Refusal
from actors.vocabulary.events import ApprovalRequested
from actors.vocabulary.ids import ApprovalId, ConnectionId, ConversationId, InputId, SubscriptionId, TurnId
from actors.vocabulary.items import InputItem
from actors.vocabulary.records import Head, HeadPage
from actors.vocabulary.settings import BusyPolicy, Decision, SettingChange, Settings
from actors.vocabulary.spent_amounts import Spent


class StartedConversation(Struct, frozen=True):
    conversation: ConversationId
    settings: Settings


class AcceptedInput(Struct, frozen=True):
    """Without `wait`: the input is stored."""

    input: Annotated[InputId, Meta(description="Its id.")]
    turn: Annotated[TurnId | None, Meta(description="The turn that runs it; null while it waits.")]
    seq: Annotated[int, Meta(description="The last event of that moment.")]
    queued: Annotated[int, Meta(description="How many inputs wait.")] = 0
    duplicate: Annotated[bool, Meta(description="The key was known: this is the input of the first request.")] = False
    ended: Annotated[
        int | None, Meta(description="The last event of its turn, if that had ended when the input was repeated.")
    ] = None


class InputFound(Struct, frozen=True):
    """An input, and what has become of it. `turn` took it; `ended` is the seq at which that turn ended."""

    input: InputId
    turn: TurnId | None
    ended: int | None = None


class TurnResult(Struct, frozen=True):
    """With `wait`: the turn that took the input has ended."""

    turn: Annotated[TurnId, Meta(description="Which turn.")]
    ending: Annotated[Ending, Meta(description="How it ended.")]
    message: Annotated[str | None, Meta(description="The last thing the model said, or what went wrong.")]
    seq: Annotated[int, Meta(description="The number of its terminal event.")]
    by: Annotated[tuple[str, ...], Meta(description="The clients that asked for its end.")] = ()


class WaitingInput(Struct, frozen=True):
    """Accepted input that no turn has taken yet."""

    input: Annotated[InputId, Meta(description="Its id.")]
    policy: Annotated[
        BusyPolicy, Meta(description="steer: joins the running turn. enqueue, interrupt: gets its own.")
    ]
    preview: Annotated[str, Meta(description="Its first words.")]
    by: Annotated[str, Meta(description="Which client sent it.")]
    since: Annotated[float, Meta(description="When, in seconds since 1970; 0 where that was not noted.")]
    items: Annotated[
        tuple[InputItem, ...] | None, Meta(description="The message whole, where it was asked for; else null.")
    ] = None


class WaitingInputs(Struct, frozen=True):
    paused: Annotated[bool, Meta(description="True while it is held until somebody lets it go on.")]
    turn: Annotated[TurnId | None, Meta(description="The turn that runs before them.")]
    waiting: Annotated[tuple[WaitingInput, ...], Meta(description="In the order in which they will run.")]


class InterruptedTurn(Struct, frozen=True):
    """The turn has ended, and its processes are gone."""

    turn: Annotated[TurnId | None, Meta(description="The turn that was stopped; null if nothing ran.")]
    ending: Annotated[Ending | None, Meta(description="How it ended.")]
    queued: Annotated[int, Meta(description="How many inputs wait, held until somebody lets them go on.")] = 0
    waiting: Annotated[
        tuple[WaitingInput, ...], Meta(description="Those inputs, in the order in which they will run.")
    ] = ()


class AnsweredApproval(Struct, frozen=True):
    approval: Annotated[ApprovalId, Meta(description="The question.")]
    decision: Annotated[Decision, Meta(description="Its answer, as it is stored.")]
    option: Annotated[str, Meta(description="The option that was chosen, by its id; empty: none was named.")] = ""
    outside: Annotated[
        bool, Meta(description="It is a yes to run it outside the sandbox, where a yes alone means inside.")
    ] = False


class ReaderStatus(Struct, frozen=True):
    connection: Annotated[ConnectionId, Meta(description="Whose.")]
    subscription: Annotated[SubscriptionId, Meta(description="Which.")]
    seq: Annotated[int, Meta(description="The last event it was given.")]
    behind: Annotated[int, Meta(description="How many it was not given yet.")]
    read_only: Annotated[bool, Meta(description="It only watches.")]


class ConversationSummary(Struct, frozen=True, kw_only=True):
    """A conversation at this moment."""

    conversation: Annotated[ConversationId, Meta(description="Its id.")]
    state: Annotated[
        Condition, Meta(description="Its state; failed, denied, lost and over-budget stand until the next message.")
    ]
    name: Annotated[str | None, Meta(description="Its name.")]
    self_named: Annotated[bool, Meta(description="Its name was made of its first words.")] = False
    settings: Annotated[Settings, Meta(description="How it is run.")]
    seq: Annotated[int, Meta(description="The number of its last stored event.")]
    turn: Annotated[TurnId | None, Meta(description="The open turn.")]
    queued: Annotated[int, Meta(description="How many inputs wait.")] = 0
    waiting: Annotated[
        tuple[WaitingInput, ...], Meta(description="The inputs that wait, in the order in which they will run.")
    ] = ()
    paused: Annotated[bool, Meta(description="True while queued inputs are held until somebody lets them go on.")] = (
        False
    )
    pending: Annotated[tuple[ApprovalRequested, ...], Meta(description="Questions that wait for an answer.")] = ()
    readers: Annotated[tuple[ReaderStatus, ...], Meta(description="Attached clients.")] = ()
    tokens: Annotated[int, Meta(description="Tokens used so far.")] = 0
    usd: Annotated[float, Meta(description="Their price in US dollars, as far as it is known.")] = 0.0
    unpriced: Annotated[int, Meta(description="Responses whose price is not known.")] = 0
    uncounted: Annotated[int, Meta(description="Responses whose tokens the server has not told.")] = 0
    context_tokens: Annotated[
        int | None, Meta(description="How full the model's context is; null where nobody knows.")
    ] = None
    context_window: Annotated[
        int | None, Meta(description="Tokens that the model can read at once; null where unknown.")
    ] = None
    created: Annotated[float, Meta(description="When, in seconds since 1970.")]
    updated: Annotated[float, Meta(description="When its last event happened.")]
    preview: Annotated[str, Meta(description="What it is about: its agent's title for it, or how it began.")]
    agent_now: Annotated[
        AgentNow | None,
        Meta(description="What its agent has said of itself last; null: nothing yet, or it is Greenroom's own."),
    ] = None
    failed: Annotated[str | None, Meta(description="Why it was given up; null after a restart.")] = None
    ended: Annotated[LastEnding | None, Meta(description=ENDED)] = None


class ConversationSpending(Struct, frozen=True):
    """The amounts that a conversation and its open turn have used, and the settings that bound them."""

    settings: Settings
    spent: Spent
    turn_spent: Spent


class ChangedSettings(Struct, frozen=True):
    settings: Annotated[Settings, Meta(description="How it is run now.")]
    name: Annotated[str | None, Meta(description="Its name now.")]
    changed: Annotated[
        tuple[SettingChange, ...], Meta(description="What has changed; empty if all of it was so already.")
    ]
    turn: Annotated[TurnId | None, Meta(description="The turn that goes on with them.")]


class AttachedReader(Struct, frozen=True):
    """The subscription began; slices follow."""

    subscription: Annotated[SubscriptionId, Meta(description="The name that `events` and `ended` come under.")]
    summary: Annotated[ConversationSummary, Meta(description="The conversation at this moment.")]
    seq: Annotated[int, Meta(description="The last stored event at this moment.")]


class Done(Struct, frozen=True):
    """Done; there is nothing more to say."""


class ConversationList(Struct, frozen=True):
    """Conversations; a list that may be long comes in pages."""

    heads: tuple[Head, ...]


class ListChanged(Struct, frozen=True):
    """A conversation has come or gone. `number` asks for the next change."""

    number: int


class PendingApprovals(Struct, frozen=True):
    requests: tuple[tuple[ConversationId, ApprovalRequested], ...]


class Candidates(Struct, frozen=True):
    conversations: tuple[ConversationId, ...]


class ResolvedReference(Struct, frozen=True):
    conversation: Annotated[ConversationId, Meta(description="Its id.")]


Answer = (
    StartedConversation
    | AcceptedInput
    | InputFound
    | TurnResult
    | InterruptedTurn
    | AnsweredApproval
    | ConversationSummary
    | ConversationSpending
    | WaitingInputs
    | AttachedReader
    | ChangedSettings
    | Done
    | Refusal
    | GreenroomError
    | ConversationList
    | HeadPage
    | ListChanged
    | PendingApprovals
    | Candidates
    | ResolvedReference
)
