"""The table `[greenroom]`: keys that only Greenroom has. Units are in the names; each default has its reason."""

from typing import Annotated, Literal

from pydantic import Field

from actors.vocabulary.settings import SandboxMode
from supervisor.config.shape import Expect
from supervisor.config.table import (
    AbsolutePath,
    ConfigTable,
    DiskBytes,
    Flag,
    Integer,
    MemoryBytes,
    Milliseconds,
    Number,
    Positive,
    PositiveSeconds,
    Seconds,
    Whole,
)

KIB, MIB = 1 << 10, 1 << 20

McpTool = Literal[
    "codex",
    "codex-reply",
    "conversationCreate",
    "conversationSendMessage",
    "conversationStream",
    "conversationsList",
    "list_conversations",
    "interrupt_conversation",
    "read_conversation",
    "answer_approval",
]


Twins = Annotated[Literal["auto", True, False], Expect('true, false or "auto"')]


class LimitsTable(ConfigTable):
    """Limits that keep a client, a model or a command from taking the daemon down."""

    frame_bytes: MemoryBytes = Field(
        16 * MIB,
        description="The longest message of a client, in bytes. Room for a few images.",
    )
    message_values: Integer = Field(
        50_000,
        ge=1_000,
        le=10_000_000,
        description="Values in one message: numbers, strings, lists. Decoding this many takes 10 ms, in which no "
        "other client is served.",
    )
    event_bytes: MemoryBytes = Field(
        8 * MIB,
        description="The longest event that is stored, except for messages of clients. In a longer event the texts "
        "lose their middle, and a note says so. A quarter of what a client may leave unread.",
    )
    import_bytes: DiskBytes = Field(
        1024 * MIB,
        description="Characters of all running imports together. They wait on disk.",
    )
    settings_bytes: Integer = Field(
        MIB,
        ge=4_096,
        le=16 * MIB,
        description="Settings of a conversation, with instructions and overrides. They are stored with every turn.",
    )
    requests_in_flight: Positive = Field(
        64,
        description="Open requests of one connection; more are refused as `overloaded`. Editors have a few.",
    )
    subscriptions: Positive = Field(
        256,
        description="Conversations that one connection reads at the same time: attached, listened to, or watched as "
        "resources. Each is served in its turn.",
    )
    connections: Positive = Field(2_000, description="Clients at the same time. Each needs a file descriptor.")
    environment_bytes: Integer = Field(
        2 * MIB,
        ge=65_536,
        le=16 * MIB,
        description="Characters of one client's environment. Linux starts no program with more.",
    )
    environments_bytes: DiskBytes = Field(
        64 * MIB,
        description="The same for all clients and conversations together; equal environments count once.",
    )
    silent_connections: Positive = Field(
        256,
        description="Connections that have not sent their hello. When there are more, the oldest of them is closed.",
    )
    live_sessions: Positive = Field(
        2_000,
        description="Conversations in memory at the same time. Parked conversations don't count.",
    )
    queue_length: Positive = Field(
        100, description="Messages that may wait in one conversation; more are refused as `queue_full`."
    )
    queue_bytes: MemoryBytes = Field(
        16 * MIB,
        description="The same in bytes, without the first message: all of them are written with each step of a turn.",
    )
    command_timeout_ms: Milliseconds = Field(
        10_000, description="Time limit of a command for which the model gives none. The same as Codex's."
    )
    command_output_bytes: Positive = Field(
        MIB, description="Output kept of each stream of a command, head and tail, in bytes. The rest is dropped."
    )
    model_output_bytes: Positive = Field(
        10_240, description="Output of a command that the model gets, in bytes. The same as Codex's."
    )
    model_output_lines: Positive = Field(
        256, description="Output of a command that the model gets, in lines. The same as Codex's."
    )
    command_bytes: Positive = Field(
        512 * KIB,
        description="A command with its arguments, as a model writes it. Linux takes 128 KiB in one argument, and a "
        "person has to read it.",
    )
    answer_bytes: Positive = Field(
        8 * MIB,
        description="One answer of a model as JSON: words, reasoning and tool arguments together. The longest "
        "answers of today's models are a tenth of this.",
    )
    answer_tool_calls: Positive = Field(
        128,
        description="Tool calls in one answer. Models make a handful; with a thousand, a model is out of control.",
    )
    answer_items: Positive = Field(
        1_024,
        description="Messages, calls, reasoning items and parts of their summaries in one answer: each is an event.",
    )
    answer_event_bytes: Positive = Field(
        16 * MIB, description="One event of an answer's stream. The last event of a response repeats all of it."
    )
    answer_event_values: Positive = Field(
        50_000,
        description="Values in the JSON of one event, or of one tool call's arguments, that is longer than 64 KiB: "
        "reading more would hold up other conversations.",
    )
    answer_silent_bytes: Positive = Field(
        4 * MIB,
        description="Bytes of a stream in which the model says nothing: comments, blank lines, unused events. "
        "Comments that only keep a connection alive are a kilobyte a minute.",
    )
    answer_head_bytes: Positive = Field(
        256 * KIB,
        description="The status line and headers of an answer, interim answers and trailers included. Ordinary ones "
        "have 2 KiB.",
    )
    answer_headers: Positive = Field(500, description="Headers of one answer. Ordinary ones have 30.")
    refusal_bytes: Positive = Field(
        64 * KIB, description="Bytes to read of the body when a model server refuses: enough for its reason."
    )
    refusal_seconds: PositiveSeconds = Field(10, description="How long to wait for that body.")
    request_bytes: Positive = Field(
        32 * MIB,
        description="One request to a model: the conversation so far, with its pictures. More than any provider "
        "accepts.",
    )
    picture_bytes: Positive = Field(20 * MIB, description="A picture in a file. The large providers accept as much.")
    transcripts: Positive = Field(
        2_000,
        description="Live conversations whose history is kept in memory between two turns. Others read theirs from "
        "the journal at each turn: 10 ms of a processor for each MiB.",
    )
    transcripts_bytes: Positive = Field(
        256 * MIB,
        description="The same in bytes, for all of them together; those that were used last are kept. A history has "
        "as many as a request to a model.",
    )
    patch_bytes: Positive = Field(
        32 * MIB,
        description="Bytes that one patch reads and writes, in all its files together. They are held in memory, "
        "several times over.",
    )
    patch_files: Positive = Field(
        500,
        description="Files of one patch, and the directories they are in: each directory is a file descriptor while "
        "it is applied, of 1,024 that a process usually has.",
    )
    patch_lines: Positive = Field(
        250_000,
        description="Lines of a patch and of the files that it changes. A line costs 500 bytes of memory.",
    )
    patch_compared_lines: Positive = Field(
        20_000_000, description="Lines that are compared to find where a patch belongs: seconds of work."
    )
    patch_event_bytes: Positive = Field(
        MIB,
        description="Bytes of a patch that an event shows; of changes that are longer only the file is named. Nobody "
        "reads twenty thousand lines of changes.",
    )

    def beyond(self, key: str, what: str) -> str:
        """Compose a message for a limit that was met, naming the key, so that a person can find and raise it.

        `what` says what happened, without a full stop.
        """
        return f"{what}: the bound is {getattr(self, key)} (greenroom.limits.{key} in the configuration)"


