"""Calls that failed and text that was cut, as people see them: in one line each, and never the same twice."""

import io
from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.settings import AbortReason, Decision
from supervisor.cli.kit.terminal import Paint
from supervisor.cli.show.printer import EventPrinter
from supervisor.cli.show.screen import Screen
from tests.supervisor.cli.place import Place
from tests.support.work import command, command_asked, command_began, command_ended

CALL, ITEM = CallId("call"), ItemId("item")
Kind = Any  # a kind of failure; the class checks it


def printed(*events: ev.DurableEvent) -> list[str]:
    out = io.StringIO()
    screen = Screen(out, live=False)
    printer = EventPrinter(screen, screen, Paint())
    for event in events:
        body = event.model_dump(mode="json")
        printer.take({"conversation": "c", "seq": 1, "ts": 1.0, "turn": "t", "event": body})
    return out.getvalue().splitlines()


def output(kind: Kind, message: str) -> ev.ToolOutput:
    failed = ev.ToolFailure(kind=kind, message=message)
    return ev.ToolOutput(call_id=CALL, item_id=ITEM, output="error: all of it\nin lines", failed=failed)


@pytest.mark.parametrize("kind", ["arguments", "unknown_tool", "patch", "time_out", "refused", "tool"])
def test_every_kind_of_failure_is_one_line_on_the_screen(kind: str) -> None:
    assert printed(output(kind, "why it failed")) == ["  why it failed"]


def test_a_call_that_did_not_fail_says_nothing_here() -> None:
    assert printed(ev.ToolOutput(call_id=CALL, item_id=ITEM, output="fine")) == []


def test_a_tool_of_an_mcp_server_is_shown_with_its_answer_and_its_failure_is_told_once() -> None:
    called = ev.ToolSubject(server="files", tool="read", arguments={"path": "/w"})
    began = ev.WorkBegan(call_id=CALL, item_id=ITEM, subject=called)
    said = {"content": [{"type": "text", "text": "first\nsecond"}]}
    ended = ev.WorkEnded(call_id=CALL, item_id=ITEM, kind="tool", subject=called, status="completed", result=said)
    assert printed(began, ended) == ['⚒ files read {"path": "/w"}', "  first", "  second"]
    failed = ended.model_copy(update={"status": "failed", "result": None, "errors": "no such file"})
    assert printed(began, failed, output("tool", "files read: no such file"))[1:] == ["  no such file, 0.0 s"]


def test_a_failed_patch_is_told_once() -> None:
    ended = ev.WorkEnded(call_id=CALL, item_id=ITEM, kind="files", status="failed", errors="disk full")
    assert printed(ended, output("patch", "disk full")) == ["the patch failed: disk full"]


def test_a_command_that_a_person_refused_is_told_once() -> None:
    asked = command_asked("rm", "x", approval="a").model_copy(update={"item_id": ITEM})
    refused = ev.ApprovalResolved(approval_id=ApprovalId("a"), decision=Decision.DENIED, by="ann")
    lines = printed(asked, refused, output("refused", "exec command rejected by user"))
    assert sum("rejected" in line for line in lines) == 0
    assert lines[-1] == "  denied by ann"


def test_a_time_limit_is_named_behind_the_exit_of_the_command() -> None:
    ended = command_ended(code=124, call=CALL, item=ITEM)
    assert printed(ended, output("time_out", "it ran for 2 minutes, its limit")) == [
        "  exit 124, 0.0 s",
        "  it ran for 2 minutes, its limit",
    ]


def test_text_that_ended_with_the_daemon_is_marked_so_and_text_that_was_interrupted_as_cut_off() -> None:
    lost = ev.AgentMessage(message="Hel", item_id=ITEM, partial=True, cut=AbortReason.LOST)
    stopped = ev.AgentMessage(message="Hel", item_id=ITEM, partial=True, cut=AbortReason.INTERRUPTED)
    assert printed(lost) == ["Hel", "(cut off here when the daemon ended)"]
    assert printed(stopped) == ["Hel", "(cut off)"]


def test_the_output_of_a_lost_command_is_shown_as_cut_off() -> None:
    ended = command_ended("half", code=-1, call=CALL, item=ITEM).model_copy(update={"cut": AbortReason.LOST})
    assert printed(ended) == ["  half", "(cut off here when the daemon ended)"]


def test_a_paused_queue_says_what_waits_and_how_it_goes_on() -> None:
    (line,) = printed(ev.QueuePaused(queued=2, waiting=("run the tests", "commit")))
    assert line.startswith('2 messages wait: "run the tests", "commit" (held: `greenroom queue`')


def test_a_patch_that_does_not_apply_says_so_live_and_in_the_history(place: Place) -> None:
    shown = place.run("run", "--name", "torn", "change nowhere.txt: a => b; then say on").stderr
    told = place.said("logs", "torn")
    for text in (shown, told):
        assert sum("the patch does not apply" in line for line in text.splitlines()) == 1
    assert place.json("inspect", "torn")["state"] == "idle"


def ran(errors: str, took: ev.Duration) -> tuple[ev.WorkBegan, ev.WorkEnded]:
    ended = command_ended(errors=errors, code=-1, call=CALL, item=ITEM).model_copy(update={"duration": took})
    return command_began("sleep", "9", call=CALL, item=ITEM), ended


def test_a_command_that_was_stopped_has_no_exit_code_on_the_screen() -> None:
    stopped = ran("", ev.Duration(secs=0, nanos=700_000_000))
    assert printed(*stopped, output("time_out", "timed out"))[1:] == ["  stopped after 0.7 s", "  timed out"]


def test_why_a_command_was_not_started_is_told_once() -> None:
    not_started = ran("no such file", ev.Duration(secs=0, nanos=0))
    assert printed(*not_started, output("tool", "no such file"))[1:] == ["  no such file"]


def use(subject: ev.WorkSubject | None = None, **ending: Any) -> tuple[ev.WorkBegan, ev.WorkEnded]:
    subject, call = subject or ev.OtherSubject(), ev.AgentCall(title="Read a.py")
    began = ev.WorkBegan(call_id=CALL, item_id=ITEM, subject=subject, agent_call=call)
    ending = {"kind": subject.kind, "subject": subject, "agent_call": call, "status": "completed", **ending}
    return began, ev.WorkEnded(call_id=CALL, item_id=ITEM, **ending)


def test_a_tool_of_an_agent_is_a_line_and_its_failure_another() -> None:
    assert printed(*use(output="all of the file")) == ["⚒ Read a.py"]
    assert printed(*use(status="failed", output="no such file")) == ["⚒ Read a.py", "  failed: no such file"]


def test_a_command_of_an_agent_looks_like_ours() -> None:
    ran = use(command("bash", "-c", "make"), status="failed", output="boom\n", exit_code=2)
    assert printed(*ran) == ["$ make", "  boom", "  exit 2, 0.0 s"]


def test_a_change_of_an_agent_is_shown_as_one() -> None:
    lines = printed(*use(ev.FilesSubject(changes={"/w/a": {"add": {"content": "x\n"}}})))
    assert lines == ["  add /w/a", "    +x"]


def test_the_beginning_of_a_session_that_forgot_is_told() -> None:
    note = "claude could not take up its session (Resource not found): it began a new one"
    seeded = ev.AgentSession(agent="claude", session="s", how="seeded", program="claude 1.0", note=note)
    lines = printed(seeded, ev.BackgroundEvent(message=note))
    assert lines[0] == "claude (claude 1.0): began anew, and was told what had been said"
    assert " ".join(line.strip() for line in lines[1:]) == note
