"""The vocabulary: events are read and written as clients of August 2025 send and expect them."""

import json
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId
from tests.support.containing import assert_contains

EVENT_ADAPTER: TypeAdapter[ev.DurableEvent | ev.Delta] = TypeAdapter(ev.AnyEvent)

# As the reference prints them, for each type that it prints; members we add are absent on purpose.
LITERAL: list[dict[str, Any]] = [
    {"type": "session_configured", "session_id": "S", "model": "m", "history_log_id": 0, "history_entry_count": 0},
    {"type": "task_started"},
    {"type": "task_complete", "last_agent_message": "done"},
    {"type": "task_complete", "last_agent_message": None},
    {"type": "turn_aborted", "reason": "interrupted"},
    {"type": "turn_aborted", "reason": "replaced"},
    {"type": "error", "message": "stream disconnected before completion: idle timeout waiting for SSE"},
    {
        "type": "token_count",
        "input_tokens": 3,
        "cached_input_tokens": None,
        "cache_written_tokens": None,
        "output_tokens": 1,
        "reasoning_output_tokens": None,
        "total_tokens": 4,
    },
    {"type": "agent_message", "message": "hi"},
    {"type": "agent_message_delta", "delta": "h"},
    {"type": "agent_reasoning", "text": "because"},
    {"type": "agent_reasoning_delta", "delta": "be"},
    {"type": "agent_reasoning_section_break"},
    {"type": "agent_reasoning_raw_content", "text": "raw"},
    {"type": "agent_reasoning_raw_content_delta", "delta": "r"},
    {
        "type": "approval_requested",
        "call_id": "c1",
        "subject": {"kind": "command", "command": ["git", "init"], "cwd": "/w"},
        "reason": "to look",
    },
    {
        "type": "approval_requested",
        "call_id": "c2",
        "subject": {
            "kind": "files",
            "changes": {
                "/w/a.txt": {"update": {"unified_diff": "@@ -1 +1 @@\n-a\n+b\n", "move_path": None}},
                "/w/b": "delete",
                "/w/c": {"add": {"content": "x"}},
            },
        },
        "grant_root": "/optional",
    },
    {"type": "approval_requested", "call_id": "c3", "subject": {"kind": "form", "server": "s", "message": "Which?"}},
    {
        "type": "work_began",
        "call_id": "c1",
        "subject": {"kind": "command", "command": ["rg", "x"], "hints": [{"cmd": "rg x", "purpose": "searches"}]},
    },
    {"type": "work_began", "call_id": "c", "subject": {"kind": "files", "changes": {"/w/b": "delete"}}},
    {"type": "work_began", "call_id": "c", "subject": {"kind": "tool", "server": "s", "tool": "t"}},
    {"type": "work_began", "call_id": "c", "subject": {"kind": "other"}, "agent_call": {"title": "Think"}},
    {
        "type": "work_ended",
        "call_id": "c1",
        "kind": "command",
        "status": "completed",
        "output": "Init…",
        "exit_code": 0,
        "duration": {"secs": 0, "nanos": 9_000_000},
    },
    {
        "type": "work_ended",
        "call_id": "c",
        "kind": "tool",
        "subject": {"kind": "tool", "server": "s", "tool": "t", "arguments": {"a": 1}},
        "status": "completed",
        "result": {"content": []},
    },
    {
        "type": "work_ended",
        "call_id": "ws_1",
        "kind": "search",
        "subject": {"kind": "search", "query": "weather"},
        "status": "completed",
    },
    {
        "type": "work_ended",
        "call_id": "c",
        "kind": "picture",
        "subject": {"kind": "picture", "path": "/w/p.png"},
        "status": "completed",
    },
    {"type": "turn_diff", "unified_diff": "diff --git a/x b/x\n"},
    {"type": "background_event", "message": "retrying command without sandbox"},
    {"type": "stream_error", "message": "stream error: cut; retrying 1/5 in 203ms…"},
    {
        "type": "plan_update",
        "explanation": None,
        "plan": [{"step": "look", "status": "in_progress"}, {"step": "write", "status": "pending"}],
    },
    {"type": "user_message", "message": "Hello"},
]


@pytest.mark.parametrize("literal", LITERAL, ids=lambda one: str(one["type"]))
def test_an_event_of_the_reference_keeps_every_member_through_a_round_trip(literal: dict[str, Any]) -> None:
    event = EVENT_ADAPTER.validate_json(json.dumps(literal))
    written = json.loads(event.model_dump_json())
    assert_contains(written, literal)
    assert EVENT_ADAPTER.validate_json(event.model_dump_json()) == event


