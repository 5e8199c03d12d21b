"""The daemon's answers, as typed objects. Written from the code by `make reference`."""

# ruff: noqa: E501  # a line is as long as the description of its member

from typing import Any, Literal, TypedDict

from greenroom.events import ApplyPatchApprovalRequest, ExecApprovalRequest, Settings
from greenroom.record import FromJson

Condition = Literal["starting", "idle", "running", "waiting", "interrupting", "parked", "failed", "archived"]

Ending = Literal["completed", "error", "interrupted", "replaced", "failed", "lost"]


class Reader(TypedDict):
    connection: str  # Whose.
    subscription: str  # Which.
    seq: int  # The last event it was given.
    behind: int  # How many it was not given yet.
    read_only: bool  # It only watches.


class Created(FromJson):
    conversation: str  # Its id.
    settings: Settings  # How it is run.
    notice: str | None  # One line for a person: which model was chosen, and how to choose another.
    warnings: list[str]  # Keys of the config that are ignored.


class Row(FromJson):
    conversation: str  # Its id.
    name: str | None  # Its name.
    state: Condition  # Its state.
    cwd: str  # Its working directory.
    model: str  # Its model.
    preview: str  # The beginning of what was said first.
    created: float  # When, in seconds since 1970.
    updated: float  # When its last event happened.
    seq: int  # The number of its last event.
    tokens: int  # Tokens used so far.
    archived: bool  # Left out of lists unless asked for.


class Hit(FromJson):
    conversation: str  # Where it was said: the conversation's id.
    name: str | None  # The conversation's name.
    cwd: str  # The conversation's working directory.
    seq: int  # The event in which it was said.
    ts: float  # When, in seconds since 1970.
    kind: Literal["user", "agent", "reasoning", "command", "output", "name"]  # The source: a person, the model, its reasoning, a command or what that wrote, or a name given.
    text: str  # The words of the query with some of the words around them.
    marks: list[list[Any]]  # Where in `text` they are: begin and end, in characters.


class Conversation(FromJson):
    conversation: str  # Its id.
    state: Condition  # Its state.
    name: str | None  # Its name.
    settings: Settings  # How it is run.
    seq: int  # The number of its last stored event.
    turn: str | None  # The open turn.
    queued: int  # How many inputs wait.
    paused: bool  # True while queued inputs wait for the next message.
    pending: list[ExecApprovalRequest | ApplyPatchApprovalRequest]  # Questions that wait for an answer.
    readers: list[Reader]  # Attached clients.
    tokens: int  # Tokens used so far.
    created: float  # When, in seconds since 1970.
    updated: float  # When its last event happened.
    preview: str  # The beginning of what was said first.
    failed: str | None  # Why it failed; null after a restart.


class Taken(FromJson):
    """Without `wait`: the input is stored."""

    input: str  # Its id.
    turn: str | None  # The turn that runs it; null while it waits.
    seq: int  # The last event of that moment.
    queued: int  # How many inputs wait.
    duplicate: bool  # The key was known: this is the input of the first request.


class TurnOver(FromJson):
    """With `wait`: the turn that took the input has ended."""

    turn: str  # Which turn.
    ending: Ending  # How it ended.
    message: str | None  # The last thing the model said, or what went wrong.
    seq: int  # The number of its terminal event.


class Stopped(FromJson):
    turn: str | None  # The turn that was stopped; null if nothing ran.
    ending: Ending | None  # How it ended.
    queued: int  # How many inputs wait, paused until the next message.


class Status(FromJson):
    """Further members tell of the daemon's inside; they may change."""

    pid: int  # The daemon's process.
    version: str  # Of the program.
    instance: str  # This one life of the daemon.
    uptime_s: float  # Since it started.
    config: str | None  # The config file in use.
    warnings: list[str]  # Keys of the config that are ignored.
    journal: str  # The journal's file.
    journal_bytes: int  # Its size on disk, write-ahead log included.
    journal_repaired: Any  # Report of a repair at the start; null if none was needed.
    search_bytes: int = 0  # Size of the search's file on disk; 0 if it is off.
    search_trouble: str | None = None  # Why nothing new can be found now.
    trouble: str | None = None  # What keeps the daemon from storing anything now, and what to do.
    log: str  # The log's file.
    sandbox: bool  # Whether commands can be confined here.
    clients: int  # How many are connected.
