"""The table `[greenroom]`: keys that only Greenroom has. Units are in the names; each default has its reason."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from actors.vocabulary.settings import BusyPolicy, SandboxMode
from supervisor.config.budgets import BudgetsTable, Prices
from supervisor.config.config_table import (
    AbsolutePath,
    ConfigTable,
    Flag,
    Integer,
    Number,
    PositiveSeconds,
    Seconds,
    TokenNumber,
    WholeNumber,
)
from supervisor.config.key_types import Expect
from supervisor.config.limits import LimitsTable

KIB, MIB = 1 << 10, 1 << 20

McpTool = Literal[
    "codex",
    "codex-reply",
    "start_conversation",
    "send",
    "wait_conversation",
    "conversationCreate",
    "conversationSendMessage",
    "conversationStream",
    "conversationsList",
    "list_conversations",
    "interrupt_conversation",
    "set_conversation",
    "waiting_messages",
    "read_conversation",
    "answer_approval",
]


Twins = Annotated[Literal["auto", True, False], Expect('true, false or "auto"')]


class RetentionTable(ConfigTable):
    """Limits on the journal. By default it keeps everything."""

    max_age_days: WholeNumber = Field(
        0,
        description="Conversations unused for this many days are deleted, and so are older events. 0: never.",
    )
    max_events: WholeNumber = Field(0, description="Number of newest events kept of each conversation. 0: all.")
    max_conversations: WholeNumber = Field(
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
            "start_conversation",
            "send",
            "wait_conversation",
            "list_conversations",
            "interrupt_conversation",
            "waiting_messages",
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


class Acp(ConfigTable):
    """Greenroom as an agent of editors that speak ACP."""

    if_busy: BusyPolicy = Field(
        BusyPolicy.STEER,
        description="What becomes of a prompt while a turn runs. steer: it joins the turn before the next request to "
        "the model. enqueue: it gets a turn of its own, next. interrupt: it replaces the turn. reject: an error.",
    )
    load_bytes: Integer = Field(
        8 * MIB,
        ge=65_536,
        le=64 * MIB,
        description="How much of a history `session/load` tells: the newest events, whole. The default is years of "
        "talk; editors keep all of it in memory.",
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
    compact_at_percent: Integer = Field(
        80,
        ge=10,
        le=95,
        description="How full a model's context may be, as a part of its window, before the history is summed up. "
        "The rest is room for the answer, and for an estimate that is wrong.",
    )
    windows: Mapping[str, TokenNumber] = Field(
        {}, description="Tokens that models can read at once, by their names; for those that nobody knows."
    )
    skills: Flag = Field(
        True,
        description="Offer models the skills (`SKILL.md`) of the user, of the project, and beside this file.",
    )
    disabled_tools: tuple[str, ...] = Field(
        (), description="Tools of Greenroom's own that models are not given, such as `grep` or `view_image`."
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
        LimitsTable.model_construct(), description="Limits on models, clients, conversations, commands and patches."
    )
    sandbox: SandboxTable = Field(SandboxTable.model_construct(), description="What commands may reach.")
    budget: BudgetsTable = Field(BudgetsTable.model_construct(), description="What turns may use.")
    prices: Prices = Field(
        {},
        description="Prices that count instead of the built-in ones, by the name of a model or `provider/model`; * "
        "stands for anything, and the first name that fits counts. A server of your own is free if you say so here.",
    )
    retention: RetentionTable = Field(
        RetentionTable.model_construct(), description="Limits to what the journal keeps."
    )
    mcp: Mcp = Field(Mcp.model_construct(), description="The MCP server.")
    acp: Acp = Field(Acp.model_construct(), description="Greenroom as an agent of editors.")
