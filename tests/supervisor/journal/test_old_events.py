"""Events of earlier versions, read as those of today."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import KeptText, Record
from supervisor.journal.old_events import OLD_SEARCHED_EVENTS, READERS, read_event, read_head, read_record, read_text
from tests.support.containing import assert_contains
from tests.support.heads import idle_head

ADAPTER: TypeAdapter[ev.BaseEvent] = TypeAdapter(ev.AnyEvent)
CALL = {"call_id": "c", "item_id": "i"}
ASKED = {**CALL, "approval_id": "a", "reason": "why", "deadline_s": 5.0, "default": "abort"}
USE = {
    **CALL,
    "title": "Run make",
    "kind": "execute",
    "command": ["make"],
    "cwd": "/w",
    "changes": {},
    "places": [{"path": "/w/a", "line": 3}],
}
CHANGES = {"/w/a": "delete", "/w/b": {"add": {"content": "b"}}}
COMMAND = {"kind": "command", "command": ["make"], "cwd": "/w"}
AGENT_CALL = {"title": "Run make", "sort": "execute", "places": [{"path": "/w/a", "line": 3}], "arguments": "{}"}
INVOCATION = {"server": "files", "tool": "read", "arguments": {"path": "a"}}
TOOL = {"kind": "tool", **INVOCATION}
DURATION = {"secs": 1, "nanos": 5}

OLD_AND_NEW: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a command begins": (
        {
            **CALL,
            "type": "exec_command_begin",
            "command": ["make"],
            "cwd": "/w",
            "parsed_cmd": [{"Read": {"cmd": "cat a", "name": "a"}}, {"Unknown": {"cmd": "make"}}],
            "tool": "",
        },
        {
            "type": "work_began",
            "subject": {
                **COMMAND,
                "hints": [{"cmd": "cat a", "purpose": "reads", "name": "a"}, {"cmd": "make", "purpose": "unknown"}],
            },
            "agent_call": None,
        },
    ),
    "a command writes": (
        {**CALL, "type": "exec_command_output_delta", "stream": "stderr", "chunk": "SW5pdA=="},
        {"type": "work_output", "kind": "command", "stream": "stderr", "chunk": "SW5pdA=="},
    ),
    "a command writes bytes as numbers": (
        {**CALL, "type": "exec_command_output_delta", "stream": "stdout", "chunk": [73, 110, 105, 116]},
        {"type": "work_output", "chunk": "SW5pdA=="},
    ),
    "a command ends": (
        {
            **CALL,
            "type": "exec_command_end",
            "stdout": "out",
            "stderr": "err",
            "exit_code": 2,
            "duration": DURATION,
        },
        {
            "type": "work_ended",
            "kind": "command",
            "status": "failed",
            "output": "out",
            "errors": "err",
            "exit_code": 2,
            "duration": DURATION,
        },
    ),
    "a command is cut": (
        {**CALL, "type": "exec_command_end", "exit_code": -1, "cut": "interrupted"},
        {"type": "work_ended", "status": "cancelled", "exit_code": -1, "cut": "interrupted"},
    ),
    "a patch begins": (
        {**CALL, "type": "patch_apply_begin", "auto_approved": True, "changes": CHANGES},
        {"type": "work_began", "auto_approved": True, "subject": {"kind": "files", "changes": CHANGES}},
    ),
    "a patch ends": (
        {**CALL, "type": "patch_apply_end", "stdout": "Success.", "success": True},
        {"type": "work_ended", "kind": "files", "status": "completed", "output": "Success."},
    ),
    "a patch fails": (
        {**CALL, "type": "patch_apply_end", "stderr": "no such line", "success": False},
        {"type": "work_ended", "kind": "files", "status": "failed", "errors": "no such line"},
    ),
    "a patch is cut": (
        {**CALL, "type": "patch_apply_end", "stderr": "aborted", "success": False},
        {"type": "work_ended", "kind": "files", "status": "cancelled", "errors": "aborted"},
    ),
    "a server's tool begins": (
        {**CALL, "type": "mcp_tool_call_begin", "invocation": INVOCATION},
        {"type": "work_began", "subject": TOOL},
    ),
    "a server's tool ends": (
        {**CALL, "type": "mcp_tool_call_end", "invocation": INVOCATION, "result": {"Ok": {"content": []}}},
        {"type": "work_ended", "kind": "tool", "subject": TOOL, "status": "completed", "result": {"content": []}},
    ),
    "a server's tool says that it failed": (
        {**CALL, "type": "mcp_tool_call_end", "invocation": INVOCATION, "result": {"Ok": {"isError": True}}},
        {"type": "work_ended", "status": "failed", "result": {"isError": True}},
    ),
    "a server fails": (
        {**CALL, "type": "mcp_tool_call_end", "invocation": INVOCATION, "result": {"Err": "gone"}},
        {"type": "work_ended", "kind": "tool", "status": "failed", "errors": "gone", "result": None},
    ),
    "a picture": (
        {**CALL, "type": "view_image_tool_call", "path": "/w/p.png"},
        {"type": "work_ended", "kind": "picture", "subject": {"kind": "picture", "path": "/w/p.png"}},
    ),
    "a search": (
        {**CALL, "type": "web_search_end", "query": "weather", "wire": "messages", "model": "m", "kept": "[1]"},
        {
            "type": "work_ended",
            "kind": "search",
            "subject": {"kind": "search", "query": "weather", "wire": "messages", "model": "m", "kept": "[1]"},
        },
    ),
    "an agent's command begins": (
        {**USE, "type": "tool_use_begin", "arguments": "{}", "reads_as": "command"},
        {"type": "work_began", "subject": COMMAND, "agent_call": AGENT_CALL},
    ),
    "an agent's change of files begins": (
        {**USE, "type": "tool_use_begin", "command": [], "changes": CHANGES, "kind": "edit", "reads_as": "patch"},
        {"type": "work_began", "subject": {"kind": "files", "changes": CHANGES}, "agent_call": {"sort": "edit"}},
    ),
    "an agent's other tool begins": (
        {**CALL, "type": "tool_use_begin", "title": "Think", "kind": "think"},
        {"type": "work_began", "subject": {"kind": "other"}, "agent_call": {"title": "Think", "sort": "think"}},
    ),
    "an agent's tool writes": (
        {**CALL, "type": "tool_use_delta", "delta": "Init", "reads_as": "other"},
        {"type": "work_output", "kind": "other", "stream": "stdout", "chunk": "SW5pdA=="},
    ),
    "an agent's tool ends": (
        {**USE, "type": "tool_use_end", "status": "failed", "output": "no", "exit_code": 2, "reads_as": "command"},
        {
            "type": "work_ended",
            "kind": "command",
            "status": "failed",
            "output": "no",
            "exit_code": 2,
            "subject": COMMAND,
            "agent_call": {"title": "Run make"},
        },
    ),
    "a question about a command": (
        {
            **ASKED,
            "type": "exec_approval_request",
            "command": ["make"],
            "cwd": "/w",
            "retry": True,
            "failed": "exit 1",
        },
        {
            **ASKED,
            "type": "approval_requested",
            "subject": COMMAND,
            "retry": True,
            "failed": "exit 1",
            "outside_sandbox": True,
        },
    ),
    "a question about a command inside": (
        {**ASKED, "type": "exec_approval_request", "command": ["make"], "cwd": "/w", "outside_sandbox": False},
        {"type": "approval_requested", "outside_sandbox": False},
    ),
    "a question about files": (
        {
            **ASKED,
            "type": "apply_patch_approval_request",
            "changes": CHANGES,
            "grant_root": "/w",
            "obeyed_by": ["zsh"],
        },
        {
            **ASKED,
            "type": "approval_requested",
            "subject": {"kind": "files", "changes": CHANGES},
            "grant_root": "/w",
            "obeyed_by": ["zsh"],
        },
    ),
    "a question about a server's tool": (
        {
            **ASKED,
            "type": "mcp_tool_call_approval_request",
            "server": "files",
            "tool": "read",
            "arguments": "{}",
            "fingerprint": "f",
            "changed": True,
        },
        {
            **ASKED,
            "type": "approval_requested",
            "subject": {"kind": "tool", "server": "files", "tool": "read", "arguments": "{}"},
            "fingerprint": "f",
            "changed": True,
        },
    ),
    "a server's form": (
        {
            **ASKED,
            "type": "elicitation_approval_request",
            "server": "files",
            "message": "Which?",
            "fields": ["name (string)"],
            "form": [{"name": "name"}],
            "url": "http://127.0.0.1/",
        },
        {
            **ASKED,
            "type": "approval_requested",
            "subject": {
                "kind": "form",
                "server": "files",
                "message": "Which?",
                "fields": ["name (string)"],
                "form": [{"name": "name"}],
                "url": "http://127.0.0.1/",
            },
        },
    ),
    "an agent's question": (
        {
            **ASKED,
            **USE,
            "type": "tool_use_approval_request",
            "agent": "claude",
            "arguments": "{}",
            "options": [{"id": "o", "name": "Yes", "kind": "allow_once"}],
            "beyond": {"says": "look"},
            "fingerprint": "f",
        },
        {
            **ASKED,
            "type": "approval_requested",
            "subject": COMMAND,
            "agent": "claude",
            "agent_call": AGENT_CALL,
            "options": [{"id": "o", "name": "Yes", "kind": "allow_once"}],
            "beyond": {"says": "look"},
            "fingerprint": "f",
        },
    ),
}


def record(event: dict[str, Any]) -> Record:
    return Record(7, 1.0, None, str(event["type"]), json.dumps(event).encode())


@pytest.mark.parametrize(("old", "new"), OLD_AND_NEW.values(), ids=OLD_AND_NEW)
def test_an_old_event_is_read_as_one_of_today(old: dict[str, Any], new: dict[str, Any]) -> None:
    event = ADAPTER.validate_json(json.dumps(read_event(old)))
    assert_contains(json.loads(event.model_dump_json()), {**CALL, **new})
    if isinstance(event, ev.DurableEvent):
        read = read_record(record(old))
        assert (read.type, read.seq) == (new["type"], 7)
        assert ADAPTER.validate_json(read.body) == event


def test_every_old_type_has_an_example_here() -> None:
    assert {old["type"] for old, _ in OLD_AND_NEW.values()} == set(READERS)
    assert set(OLD_SEARCHED_EVENTS) < set(READERS)


def test_an_event_of_today_is_left_alone() -> None:
    stored = record({"type": "agent_message", "message": "hi"})
    assert read_record(stored) is stored


@pytest.mark.parametrize(
    "body", [b"no json", b'{"type":"exec_command_end"}', b'{"type":"patch_apply_begin","changes":3}', b"[]"]
)
def test_an_old_event_that_cannot_be_read_is_passed_on_as_it_stands(body: bytes) -> None:
    stored = Record(7, 1.0, None, "exec_command_end", body)
    assert read_record(stored).seq == 7


def test_text_of_an_unfinished_command_is_read_as_output_of_work() -> None:
    delta = {**CALL, "type": "exec_command_output_delta", "stream": "stdout", "chunk": "SW5pdA=="}
    read = read_text(KeptText("i/stdout", 3, 0, 4, json.dumps(delta).encode()))
    assert (read.tail, json.loads(read.body)["type"]) == ("i/stdout", "work_output")


def test_a_checkpoint_with_an_open_turn_is_read_with_the_work_and_the_questions_of_today() -> None:
    question, _ = OLD_AND_NEW["a question about a command"]
    use, _ = OLD_AND_NEW["an agent's command begins"]
    items = [
        ["one", {"kind": "exec", "call": "c", "invocation": None, "use": None}],
        ["two", {"kind": "patch", "call": "c", "invocation": None, "use": None}],
        ["three", {"kind": "mcp", "call": "c", "invocation": INVOCATION, "use": None}],
        ["four", {"kind": "use", "call": "c", "invocation": None, "use": use}],
    ]
    facts = {"turn": {"items": items, "approvals": [question]}, "seq": 4}
    checkpoint = json.dumps(facts, separators=(",", ":")).encode()
    head = idle_head(ConversationId("c"), checkpoint=checkpoint)
    turn = json.loads(read_head(head).checkpoint)["turn"]
    kinds = [(item, opened["kind"], opened.get("subject", {}).get("kind")) for item, opened in turn["items"]]
    assert kinds == [
        ("one", "command", None),
        ("two", "files", None),
        ("three", "tool", "tool"),
        ("four", "command", "command"),
    ]
    assert turn["approvals"] == [read_event(question)]
    assert turn["approvals"][0]["type"] == "approval_requested"


def test_a_checkpoint_of_today_is_left_alone() -> None:
    head = idle_head(ConversationId("c"), checkpoint=b'{"turn":null}')
    assert read_head(head) is head
