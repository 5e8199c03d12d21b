"""Calls as editors show them: files, commands with their output, tools of servers and of other agents."""

from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ConversationId, ItemId, JobId
from tests.support.work import command, command_ended, command_wrote
from tests.transports.dialects.acp.peer import Editor, Json, daemon
from tests.transports.dialects.mcp.daemon import Daemon
from transports.dialects.acp.diffs import hunks

SCREENS: Json = {"_meta": {"terminal_output": True}}
CALL: Any = {"call_id": CallId("c"), "item_id": ItemId("i1")}


def told(*events: Any, can: Json | None = None) -> tuple[Editor, Daemon, ConversationId]:
    house = daemon()
    editor = Editor(house, can=can)
    one = ConversationId(editor.new())
    editor.prompt(one)
    for event in events:
        house.say(one, event)
        house.settle()
    return editor, house, one


def calls(editor: Editor) -> list[Json]:
    return [one for one in editor.updates() if one["sessionUpdate"].startswith("tool_call")]


def works(subject: ev.WorkSubject, **more: Any) -> ev.WorkBegan:
    return ev.WorkBegan(**CALL, subject=subject, **more)


def ended(kind: ev.WorkKind, status: ev.WorkStatus = "completed", **more: Any) -> ev.WorkEnded:
    return ev.WorkEnded(**CALL, kind=kind, status=status, **more)


def begins() -> ev.WorkBegan:
    return works(command("bash", "-lc", "make all", cwd="/w"))


def writes(text: bytes) -> ev.WorkOutput:
    return command_wrote(text, item="i1")


def ends(code: int = 0, output: str = "") -> ev.WorkEnded:
    return command_ended(output, code=code, item="i1")


def test_output_is_shown_as_it_comes_in_a_terminal_of_ours() -> None:
    editor, _, _ = told(begins(), writes(b"h\xc3"), writes(b"\xa9!\n"), ends(3, output="hé!\n"), can=SCREENS)
    begun, first, second, ended = calls(editor)
    assert begun["title"] == "make all"
    assert begun["content"] == [{"type": "terminal", "terminalId": "i1"}]
    assert begun["_meta"] == {"terminal_info": {"terminal_id": "i1", "cwd": "/w"}}
    assert begun["rawInput"] == {"command": ["bash", "-lc", "make all"], "cwd": "/w"}
    assert [one["_meta"]["terminal_output"]["data"] for one in (first, second)] == ["h", "é!\n"]
    assert ended["_meta"] == {"terminal_exit": {"terminal_id": "i1", "exit_code": 3, "signal": None}}
    assert (ended["status"], "content" in ended) == ("failed", False)


def test_other_editors_get_the_end_of_an_output_at_most_once_a_second_and_all_of_it_at_the_end() -> None:
    editor, house, one = told(begins(), writes(b"a\n"), writes(b"b\n"), writes(b"c\n"))
    tails = [each["content"][0]["content"]["text"] for each in editor.updates("tool_call_update")]
    assert tails == ["```\na\n```"]
    house.advance(1.0)
    tails = [each["content"][0]["content"]["text"] for each in editor.updates("tool_call_update")]
    assert tails == ["```\na\n```", "```\na\nb\nc\n```"]
    house.advance(1.0)
    house.say(one, ends(output="all of it\n"))
    house.settle()
    assert len(editor.updates("tool_call_update")) == 3
    ended = editor.updates("tool_call_update")[-1]
    assert (ended["status"], ended["rawOutput"]) == ("completed", {"exitCode": 0})
    assert ended["content"][0]["content"]["text"] == "```\nall of it\n```"


def test_a_very_long_output_is_told_by_its_ends() -> None:
    editor, _, _ = told(begins(), ends(output="a" * 100_000 + "b" * 100_000))
    text = editor.updates("tool_call_update")[-1]["content"][0]["content"]["text"]
    assert len(text) < 70_000
    assert "characters …]" in text


def test_a_file_that_is_read_is_named_with_its_line() -> None:
    hint = ev.CommandHint(cmd="read_file a.py 7", purpose="reads", name="a.py")
    reads = ev.CommandSubject(command=("read_file", "src/a.py", "7"), cwd=Path("/w"), hints=(hint,), tool="read_file")
    editor, _, _ = told(works(reads), can=SCREENS)
    (begun,) = calls(editor)
    assert (begun["kind"], begun["locations"]) == ("read", [{"path": "/w/src/a.py", "line": 7}])
    assert "_meta" not in begun


def test_a_patch_shows_its_files() -> None:
    changes: Any = {
        "/w/new.py": {"add": {"content": "x\n"}},
        "/w/old.py": {"update": ev.UpdatedFile(unified_diff="@@ -1,2 +1,2 @@\n a\n-b\n+c\n@@ -9 +9 @@\n-y\n+z\n")},
        "/w/gone.py": "delete",
    }
    begun, over = calls(told(works(ev.FilesSubject(changes=changes)), ended("files", output="done"))[0])
    assert (begun["kind"], begun["title"]) == ("edit", "Edit new.py, old.py, gone.py")
    assert [(one.get("oldText"), one.get("newText")) for one in begun["content"]] == [
        *((None, "x\n"), ("a\nb\n", "a\nc\n"), ("y\n", "z\n"), (None, None)),
    ]
    assert (over["status"], len(over["content"])) == ("completed", 3)


