"""The table `[greenroom]`: what is ours alone. Units are in the names, each default has its reason beside it."""

from typing import Literal

from pydantic import Field

from supervisor.config.table import (
    Flag,
    Integer,
    Milliseconds,
    Number,
    Positive,
    PositiveSeconds,
    Seconds,
    Table,
    Whole,
)

MIB = 1 << 20

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


class Limits(Table):
    """Bounds, so that no client and no command can take the daemon down."""

    frame_bytes: Integer = Field(
        16 * MIB, ge=65_536, le=256 * MIB, description="The longest message a client may send: room for a few images."
    )
    message_values: Integer = Field(
        50_000,
        ge=1_000,
        le=10_000_000,
        description="Values in one message: numbers, texts, lists. Decoding so many takes 10 ms, in which nobody "
        "else is served.",
    )
    event_bytes: Integer = Field(
        8 * MIB,
        ge=65_536,
        le=256 * MIB,
        description="The longest event that is stored, but for what a client said. The texts of a longer one lose "
        "their middle, and say so. A quarter of what a client may leave unread.",
    )
    import_bytes: Integer = Field(
        1024 * MIB,
        ge=MIB,
        le=1 << 40,
        description="Characters of all imports that are under way, together. They wait on disk.",
    )
    settings_bytes: Integer = Field(
        MIB,
        ge=4_096,
        le=16 * MIB,
        description="How a conversation is run, instructions and overrides included: it is stored with every turn.",
    )
    requests_in_flight: Positive = Field(
        64,
        description="Unanswered requests of one connection; more get a retryable `overloaded`. Editors have a few.",
    )
    connections: Positive = Field(2_000, description="Clients at once: each has a file descriptor.")
    environment_bytes: Integer = Field(
        2 * MIB,
        ge=65_536,
        le=16 * MIB,
        description="Characters of one client's environment. Linux starts no program with more.",
    )
    environments_bytes: Integer = Field(
        64 * MIB,
        ge=MIB,
        le=1 << 40,
        description="The same of all clients and conversations together; equal ones are kept, and count, once.",
    )
    silent_connections: Positive = Field(
        256,
        description="Connections that have not said hello. For one more, the one that has been silent for longest is "
        "closed.",
    )
    live_sessions: Positive = Field(
        2_000,
        description="Conversations awake at once, with their latest events in memory. Parked ones don't count.",
    )
    queue_length: Positive = Field(
        100, description="Inputs that wait for one conversation's turn to end; more are refused as `queue_full`."
    )
    queue_bytes: Integer = Field(
        16 * MIB,
        ge=65_536,
        le=256 * MIB,
        description="The same in bytes, behind the first: all that waits is written with each step of a turn.",
    )
    command_timeout_ms: Milliseconds = Field(
        10_000, description="For a command whose model named no time of its own. Codex's value."
    )
    command_output_bytes: Positive = Field(
        MIB, description="What is kept of each stream of a command, head and tail; the rest is counted and dropped."
    )
    model_output_bytes: Positive = Field(
        10_240, description="What the model is given of a command's output: context is dear. Codex's value."
    )
    model_output_lines: Positive = Field(256, description="The same in lines. Codex's value.")


class Retention(Table):
    """What the journal forgets by itself. Nothing, unless asked: history is the product."""

    max_age_days: Whole = Field(
        0,
        description="Conversations that nobody touched for so long are deleted, as are older events. 0: never.",
    )
    max_events: Whole = Field(0, description="Events kept of one conversation, the newest. 0: all.")
    max_conversations: Whole = Field(
        0,
        description="Conversations kept, the most recently used. One that is open somewhere, or has an open turn, is "
        "never deleted. 0: all.",
    )


class Mcp(Table):
    """How we look to MCP clients."""

    tools: tuple[McpTool, ...] = Field(
        (
            "codex",
            "codex-reply",
            "list_conversations",
            "interrupt_conversation",
            "read_conversation",
            "answer_approval",
        ),
        description="The tools that `tools/list` shows, in this order. All of them can be called all the same.",
    )
    twin_notifications: Flag = Field(
        False,
        description="Send each event a second time under its own name, as Codex did until August 2025. "
        "Off, because it doubles the traffic and later clients ignore it.",
    )
    answer_cancelled: Flag = Field(
        True,
        description="Answer a call that its client cancelled. MCP says not to; but clients that ignore the answer "
        "lose nothing, and those that wait for it would wait for ever.",
    )
    stream_meta: Flag = Field(
        False,
        description="Add `_meta` to the live notifications of `conversationStream`. Off, because clients of that "
        "time match the parameters exactly.",
    )
    unanswerable_seconds: Seconds = Field(
        300,
        description="An approval that no attached client is able to answer is denied after so long; time enough to "
        "open a terminal and say `greenroom approve`. 0: at once.",
    )
    progress_seconds: Number = Field(
        10,
        gt=0,
        le=60,
        description="How often a running call reports progress; clients give up after 60 s of silence.",
    )


class Greenroom(Table):
    """The daemon's own behaviour."""

    idle_park_seconds: Seconds = Field(
        600,
        description="A conversation without turn and subscriber gives its memory back after so long. Waking it costs "
        "milliseconds, so this only spares those who come right back.",
    )
    interrupt_grace_ms: Integer = Field(
        1_000,
        ge=0,
        le=60_000,
        description="Between asking a command to end and killing it: enough for git or npm to remove their locks.",
    )
    on_disconnect: Literal["continue", "interrupt"] = Field(
        "continue",
        description="What becomes of a running turn when its last client leaves: to go on is the point of it.",
    )
    drain_seconds: Seconds = Field(
        30, description="How long running turns may go on when the daemon stops. Service managers allow 90 s."
    )
    approval_deadline_seconds: PositiveSeconds | None = Field(
        None,
        description="An approval nobody answered is answered so long after it was asked. Unset: never.",
    )
    approval_default: Literal["denied", "abort"] = Field(
        "denied", description="That answer. `denied` lets the model try otherwise, `abort` ends the turn."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="What is logged at least. `debug` also logs prompts, commands and what the model says."
    )
    log_file_bytes: Integer = Field(
        10 * MIB,
        ge=65_536,
        le=1 << 40,
        description="When the log is set aside and a new one begun: weeks of ordinary use.",
    )
    log_backups: Integer = Field(3, ge=0, le=100, description="How many logs that were set aside are kept.")
    limits: Limits = Field(Limits(), description="Bounds.")
    retention: Retention = Field(Retention(), description="What the journal forgets.")
    mcp: Mcp = Field(Mcp(), description="How we look to MCP clients.")
