"""Updates of a session, before they are written as JSON. A leaf."""

from typing import Literal

from msgspec import Struct

Voice = Literal["user", "agent", "thought"]
Severity = Literal["info", "warning", "error"]
Status = Literal["pending", "in_progress", "completed", "failed"]


# --- texts, pictures, terminals -------------------------------------------------------------------------------------


class TextContent(Struct, frozen=True):
    text: str


class Picture(Struct, frozen=True):
    """A picture; `data` is base64."""

    mime: str
    data: str


class ResourceLink(Struct, frozen=True):
    name: str
    uri: str


class FileDiff(Struct, frozen=True):
    """A change of a file, or of a piece of it. `old` is None for a new file."""

    path: str
    old: str | None
    new: str


class TerminalContent(Struct, frozen=True):
    """A terminal of ours that the client shows."""

    terminal: str


Block = TextContent | Picture | ResourceLink
Content = TextContent | FileDiff | TerminalContent


class Location(Struct, frozen=True):
    path: str
    line: int | None = None


class ScreenBegan(Struct, frozen=True):
    cwd: str


class ScreenWrote(Struct, frozen=True):
    text: str


class ScreenEnded(Struct, frozen=True):
    exit_code: int


ScreenNews = ScreenBegan | ScreenWrote | ScreenEnded


# --- updates --------------------------------------------------------------------------------------------------------


class MessagePiece(Struct, frozen=True):
    """A piece of a message."""

    voice: Voice
    item: str
    text: str


class UserMessage(Struct, frozen=True):
    """A message of a person, whole."""

    item: str
    blocks: tuple[Block, ...]


class Remark(Struct, frozen=True):
    """A text of ours to the person; no part of an answer."""

    severity: Severity
    text: str
    item: str


class ToolUpdate(Struct, frozen=True):
    """A call, or the changes of a call; None: unchanged. `first`: the client does not know the call.

    `screen`: the news of its terminal, which has the call's name.
    """

    call: str
    first: bool = False
    title: str | None = None
    kind: str | None = None
    status: Status | None = None
    content: tuple[Content, ...] | None = None
    places: tuple[Location, ...] | None = None
    raw_input: object = None
    raw_output: object = None
    screen: ScreenNews | None = None


class PlanEntry(Struct, frozen=True):
    text: str
    status: Literal["pending", "in_progress", "completed"]


class PlanEntries(Struct, frozen=True):
    steps: tuple[PlanEntry, ...]


class ContextUse(Struct, frozen=True):
    """The fill of the context, and the cost of the session so far."""

    used: int
    size: int
    usd: float | None = None


class SessionTitle(Struct, frozen=True):
    title: str | None
    updated: float


class SlashCommand(Struct, frozen=True):
    name: str
    description: str
    hint: str = ""


class Commands(Struct, frozen=True):
    commands: tuple[SlashCommand, ...]


class OptionValue(Struct, frozen=True):
    value: str
    name: str
    description: str = ""


class Option(Struct, frozen=True):
    """A setting of the session. `category` is empty where ACP has no word for it."""

    id: str
    name: str
    category: str
    value: str
    choices: tuple[OptionValue, ...]
    description: str = ""


class Options(Struct, frozen=True):
    options: tuple[Option, ...]


class Mode(Struct, frozen=True):
    mode: str


Update = (
    MessagePiece
    | UserMessage
    | Remark
    | ToolUpdate
    | PlanEntries
    | ContextUse
    | SessionTitle
    | Commands
    | Options
    | Mode
)