class RetentionTable(ConfigTable):
    """Limits to what the journal keeps. By default it keeps everything."""

    max_age_days: Whole = Field(
        0,
        description="Conversations unused for this many days are deleted, and so are older events. 0: never.",
    )
    max_events: Whole = Field(0, description="Number of newest events kept of each conversation. 0: all.")
    max_conversations: Whole = Field(
        0,
        description="Number of conversations kept, the most recently used. A conversation that is open somewhere "
        "or has an open turn is never deleted. 0: all.",
    )


class Mcp(ConfigTable):
    """The MCP server: its tools, notifications and waits."""

    tools: tuple[McpTool, ...] = Field(
        (
            "codex",
            "codex-reply",
            "list_conversations",
            "interrupt_conversation",
            "read_conversation",
            "answer_approval",
        ),
        description="Tools that `tools/list` shows, in this order. The others can still be called.",
    )
    twin_notifications: Twins = Field(
        "auto",
        description="Send each event of `codex` and `codex-reply` a second time under its own name, as Codex did "
        "until August 2025. auto: for clients of revisions up to 2025-06-18, which may wait for them, and without "
        "deltas, which would double the traffic. true: all events, for all clients.",
    )
    max_sandbox: SandboxMode = Field(
        SandboxMode.WORKSPACE_WRITE,
        description="The widest sandbox that a client, or the model behind it, may ask for, with any approval "
        "policy. What the config or the command line of `greenroom mcp` sets itself is allowed where it is wider. "
        "The default is what clients need in order to work, and keeps harm within the directory.",
    )
    allow_provider_overrides: Flag = Field(
        False,
        description="Let clients define model providers in `config`. Off, because a provider says which variable "
        "holds a key and where the key is sent.",
    )
    on_caller_gone: Literal["interrupt", "continue"] = Field(
        "interrupt",
        description="What to do with a turn whose `codex` or `codex-reply` call lost its client, if nobody else "
        "waits for it or watches it. The default is interrupt, because a client that is stopped often just dies, and "
        "nobody would know of the turn; Codex's server ended with its client, too.",
    )
    caller_gone_seconds: Seconds = Field(
        5, description="How long after that. Time for somebody to attach, or for the client to start again."
    )
    answer_cancelled: Flag = Field(
        True,
        description="Answer a call that its client cancelled. MCP says not to, but some clients wait for the answer, "
        "and the others ignore it.",
    )
    stream_meta: Flag = Field(
        False,
        description="Add `_meta` to the live notifications of `conversationStream`. Off, because clients that know "
        "this tool match the parameters exactly.",
    )
    unanswerable_seconds: Seconds = Field(
        300,
        description="Deny an approval after this time if no attached client is able to answer it. The default leaves "
        "time to open a terminal and run `greenroom approve`. 0: at once.",
    )
    progress_seconds: Number = Field(
        10,
        gt=0,
        le=60,
        description="Time between progress reports of a running call. Clients give up after 60 s without one.",
    )


