"""The pure pieces: ids, pages, event shapes, bounds, the schema checker itself."""

import json
from typing import Any

import pytest
from msgspec import to_builtins

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.records import ListPlace, Record
from tests.support.work import command_asked
from tests.transports.dialects.mcp.json_schema import Invalid, check, revision
from transports.dialects.codex.events import (
    MEMBERS,
    EventParams,
    NoticeEvent,
    event_notification,
    initial_state,
    listener_notification,
    seed_message,
)
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.identifiers import conversation_id
from transports.dialects.kit.paging import BadCursor, cursor_of, place_of
from transports.dialects.mcp.protocol.options import McpOptions, with_hello
from transports.dialects.mcp.protocol.revisions import Initialize, peer
from transports.dialects.mcp.protocol.sinks import StreamMeta
from transports.dialects.mcp.protocol.transcript import as_markdown
from transports.jsonrpc import JsonObject
from transports.supervisor_requests import Person

PLAIN = "67e5504410b1426f9247bb680e5fe0c8"
HYPHENATED = "67e55044-10b1-426f-9247-bb680e5fe0c8"


@pytest.mark.parametrize(
    "text", [PLAIN, HYPHENATED, HYPHENATED.upper(), f"{{{HYPHENATED}}}", f"urn:uuid:{HYPHENATED}"]
)
def test_an_id_is_read_in_every_spelling_and_written_in_one(text: str) -> None:
    assert conversation_id(text) == HYPHENATED


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "not-a-uuid",
            "invalid character: expected an optional prefix of `urn:uuid:` followed by [0-9a-fA-F-], found `n` at 1",
        ),
        ("abc", "invalid length: expected length 32 for simple format, found 3"),
        ("", "invalid length: expected length 32 for simple format, found 0"),
        ("a-b", "invalid group count: expected 5, found 2"),
        (HYPHENATED[1:], "invalid group length in group 0: expected 8, found 7"),
    ],
)
def test_an_invalid_id_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError) as error:
        conversation_id(text)
    assert str(error.value) == why


def test_an_event_that_those_clients_don_t_know_is_left_out() -> None:
    for unknown in ("user_message", "tool_call", "approval_resolved", "settings_changed", "nonsense"):
        assert seed_message({"type": unknown, "message": "x"}) is None
    assert "conversation_archived" not in MEMBERS


