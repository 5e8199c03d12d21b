"""Work and questions of third-party agents for clients that know commands and patches alone, and as a question."""

from typing import Any, Literal

import pytest
from msgspec import to_builtins

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from tests.support.work import command_began, command_ended
from transports import question_text
from transports.dialects.codex.events import MEMBERS, seed_message
from transports.dialects.codex.questions import CodexCommand, CodexPatch, codex_question

CALL, ITEM = CallId("c"), ItemId("i")
CHANGES: dict[str, Any] = {"/w/a": {"add": {"content": "x\n"}}}
Kind = Literal["command", "files", "other"]
SUBJECTS: dict[Kind, ev.CommandSubject | ev.FilesSubject | ev.OtherSubject] = {
    "command": ev.CommandSubject(command=("ls",)),
    "files": ev.FilesSubject(changes=CHANGES),
    "other": ev.OtherSubject(),
}
READ = ev.AgentCall(title="Read a", sort="read")


def seen(event: ev.BaseEvent) -> Any:
    return to_builtins(seed_message(event.model_dump(mode="json")))


def begin(kind: Kind) -> ev.WorkBegan:
    return ev.WorkBegan(call_id=CALL, item_id=ITEM, subject=SUBJECTS[kind], agent_call=READ)


def wrote(kind: Kind, text: bytes) -> ev.WorkOutput:
    return ev.WorkOutput(call_id=CALL, item_id=ITEM, kind=kind, chunk=text)


def end(kind: Kind, status: Any = "completed", **members: Any) -> ev.WorkEnded:
    known: Any = {"subject": SUBJECTS[kind], "agent_call": READ, **members}
    return ev.WorkEnded(call_id=CALL, item_id=ITEM, kind=kind, status=status, **known)


def ask(kind: Kind, agent_call: ev.AgentCall = READ, **members: Any) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        call_id=CALL,
        item_id=ITEM,
        approval_id=ApprovalId("q"),
        agent="claude",
        subject=SUBJECTS[kind],
        agent_call=agent_call,
        **members,
    )


def test_a_command_reads_as_a_command_from_beginning_to_end() -> None:
    begun, told, over = seen(begin("command")), seen(wrote("command", b"hi")), seen(end("command", output="hi"))
    assert (begun["type"], begun["command"], begun["cwd"]) == ("exec_command_begin", ["ls"], "/")
    assert (told["type"], told["chunk"]) == ("exec_command_output_delta", [104, 105])
    assert (over["type"], over["stdout"], over["exit_code"]) == ("exec_command_end", "hi", 0)


def test_a_command_whose_words_are_not_known_has_its_agents_title() -> None:
    nameless = begin("command").model_copy(update={"subject": ev.CommandSubject()})
    assert seen(nameless)["command"] == ["Read a"]
    assert seen(nameless)["parsed_cmd"] == [{"Unknown": {"cmd": "'Read a'"}}]


@pytest.mark.parametrize(
    ("hint", "told"),
    [
        ({"purpose": "reads", "name": "a"}, {"Read": {"cmd": "x", "name": "a"}}),
        ({"purpose": "lists", "path": "src"}, {"ListFiles": {"cmd": "x", "path": "src"}}),
        ({"purpose": "searches", "query": "q"}, {"Search": {"cmd": "x", "query": "q", "path": None}}),
        ({"purpose": "formats", "tool": "ruff"}, {"Format": {"cmd": "x", "tool": "ruff", "targets": None}}),
        ({"purpose": "tests"}, {"Test": {"cmd": "x"}}),
        ({"purpose": "lints"}, {"Lint": {"cmd": "x"}}),
        ({"purpose": "nothing"}, {"Noop": {"cmd": "x"}}),
        ({}, {"Unknown": {"cmd": "x"}}),
    ],
)
def test_a_hint_has_the_name_that_codex_gave_it(hint: Any, told: Any) -> None:
    subject = ev.CommandSubject(command=("x",), hints=(ev.CommandHint(cmd="x", **hint),))
    assert seen(ev.WorkBegan(call_id=CALL, subject=subject))["parsed_cmd"] == [told]


def test_work_of_our_own_agent_has_the_members_of_codex() -> None:
    tool = ev.ToolSubject(server="files", tool="find", arguments={"a": 1})
    invocation = {"server": "files", "tool": "find", "arguments": {"a": 1}}
    no_time = {"secs": 0, "nanos": 0}
    both: Any = {"call_id": CALL, "kind": "tool", "subject": tool}
    events = (
        command_began("ls", call="c", cwd="/w"),
        command_ended("a", "b", code=3, call="c"),
        ev.WorkBegan(call_id=CALL, subject=SUBJECTS["files"], auto_approved=True),
        ev.WorkEnded(call_id=CALL, kind="files", status="failed", output="a", errors="b"),
        ev.WorkBegan(call_id=CALL, subject=tool),
        ev.WorkEnded(**both, status="completed", result={"content": []}),
        ev.WorkEnded(**both, status="failed", errors="gone"),
    )
    assert [list(seen(event).items()) for event in events] == [
        list({"type": kind, "call_id": "c", **members}.items())
        for kind, members in (
            ("exec_command_begin", {"command": ["ls"], "cwd": "/w", "parsed_cmd": []}),
            ("exec_command_end", {"stdout": "a", "stderr": "b", "exit_code": 3, "duration": no_time}),
            ("patch_apply_begin", {"auto_approved": True, "changes": CHANGES}),
            ("patch_apply_end", {"stdout": "a", "stderr": "b", "success": False}),
            ("mcp_tool_call_begin", {"invocation": invocation}),
            (
                "mcp_tool_call_end",
                {"invocation": invocation, "duration": no_time, "result": {"Ok": {"content": []}}},
            ),
            ("mcp_tool_call_end", {"invocation": invocation, "duration": no_time, "result": {"Err": "gone"}}),
        )
    ]