def test_every_type_of_the_reference_has_an_example_here() -> None:
    ours_alone = {
        *("agent_commands", "agent_options", "agent_session", "agent_title"),
        "kept_yes_used",
        "budget_reached",
        "calls_left",
        "compacted",
        "job_ended",
        "job_started",
        "model_requested",
        "settings_changed",
        "conversation_renamed",
        "conversation_archived",
        "conversation_failed",
        "conversation_restarted",
        "input_queued",
        "input_edited",
        "input_moved",
        "input_withdrawn",
        "queue_paused",
        "queue_resumed",
        "approval_resolved",
        "model_reasoning",
        "tool_call",
        "tool_output",
        "work_output",  # has a test of its own below
    }
    assert {ev.type_of(model) for model in ev.EVENTS} == {one["type"] for one in LITERAL} | ours_alone


def test_a_chunk_of_output_is_written_as_base64() -> None:
    written = {"type": "work_output", "call_id": "c1", "stream": "stdout", "chunk": "SW5pdA=="}
    event = EVENT_ADAPTER.validate_json(json.dumps(written))
    assert isinstance(event, ev.WorkOutput)
    assert event.chunk == b"Init"
    assert json.loads(event.model_dump_json())["chunk"] == "SW5pdA=="


def test_bytes_that_are_no_text_survive_a_round_trip() -> None:
    event = ev.WorkOutput(call_id=CallId("c"), stream="stderr", chunk=bytes(range(256)))
    assert EVENT_ADAPTER.validate_json(event.model_dump_json()) == event


@pytest.mark.parametrize("reason", ["interrupted", "replaced", "failed", "lost"])
def test_a_turn_may_be_aborted_for_four_reasons(reason: str) -> None:
    assert ev.TurnAborted.model_validate({"reason": reason}).reason.value == reason


def test_bytes_are_written_in_the_alphabet_that_everybody_reads_and_read_in_both() -> None:
    event = ev.WorkOutput(call_id=CallId("c"), stream="stdout", chunk=b"\xfb\xff\xfe?")
    assert json.loads(event.model_dump_json())["chunk"] == "+//+Pw=="
    foreign = event.model_dump_json().replace("+//+Pw==", "-__-Pw==")
    assert EVENT_ADAPTER.validate_json(foreign) == event


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValidationError, match="union_tag_invalid"):
        EVENT_ADAPTER.validate_json('{"type": "no_such_thing"}')


def test_members_of_a_later_version_are_read_over() -> None:
    event = EVENT_ADAPTER.validate_json('{"type": "agent_message", "message": "hi", "from_the_future": 1}')
    assert event == ev.AgentMessage(message="hi")


def test_an_event_cannot_be_changed() -> None:
    event = ev.AgentMessage(message="hi")
    with pytest.raises(ValidationError, match="frozen"):
        event.message = "no"


@pytest.mark.parametrize("model", ev.EVENTS, ids=ev.type_of)
def test_every_field_says_what_it_means(model: type[BaseModel]) -> None:
    silent = [name for name, info in model.model_fields.items() if name != "type" and not info.description]
    assert not silent


ITEMS = (
    ev.UserMessage,
    ev.AgentMessage,
    ev.AgentReasoning,
    ev.AgentReasoningRawContent,
    ev.ModelReasoning,
    ev.WorkBegan,
    ev.WorkEnded,
    ev.PlanUpdate,
    ev.ToolCall,
    ev.ToolOutput,
    *ev.DELTAS,
)


@pytest.mark.parametrize("model", ITEMS, ids=ev.type_of)
def test_every_message_reasoning_work_and_plan_has_an_item_id(model: type[BaseModel]) -> None:
    assert "item_id" in model.model_fields


@pytest.mark.parametrize(("written", "read"), [(2**63, 2**63 - 1), (-(10**30), -(2**63 - 1)), (7, 7)])
def test_numbers_of_old_journals_are_read_within_what_a_column_holds(written: int, read: int) -> None:
    body = {"type": "token_count", "input_tokens": written, "output_tokens": 0, "total_tokens": written}
    event = ev.durable_adapter.validate_json(json.dumps(body))
    assert isinstance(event, ev.TokenCount)
    assert event.total_tokens == event.input_tokens == read