def test_tokens_that_nobody_counted_are_not_told_as_none() -> None:
    count = {"type": "token_count", "input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    assert seed_message({**count, "counted": False}) is None
    assert seed_message({**count, "counted": True}) is not None


def test_null_members_stay_or_go_as_they_did() -> None:
    asked = command_asked("ls", call="c", cwd="/").model_dump(mode="json")
    assert to_builtins(seed_message(asked)) == {
        "type": "exec_approval_request",
        "call_id": "c",
        "command": ["ls"],
        "cwd": "/",
    }
    assert to_builtins(seed_message({**asked, "reason": "r"}))["reason"] == "r"
    assert seed_message({"type": "plan_update", "explanation": None, "plan": []}) == {
        "type": "plan_update",
        "explanation": None,
        "plan": [],
    }


def test_a_failed_call_and_a_held_queue_are_told_as_notices() -> None:
    failed = {"type": "tool_output", "output": "…", "failed": {"kind": "patch", "message": "it does not apply"}}
    assert seed_message(failed) == NoticeEvent("failed: it does not apply")
    assert seed_message({**failed, "failed": None}) is None
    held = seed_message({"type": "queue_paused", "queued": 4, "waiting": ["one", "two", "three", "four"]})
    assert isinstance(held, NoticeEvent)
    assert held.message.startswith('4 messages wait: "one", "two", "three", …; `greenroom queue` lets them go on')


@pytest.mark.parametrize(
    ("event", "told"),
    [
        (
            {"type": "job_started", "job": "3f2a", "command": ["npm", "run", "dev"], "keeps": True},
            "in the background as job 3f2a, it goes on after the turn: npm run dev",
        ),
        ({"type": "job_ended", "job": "3f2a", "how": "exited", "exit_code": 2}, "job 3f2a ended with exit code 2"),
        (
            {"type": "job_ended", "job": "3f2a", "how": "ended", "exit_code": 143, "by": "ann"},
            "job 3f2a was ended by ann",
        ),
        (
            {"type": "settings_changed", "by": "ann", "changed": [{"name": "model", "before": "a", "after": "b"}]},
            "settings: model is b now (ann)",
        ),
    ],
)
def test_events_unknown_to_old_clients_are_told_in_a_line(event: JsonObject, told: str) -> None:
    assert seed_message(event) == NoticeEvent(told)


@pytest.mark.parametrize("reason", ["interrupted", "replaced"])
def test_an_abort_has_a_reason_that_can_be_decoded(reason: str) -> None:
    aborted = {"type": "turn_aborted", "reason": reason, "message": "m", "by": []}
    assert seed_message(aborted) == {"type": "turn_aborted", "reason": reason}


@pytest.mark.parametrize("reason", ["failed", "lost"])
def test_a_turn_that_nobody_stopped_is_never_called_interrupted(reason: str) -> None:
    failed = {"type": "turn_aborted", "reason": reason, "message": "m", "by": []}
    assert seed_message(failed) == {"type": "task_complete", "last_agent_message": None}


def test_notifications_are_put_together_from_bytes() -> None:
    msg = b'{"type":"x"}'
    meta = StreamMeta(ConversationId("S"), "r")
    known = {"conversationId": "S", "requestId": "r"}
    assert json.loads(event_notification("codex/event", EventParams(meta, "1"), msg)) == {
        "jsonrpc": "2.0",
        "method": "codex/event",
        "params": {"_meta": known, "id": "1", "msg": {"type": "x"}},
    }
    assert json.loads(event_notification("x", EventParams(), msg))["params"] == {"msg": {"type": "x"}}
    assert json.loads(listener_notification("x", "0", "S", msg)) == {
        "jsonrpc": "2.0",
        "method": "codex/event/x",
        "params": {"id": "0", "msg": {"type": "x"}, "conversationId": "S"},
    }
    assert json.loads(initial_state(meta, [msg, msg]))["params"] == {
        "_meta": known,
        "initial_state": {"events": [{"msg": {"type": "x"}}] * 2},
    }


def test_a_cursor_is_read_as_it_was_written_and_nothing_else_is_one() -> None:
    for place in (ListPlace(1763550000.25, 7), ListPlace(0.1 + 0.2, 0), None):
        assert place_of(cursor_of(place)) == place
    for nonsense in ("", "no", "1.0", "/", "nan/1", "inf/1", "1.0/", "1/a", "1/-1", f"1/{'9' * 19}", "1/²"):
        with pytest.raises(BadCursor):
            place_of(nonsense)


def test_a_bounded_dictionary_forgets_the_oldest() -> None:
    kept: Bounded[int, str] = Bounded(2)
    for number in (1, 2, 1, 3):
        kept[number] = "x"
    assert (1 in kept, 2 in kept, 3 in kept, len(kept)) == (True, False, True, 2)


def test_the_bridge_s_words_are_defaults_and_nonsense_is_ignored() -> None:
    said = {"defaults": {"model": "m", "cwd": 5, "config": {"a": 1}, "other": 1}}
    assert with_hello(McpOptions(), said).person == Person(model="m", config={"a": 1})
    assert with_hello(McpOptions(), {"defaults": 1}).person == Person()


@pytest.mark.parametrize(("said", "first"), [(7, 7), (0, 0), (-1, 0), ("7", 0), (7.0, 0), (None, 0)])
def test_questions_are_counted_from_where_the_bridge_says(said: object, first: int) -> None:
    assert with_hello(McpOptions(), {"first_question": said}).first_question == first


@pytest.mark.parametrize(
    ("capability", "elicits"),
    [({}, True), ({"form": {}}, True), ({"form": {}, "url": {}}, True), ({"url": {}}, False), (None, False)],
)
def test_a_client_with_forms_can_be_asked(capability: Any, elicits: bool) -> None:
    said = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": capability}}
    info = {"clientInfo": {"name": "c", "version": "1"}}
    assert peer(Initialize.model_validate({**said, **info})).elicits is elicits


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CallToolResult", {"content": "text"}),
        ("CallToolResult", {}),
        ("CallToolResult", {"content": [{"type": "text"}]}),
        ("InitializeResult", {"protocolVersion": "x", "capabilities": {}}),
        ("Tool", {"name": "x", "inputSchema": {"type": "array"}}),
        ("ProgressNotification", {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": "1"}}),
        ("LoggingMessageNotification", {"method": "notifications/message", "params": {"level": "loud", "data": 1}}),
    ],
)
@pytest.mark.parametrize("protocol", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_the_schema_check_finds_what_is_wrong(name: str, value: Any, protocol: str) -> None:
    root = revision(protocol)
    known = root.get("$defs") or root["definitions"]
    with pytest.raises(Invalid):
        check(value, known[name], root)


def test_a_transcript_has_the_same_notices() -> None:
    changed = {"type": "settings_changed", "by": "", "changed": [{"name": "model", "before": "a", "after": "b"}]}
    failed: JsonObject = {
        "type": "tool_output",
        "output": "…",
        "failed": {"kind": "patch", "message": "it does not apply"},
    }
    records = [
        Record(seq, 0.0, None, one["type"], json.dumps(one).encode()) for seq, one in enumerate((changed, failed))
    ]
    assert as_markdown(records) == "*Settings: model is b now*\n\n*Failed: it does not apply*"