def test_a_patch_that_failed_says_why() -> None:
    begin = works(ev.FilesSubject(changes={"/w/a": "delete"}))
    _, over = calls(told(begin, ended("files", "failed", errors="no such file"))[0])
    assert over["status"] == "failed"
    assert "no such file" in over["content"][-1]["content"]["text"]


@pytest.mark.parametrize(
    ("diff", "pieces"),
    [
        ("@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", [("a", "b")]),
        ("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", [("a\n", "b")]),
        ("@@ -1 +1,2 @@\n a\n+-- b\r\n", [("a\n", "a\n-- b\r\n")]),
        ("", []),
    ],
)
def test_hunks_become_old_and_new_text(diff: str, pieces: list[tuple[str, str]]) -> None:
    assert list(hunks(diff)) == pieces


@pytest.mark.parametrize(
    ("result", "status", "text"),
    [
        ({"result": {"content": [{"type": "text", "text": "found"}]}}, "completed", "found"),
        ({"result": {"content": [{"type": "text", "text": "bad"}], "isError": True}}, "failed", "bad"),
        ({"errors": "no server"}, "failed", "no server"),
    ],
)
def test_a_tool_of_a_server_has_its_arguments_and_its_result(result: Any, status: Any, text: str) -> None:
    used = ev.ToolSubject(server="files", tool="find", arguments={"what": "x"})
    editor, _, _ = told(works(used), ended("tool", status, subject=used, **result))
    begun, over = calls(editor)
    assert (begun["title"], begun["rawInput"]) == ("files: find", {"what": "x"})
    assert (over["status"], over["content"][0]["content"]["text"]) == (status, text)


def test_a_tool_of_another_agent_keeps_its_kind_and_its_places() -> None:
    place = ev.Place(path=Path("/w/a.py"), line=3)
    use: Any = {
        "subject": ev.OtherSubject(),
        "agent_call": ev.AgentCall(title="Read a.py", sort="read", places=(place,), arguments='{"path": "a.py"}'),
    }
    editor, _, _ = told(works(**use), ended("other", **use, output="text"))
    begun, over = calls(editor)
    assert (begun["kind"], begun["locations"]) == ("read", [{"path": "/w/a.py", "line": 3}])
    assert begun["rawInput"] == {"path": "a.py"}
    assert (over["status"], over["content"][0]["content"]["text"]) == ("completed", "```\ntext\n```")


def test_a_job_may_outlive_its_turn() -> None:
    editor, house, one = told(
        ev.JobStarted(**CALL, job=JobId("3f2a"), command=("serve",), cwd=Path("/w"), keeps=True)
    )
    house.finish(one, "done")
    house.settle()
    assert [(each["toolCallId"], each["status"]) for each in calls(editor)] == [("job-3f2a", "completed")]


def test_a_call_that_the_turn_leaves_open_fails_with_it() -> None:
    editor, house, one = told(begins(), can=SCREENS)
    editor.notify("session/cancel", sessionId=one)
    assert calls(editor)[-1]["status"] == "failed"
    assert house.turns == {}
    assert editor.dialect._state.sessions[one].translator.calls.open == {}


def test_reasoning_comes_in_sections_and_nothing_of_it_twice() -> None:
    item = ItemId("r")
    editor, _, _ = told(
        ev.AgentReasoningDelta(delta="**One** a", item_id=item),
        ev.AgentReasoningSectionBreak(item_id=item),
        ev.AgentReasoningDelta(delta="**Two** b", item_id=item),
        ev.AgentReasoning(text="**One** a", item_id=item),
        ev.AgentReasoning(text="**Two** b", item_id=item),
    )
    thoughts = [(one["messageId"], one["content"]["text"]) for one in editor.updates("agent_thought_chunk")]
    assert thoughts == [("r", "**One** a"), ("r#1", "**Two** b")]


def test_plans_and_usage_are_told() -> None:
    step = ev.PlanStep(step="look", status="in_progress")
    count = ev.TokenCount(
        input_tokens=5, output_tokens=5, total_tokens=10, context_tokens=10, context_window=100, cost_usd=0.5
    )
    editor, _, _ = told(ev.PlanUpdate(plan=(step,)), count, count)
    assert editor.updates("plan")[0]["entries"] == [
        {"content": "look", "priority": "medium", "status": "in_progress"}
    ]
    used = [(one["used"], one["size"], one["cost"]["amount"]) for one in editor.updates("usage_update")]
    assert used == [(10, 100, 0.5), (10, 100, 1.0)]
