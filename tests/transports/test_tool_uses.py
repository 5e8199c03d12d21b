"""Tools of third-party agents, for clients that know commands and patches alone, and as a question."""

from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from transports import question_text
from transports.codex_events import MEMBERS, seed_message
from transports.codex_questions import as_codex_question
from transports.tool_uses import USES

CALL, ITEM = CallId("c"), ItemId("i")
CHANGES: dict[str, Any] = {"/w/a": {"add": {"content": "x\n"}}}


def seen(event: ev.BaseEvent) -> Any:
    return seed_message(event.model_dump(mode="json"))


def begin(reads_as: ev.ReadsAs, **members: Any) -> ev.ToolUseBegin:
    return ev.ToolUseBegin(call_id=CALL, item_id=ITEM, reads_as=reads_as, **members)


def end(reads_as: ev.ReadsAs, status: Any = "completed", **members: Any) -> ev.ToolUseEnd:
    return ev.ToolUseEnd(call_id=CALL, item_id=ITEM, reads_as=reads_as, status=status, **members)


def ask(**members: Any) -> ev.ToolUseApprovalRequest:
    return ev.ToolUseApprovalRequest(
        call_id=CALL,
        item_id=ITEM,
        approval_id=ApprovalId("q"),
        agent="claude",
        title="Read a",
        kind="read",
        **members,
    )


def test_a_command_reads_as_a_command_from_beginning_to_end() -> None:
    delta = ev.ToolUseDelta(call_id=CALL, item_id=ITEM, delta="hi", reads_as="command")
    begun, wrote, over = seen(begin("command", command=("ls",))), seen(delta), seen(end("command", output="hi"))
    assert (begun["type"], begun["command"], begun["cwd"]) == ("exec_command_begin", ["ls"], "/")
    assert (wrote["type"], wrote["chunk"]) == ("exec_command_output_delta", [104, 105])
    assert (over["type"], over["stdout"], over["exit_code"]) == ("exec_command_end", "hi", 0)


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [("failed", 3, 3), ("failed", None, 1), ("cancelled", None, -1), ("completed", None, 0)],
)
def test_a_command_has_an_exit_status_also_where_the_agent_gives_none(
    status: str, code: int | None, told: int
) -> None:
    assert seen(end("command", status, exit_code=code))["exit_code"] == told


def test_a_change_reads_as_a_patch() -> None:
    assert seen(begin("patch", changes=CHANGES))["changes"] == CHANGES
    assert seen(end("patch", "failed", output="disk full"))["stderr"] == "disk full"
    assert seen(end("patch"))["success"] is True


def test_any_other_tool_is_a_line_when_it_begins_and_when_it_fails() -> None:
    delta = ev.ToolUseDelta(call_id=CALL, item_id=ITEM, delta="found", reads_as="other")
    told = [seen(one) for one in (begin("other", title="Read a"), delta, end("other", title="Read a"))]
    failed = seen(end("other", "failed", title="Read a", output="no such file\nat all"))
    assert told == [{"type": "background_event", "message": "uses a tool: Read a"}, None, None]
    assert failed["message"] == "Read a failed: no such file"


@pytest.mark.parametrize("reads_as", ["command", "patch", "other"])
def test_such_clients_get_no_member_that_they_miss(reads_as: Any) -> None:
    delta = ev.ToolUseDelta(call_id=CALL, item_id=ITEM, delta="x", reads_as=reads_as)
    for event in (begin(reads_as), delta, end(reads_as), ask(), ask(changes=CHANGES)):
        assert event.type in USES
        msg = seen(event)
        if msg is not None:
            assert all(msg[name] is not None for name in MEMBERS.get(msg["type"], ()))


def test_a_question_is_one_about_a_command_or_a_patch() -> None:
    command, patch, other = (
        as_codex_question(ask(**one)) for one in ({"command": ("ls",)}, {"changes": CHANGES}, {})
    )
    assert isinstance(command, ev.ExecApprovalRequest)
    assert isinstance(patch, ev.ApplyPatchApprovalRequest)
    assert isinstance(other, ev.ExecApprovalRequest)
    assert (command.command, other.command) == (("ls",), ("use-tool", "read", "Read a", ""))
    assert {one.approval_id for one in (command, patch, other)} == {"q"}


@pytest.mark.parametrize(
    ("members", "title", "kind", "line"),
    [
        ({"command": ("ls", "-a")}, "may it run this command?", "command", "ls -a"),
        ({"changes": CHANGES}, "may it change 1 file?", "patch", "add /w/a"),
        ({}, "claude asks, may it use this tool?", "tool", "read: Read a"),
    ],
)
def test_a_person_is_asked_in_plain_words(members: Any, title: str, kind: str, line: str) -> None:
    options = (
        ev.ApprovalOption(id="y", name="Yes", kind="allow_once"),
        ev.ApprovalOption(id="n", name="No", kind="reject_once"),
    )
    asked = ask(options=options, arguments='{"path": "/w/a"}', **members).model_dump(mode="json")
    assert (question_text.title(asked), question_text.kind(asked), question_text.summary(asked)) == (
        title,
        kind,
        line,
    )
    text = question_text.question_lines(asked).text
    assert "  it offers y: Yes (allow once)\n  it offers n: No (reject once)" in text
    assert "inside the agent's sandbox" in text
    assert '"path": "/w/a"' in text, "nobody has looked what of it the rest shows, so all of it is shown"


@pytest.mark.parametrize("kinds", [("allow_once",), ("allow_once", "allow_always"), ()])
@pytest.mark.parametrize("fingerprint", ["", "f"])
def test_a_yes_holds_for_later_where_we_know_the_same_again_whatever_the_agent_offers(
    kinds: tuple[Any, ...], fingerprint: str
) -> None:
    options = tuple(ev.ApprovalOption(id=kind, name=kind, kind=kind) for kind in kinds)
    asked = ask(options=options, fingerprint=fingerprint).model_dump(mode="json")
    assert question_text.only_once(asked) is not bool(fingerprint)
