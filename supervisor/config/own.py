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
        16 * MIB,
        ge=65_536,
        le=1 << 30,
        description="Longest message of a client in bytes. The default leaves room for a few images.",
    )
    requests_in_flight: Positive = Field(
        64,
        description="Open requests of one connection; more are refused as `overloaded`. Editors have a few.",
    )
    connections: Positive = Field(2_000, description="Clients at the same time. Each needs a file descriptor.")
    live_sessions: Positive = Field(
        2_000,
        description="Conversations in memory at the same time. Parked conversations don't count.",
    )
    queue_length: Positive = Field(
        100, description="Messages that may wait in one conversation; more are refused as `queue_full`."
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


class Retention(Table):
    """Limits to what the journal keeps. By default it keeps everything."""

    max_age_days: Whole = Field(
        0,
        description="Conversations unused for this many days are deleted, and so are older events. 0: never.",
    )
    max_events: Whole = Field(0, description="Number of newest events kept of each conversation. 0: all.")
    max_conversations: Whole = Field(
        0,
        description="Number of conversations kept, the most recently used. One that is open somewhere or has "
        "an open turn is never deleted. 0: all.",
    )


class Mcp(Table):
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
    twin_notifications: Flag = Field(
        False,
        description="Send each event a second time under its own name, as Codex did until August 2025. "
        "Off, because it doubles the traffic and later clients ignore it.",
    )
    answer_cancelled: Flag = Field(
        True,
        description="Answer a call that its client cancelled. MCP says not to, but some clients wait for the answer, "
        "and the others ignore it.",
    )
    stream_meta: Flag = Field(
        False,
        description="Add `_meta` to the live notifications of `conversationStream`. Off, because clients of that "
        "time match the parameters exactly.",
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


class Greenroom(Table):
    """The daemon's own behaviour."""

    idle_park_seconds: Seconds = Field(
        600,
        description="Park a conversation without a turn and a reader after this time, to free its memory. Waking it "
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
        description="Answer an approval by default after this time. Unset: never.",
    )
    approval_default: Literal["denied", "abort"] = Field(
        "denied", description="The default answer. `denied` lets the model try something else, `abort` ends the turn."
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
    limits: Limits = Field(Limits(), description="Limits on clients, conversations and commands.")
    retention: Retention = Field(Retention(), description="Limits to what the journal keeps.")
    mcp: Mcp = Field(Mcp(), description="The MCP server.")
