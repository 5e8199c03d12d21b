"""Updates, settings and permission requests as ACP writes them. Pure."""

from collections.abc import Sequence
from typing import Literal, assert_never

from msgspec import Struct, field

from transports.dialects.acp import updates as u
from transports.dialects.kit.moments import moment

VOICES = {"user": "user_message_chunk", "agent": "agent_message_chunk", "thought": "agent_thought_chunk"}


# --- updates --------------------------------------------------------------------------------------------------------


class MessageChunk(Struct, frozen=True, rename="camel"):
    session_update: str
    content: u.Block
    message_id: str


class NoticeUpdate(Struct, frozen=True, tag_field="sessionUpdate", tag="notice"):
    severity: u.Severity
    title: str


class BlockContent(Struct, frozen=True, tag_field="type", tag="content"):
    """A block as the content of a call."""

    content: u.Block


class TerminalInfo(Struct, frozen=True):
    terminal_id: str
    cwd: str


class TerminalOutput(Struct, frozen=True):
    terminal_id: str
    data: str


class TerminalExit(Struct, frozen=True):
    terminal_id: str
    exit_code: int
    signal: None = None


class TerminalNews(Struct, frozen=True, omit_defaults=True):
    """The news of a terminal, as Zed's own adapters write them for clients with `_meta.terminal_output`."""

    terminal_info: TerminalInfo | None = None
    terminal_output: TerminalOutput | None = None
    terminal_exit: TerminalExit | None = None


class CallUpdate(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A call, or its changes. A question has it without the kind of an update."""

    tool_call_id: str
    title: str | None = None
    kind: str | None = None
    status: u.Status | None = None
    content: tuple[BlockContent | u.FileDiff | u.TerminalContent, ...] | None = None
    locations: tuple[u.Location, ...] | None = None
    raw_input: object = None
    raw_output: object = None
    terminal: TerminalNews | None = field(default=None, name="_meta")
    session_update: Literal["tool_call", "tool_call_update"] | None = None


class Cost(Struct, frozen=True):
    amount: float
    currency: str = "USD"


class UsageUpdate(Struct, frozen=True, omit_defaults=True, tag_field="sessionUpdate", tag="usage_update"):
    used: int
    size: int
    cost: Cost | None = None


class SessionInfo(Struct, frozen=True, rename="camel", tag_field="sessionUpdate", tag="session_info_update"):
    title: str | None
    updated_at: str


class CommandInput(Struct, frozen=True):
    hint: str


class AvailableCommand(Struct, frozen=True, omit_defaults=True):
    name: str
    description: str
    input: CommandInput | None = None


class AvailableCommands(Struct, frozen=True, tag_field="sessionUpdate", tag="available_commands_update"):
    commands: tuple[AvailableCommand, ...] = field(name="availableCommands")


SessionUpdate = (
    MessageChunk
    | NoticeUpdate
    | CallUpdate
    | UsageUpdate
    | SessionInfo
    | AvailableCommands
    | u.PlanEntries
    | u.Options
    | u.Mode
)


def write_update(update: u.Update, *, notices: bool = False) -> list[SessionUpdate]:
    """Write an update, a user's message as one for each of its blocks.

    `notices`: the client shows notices; others get a message.
    """
    match update:
        case u.MessagePiece(voice, item, text):
            return [MessageChunk(VOICES[voice], u.TextContent(text), item)]
        case u.UserMessage(item, blocks):
            return [MessageChunk(VOICES["user"], block, item) for block in blocks]
        case u.Remark(severity, text, item):
            return [
                NoticeUpdate(severity, text) if notices else MessageChunk(VOICES["agent"], u.TextContent(text), item)
            ]
        case u.ToolUpdate():
            return [tool(update, "tool_call" if update.first else "tool_call_update")]
        case u.ContextUse(used, size, usd):
            return [UsageUpdate(used, size, None if usd is None else Cost(usd))]
        case u.SessionTitle(title, updated):
            return [SessionInfo(title, moment(updated))]
        case u.Commands(commands):
            return [AvailableCommands(tuple(map(_command, commands)))]
        case u.PlanEntries() | u.Options() | u.Mode():
            return [update]
        case _:
            assert_never(update)


def tool(update: u.ToolUpdate, kind: Literal["tool_call", "tool_call_update"] | None = None) -> CallUpdate:
    return CallUpdate(
        update.call,
        update.title,
        update.kind,
        update.status,
        None if update.content is None else tuple(map(_content, update.content)),
        update.places,
        update.raw_input,
        update.raw_output,
        None if update.screen is None else _screen(update.call, update.screen),
        kind,
    )


def _content(part: u.Content) -> BlockContent | u.FileDiff | u.TerminalContent:
    return BlockContent(part) if isinstance(part, u.TextContent) else part


def _command(command: u.SlashCommand) -> AvailableCommand:
    return AvailableCommand(command.name, command.description, CommandInput(command.hint) if command.hint else None)


def _screen(terminal: str, news: u.ScreenNews) -> TerminalNews:
    match news:
        case u.ScreenBegan(cwd):
            return TerminalNews(terminal_info=TerminalInfo(terminal, cwd))
        case u.ScreenWrote(text):
            return TerminalNews(terminal_output=TerminalOutput(terminal, text))
        case u.ScreenEnded(exit_code):
            return TerminalNews(terminal_exit=TerminalExit(terminal, exit_code))
        case _:
            assert_never(news)


# --- settings and questions -----------------------------------------------------------------------------------------


class SessionMode(Struct, frozen=True, omit_defaults=True):
    id: str
    name: str
    description: str = ""


class SessionModes(Struct, frozen=True, rename="camel"):
    current_mode_id: str
    available_modes: tuple[SessionMode, ...]


class SessionSettings(Struct, frozen=True, rename="camel"):
    """`modes`: the mode's option, for clients that show modes but no options."""

    modes: SessionModes | None
    config_options: tuple[u.Option, ...]


class PermissionOption(Struct, frozen=True, rename="camel"):
    option_id: str
    name: str
    kind: str


class PermissionRequest(Struct, frozen=True, rename="camel"):
    """Params of `session/request_permission`."""

    session_id: str
    tool_call: CallUpdate
    options: tuple[PermissionOption, ...]


def settings(options: Sequence[u.Option]) -> SessionSettings:
    mode = next((option for option in options if option.category == "mode"), None)
    if mode is None:
        return SessionSettings(None, tuple(options))
    available = tuple(SessionMode(choice.value, choice.name, choice.description) for choice in mode.choices)
    return SessionSettings(SessionModes(mode.value, available), tuple(options))
