"""Updates of a session. Those whose members have ACP's names are written as they are. A leaf."""

from typing import Literal

from msgspec import Struct, field

Voice = Literal["user", "agent", "thought"]
Severity = Literal["info", "warning", "error"]
Status = Literal["pending", "in_progress", "completed", "failed"]


# --- texts, pictures, terminals -------------------------------------------------------------------------------------


class TextContent(Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class Picture(Struct, frozen=True, tag_field="type", tag="image"):
    """A picture; `data` is base64."""

    mime: str = field(name="mimeType")
    data: str


class ResourceLink(Struct, frozen=True, tag_field="type", tag="resource_link"):
    name: str
    uri: str


class FileDiff(Struct, frozen=True, tag_field="type", tag="diff"):
    """A change of a file, or of a piece of it. `old` is None for a new file."""

    path: str
    old: str | None = field(name="oldText")
    new: str = field(name="newText")


class TerminalContent(Struct, frozen=True, tag_field="type", tag="terminal"):
    """A terminal of ours that the client shows."""

    terminal: str = field(name="terminalId")


Block = TextContent | Picture | ResourceLink
Content = TextContent | FileDiff | TerminalContent


class Location(Struct, frozen=True, omit_defaults=True):
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
    text: str = field(name="content")
    status: Literal["pending", "in_progress", "completed"]
    priority: Literal["medium"] = "medium"


class PlanEntries(Struct, frozen=True, tag_field="sessionUpdate", tag="plan"):
    steps: tuple[PlanEntry, ...] = field(name="entries")


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


class OptionValue(Struct, frozen=True, omit_defaults=True):
    value: str
    name: str
    description: str = ""


class Option(Struct, frozen=True, omit_defaults=True, tag_field="type", tag="select"):
    """A setting of the session. `category` is empty where ACP has no word for it."""

    id: str
    name: str
    value: str = field(name="currentValue")
    choices: tuple[OptionValue, ...] = field(name="options")
    category: str = ""
    description: str = ""


class Options(Struct, frozen=True, tag_field="sessionUpdate", tag="config_option_update"):
    options: tuple[Option, ...] = field(name="configOptions")


class Mode(Struct, frozen=True, tag_field="sessionUpdate", tag="current_mode_update"):
    mode: str = field(name="currentModeId")


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
