"""The table `[greenroom.limits]`: bounds on all data that comes from outside. Each default has its reason."""

from pydantic import Field

from supervisor.config.config_table import (
    ConfigTable,
    DiskBytes,
    Integer,
    MemoryBytes,
    Milliseconds,
    Positive,
    PositiveSeconds,
)

KIB, MIB = 1 << 10, 1 << 20


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
        description="The largest file that is imported, in bytes. Its events take as much in the state directory "
        "meanwhile.",
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
        120_000,
        description="Time limit of a command for which the model gives none. Builds and test suites of most projects "
        "end within it.",
    )
    command_timeout_most_ms: Milliseconds = Field(
        1_800_000,
        description="The longest time limit that a model may ask for. More is capped, and both are told. A larger "
        "`command_timeout_ms` counts instead.",
    )
    jobs: Positive = Field(
        64, description="Background commands that run at the same time, of all conversations together."
    )
    job_output_bytes: Positive = Field(
        256 * KIB, description="Newest output kept of each background command, in bytes. Older output is dropped."
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
    read_lines: Positive = Field(
        500,
        description="Lines of a file that a model gets in one piece. A model reads on with another call.",
    )
    read_bytes: Positive = Field(
        32 * KIB, description="The same in bytes, and the most that a listing or a search tells: some 8,000 tokens."
    )
    list_entries: Positive = Field(
        500, description="Names that a model gets of one listing. A large repository has a hundred times as many."
    )
    skills_bytes: Positive = Field(
        16 * KIB, description="Names and descriptions of skills that a model is told, in bytes: some 4,000 tokens."
    )
    agent_seed_bytes: Integer = Field(
        64 * KIB,
        ge=1_024,
        le=16 * MIB,
        description="What was said before that another agent is told, in bytes: some 16,000 tokens. What is older is "
        "left out, and it is told how much.",
    )
    search_seconds: PositiveSeconds = Field(
        30, description="Time of one search by the tool grep. A pattern may be one that never comes to an end."
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
    agents: Positive = Field(
        16,
        description="Programs of other agents at the same time, each for one conversation. They have 80 to 600 MiB. "
        "When all are busy a turn waits for one.",
    )
    agent_idle_seconds: PositiveSeconds = Field(
        300,
        description="How long the program of an agent is kept after its conversation was parked. Starting it again "
        "takes seconds.",
    )
    agent_turn_bytes: Positive = Field(
        1024 * MIB,
        description="Bytes that the program of an agent may say in one turn, before it is ended. Some send a tool's "
        "whole output again with each line of it.",
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

    def describe_excess(self, key: str, what: str) -> str:
        """Compose the message about a limit that was reached, with its key, so that a person can find and raise it.

        `what`: the event in words, without a full stop.
        """
        return f"{what}: the bound is {getattr(self, key)} (greenroom.limits.{key} in the configuration)"