@pytest.mark.parametrize(
    ("status", "code", "told"),
    [("failed", 3, 3), ("failed", None, 1), ("cancelled", None, -1), ("completed", None, 0)],
)
def test_a_command_has_an_exit_status_also_where_the_agent_gives_none(
    status: str, code: int | None, told: int
) -> None:
    assert seen(end("command", status, exit_code=code))["exit_code"] == told


def test_a_change_reads_as_a_patch() -> None:
    assert seen(begin("files"))["changes"] == CHANGES
    assert seen(end("files", "failed", output="disk full"))["stderr"] == "disk full"
    assert seen(end("files", "cancelled"))["stderr"] == "cancelled"
    assert seen(end("files"))["success"] is True


def test_any_other_tool_is_a_line_when_it_begins_and_when_it_fails() -> None:
    told = [seen(event) for event in (begin("other"), wrote("other", b"found"), end("other"))]
    failed = seen(end("other", "failed", output="no such file\nat all"))
    assert told == [{"type": "background_event", "message": "uses a tool: Read a"}, None, None]
    assert failed["message"] == "Read a failed: no such file"


@pytest.mark.parametrize(
    ("subject", "line"),
    [
        (ev.PictureSubject(path="/w/a.png"), "looks at the picture /w/a.png"),
        (ev.SearchSubject(query="rust"), "searched the web: rust"),
    ],
)
def test_pictures_and_searches_are_lines(subject: Any, line: str) -> None:
    event = ev.WorkEnded(call_id=CALL, kind=subject.kind, subject=subject, status="completed")
    assert seen(event) == {"type": "background_event", "message": line}


@pytest.mark.parametrize("kind", SUBJECTS)
def test_such_clients_get_no_member_that_they_miss(kind: Kind) -> None:
    for event in (begin(kind), wrote(kind, b"x"), end(kind), ask(kind)):
        msg = seen(event)
        if msg is not None:
            assert all(msg[name] is not None for name in {*msg, *MEMBERS.get(msg["type"], ())})


def test_a_question_is_one_about_a_command_or_a_patch() -> None:
    command, patch, other = (codex_question(ask(kind).model_dump(mode="json")) for kind in SUBJECTS)
    assert isinstance(command, CodexCommand)
    assert isinstance(patch, CodexPatch)
    assert isinstance(other, CodexCommand)
    assert (command.command, other.command) == (["ls"], ["use-tool", "read", "Read a", ""])
    assert patch.changes == CHANGES
    told = [seen(ask(kind)) for kind in SUBJECTS]
    assert [each["type"] for each in told] == [
        *("exec_approval_request", "apply_patch_approval_request", "exec_approval_request"),
    ]


@pytest.mark.parametrize(
    ("kind", "title", "called", "line"),
    [
        ("command", "may it run this command?", "command", "ls"),
        ("files", "may it change 1 file?", "patch", "add /w/a"),
        ("other", "claude asks, may it use this tool?", "tool", "read: Read a"),
    ],
)
def test_a_person_is_asked_in_plain_words(kind: Kind, title: str, called: str, line: str) -> None:
    options = (
        ev.ApprovalOption(id="y", name="Yes", kind="allow_once"),
        ev.ApprovalOption(id="n", name="No", kind="reject_once"),
    )
    call = READ.model_copy(update={"arguments": '{"path": "/w/a"}'})
    asked = ask(kind, call, options=options).model_dump(mode="json")
    assert question_text.title(asked) == title
    assert (question_text.kind(asked), question_text.summary(asked)) == (called, line)
    text = question_text.question_lines(asked).text
    assert "  it offers y: Yes (allow once)\n  it offers n: No (reject once)" in text
    assert "inside the agent's sandbox" in text
    assert '"path": "/w/a"' in text, "nobody has looked what of it the rest shows, so all of it is shown"


def test_a_command_whose_words_are_not_known_is_asked_as_a_tool() -> None:
    asked = ask("command").model_copy(update={"subject": ev.CommandSubject()}).model_dump(mode="json")
    assert question_text.title(asked) == "claude asks, may it use this tool?"
    assert question_text.kind(asked) == "tool"
    question = codex_question(asked)
    assert isinstance(question, CodexCommand)
    assert question.command[:3] == ["use-tool", "read", "Read a"]


@pytest.mark.parametrize("kinds", [("allow_once",), ("allow_once", "allow_always"), ()])
@pytest.mark.parametrize("fingerprint", ["", "f"])
def test_a_yes_holds_for_later_where_we_know_the_same_again_whatever_the_agent_offers(
    kinds: tuple[Any, ...], fingerprint: str
) -> None:
    options = tuple(ev.ApprovalOption(id=kind, name=kind, kind=kind) for kind in kinds)
    asked = ask("other", options=options, fingerprint=fingerprint).model_dump(mode="json")
    assert question_text.only_once(asked) is not bool(fingerprint)