class SandboxTable(ConfigTable):
    """Keys of the sandbox that only Greenroom has. The others are `sandbox_mode` and `[sandbox_workspace_write]`."""

    unix_sockets: tuple[AbsolutePath, ...] = Field(
        (),
        description="Unix sockets that commands may connect to under `workspace-write`, by their real paths. Empty, "
        "because the program behind a socket runs outside the sandbox: a session bus, Docker or tmux would carry out "
        "orders there. With the network on, abstract sockets can be reached as well once a socket is named here.",
    )


class Greenroom(ConfigTable):
    """The daemon's own behaviour."""

    idle_park_seconds: Seconds = Field(
        600,
        description="Park a conversation that has neither turn nor reader after this time, to free memory. Waking it "
        "takes milliseconds.",
    )
    interrupt_grace_ms: Integer = Field(
        1_000,
        ge=0,
        le=60_000,
        description="Time between asking a command to end and killing it. The default lets git and npm "
        "remove their locks.",
    )
    on_disconnect: Literal["continue", "interrupt"] = Field(
        "continue",
        description="Whether a running turn continues or is interrupted when its last client leaves.",
    )
    drain_seconds: Seconds = Field(
        30, description="How long running turns may continue when the daemon stops. Service managers allow 90 s."
    )
    approval_deadline_seconds: PositiveSeconds | None = Field(
        None,
        description="Give an approval the default answer after this time. Unset: never.",
    )
    approval_default: Literal["denied", "abort"] = Field(
        "denied", description="The default answer. `denied` lets the model try something else, `abort` ends the turn."
    )
    search: Flag = Field(
        True,
        description="Keep the words of all conversations in a file of their own, for `greenroom search`. false "
        "removes the file.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info",
        description="Least important messages to log. `debug` also logs prompts, commands and answers of the model.",
    )
    log_file_bytes: Integer = Field(
        10 * MIB,
        ge=65_536,
        le=1 << 40,
        description="Size at which a new log is begun. The default lasts for weeks of ordinary use.",
    )
    log_backups: Integer = Field(3, ge=0, le=100, description="Number of old logs to keep.")
    limits: LimitsTable = Field(
        LimitsTable(), description="Limits on models, clients, conversations, commands and patches."
    )
    sandbox: SandboxTable = Field(SandboxTable(), description="What commands may reach.")
    retention: RetentionTable = Field(RetentionTable(), description="Limits to what the journal keeps.")
    mcp: Mcp = Field(Mcp(), description="The MCP server.")
