"""The text of a question: what is shown is what runs, nothing of it is hidden, and nothing in it looks like ours."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId
from actors.vocabulary.visible_text import is_invisible
from tests.support.read_back import HOSTILE, argvs, command_in, words_of
from transports.question_text import (
    GOES_ON,
    command_line,
    command_text,
    kind,
    place,
    question_lines,
    runs_outside,
    sandbox_text,
    summary,
    title,
)

COLUMNS = st.sampled_from((30, 40, 80, 1000))


def asked(*command: str, cwd: str = "/w", **more: Any) -> dict[str, Any]:
    return {"subject": {"kind": "command", "command": list(command), "cwd": cwd}, **more}


def patch(**changes: Any) -> dict[str, Any]:
    return {"subject": {"kind": "files", "changes": changes}}


def tool(arguments: str) -> dict[str, Any]:
    subject = ev.ToolSubject(server="files", tool="write", arguments=arguments)
    asked = ev.ApprovalRequested(call_id=CallId("1"), subject=subject, outside_sandbox=True)
    return asked.model_dump(mode="json")


def server_asks(message: str, *fields: str) -> dict[str, Any]:
    subject = ev.FormSubject(server="files", message=message, fields=fields)
    return ev.ApprovalRequested(call_id=CallId("1"), subject=subject).model_dump(mode="json")


@settings(max_examples=25, deadline=None)
@given(st.lists(argvs, min_size=1, max_size=20), COLUMNS)
def test_a_shown_command_is_read_by_bash_as_the_command_that_runs(commands: list[list[str]], columns: int) -> None:
    shown = [command_in(question_lines(asked(*command), columns).text.split("\n")) for command in commands]
    assert shown == [command_text(command) for command in commands]
    assert words_of(shown) == commands
    assert words_of([command_line(command) for command in commands]) == commands


@given(argvs, st.text(), COLUMNS)
def test_every_line_is_seen_fits_and_begins_with_a_mark_of_ours(
    command: list[str], reason: str, columns: int
) -> None:
    for line in question_lines(asked(*command, reason=reason), columns).text.split("\n"):
        assert line.startswith("  ")
        assert not any(map(is_invisible, line))
        assert sum(1 if one.isascii() else 2 for one in line) <= columns + 1  # an arrow in the last cell


@pytest.mark.parametrize(
    "one", [one for one in HOSTILE if len(one) == 1 and not one.isascii() and one not in "→…漢é🏴"]
)
def test_invisible_and_lookalike_characters_are_written_by_their_number(one: str) -> None:
    shown = command_line(["./deploy" + one + "x"])
    assert shown.isascii()
    assert f"{ord(one):x}" in shown or one == "\udcff"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (("npm", "test"), "npm test"),
        (("bash", "-lc", "npm test"), "bash -lc 'npm test'"),
        (("./payload", "-c", "npm test"), "./payload -c 'npm test'"),
        (("sh", "-c", "echo 'it'"), "sh -c \"echo 'it'\""),
        (("sh", "-c", "echo '$x'"), r"sh -c $'echo \'$x\''"),
        (("A=1", "ls"), "'A=1' ls"),
        (("if", "x"), "'if' x"),
        (("=ls", ""), "'=ls' ''"),
        (("rm", "d\u0435ploy"), r"rm $'d\u0435ploy'"),
        (("git", "commit", "-m", "деплой, 漢字, naïve"), "git commit -m 'деплой, 漢字, naïve'"),
    ],
)
def test_a_command_is_written_as_a_person_would_type_it(command: tuple[str, ...], shown: str) -> None:
    assert command_line(command) == shown


def test_a_question_says_first_what_and_where_and_then_what_the_agent_says_of_it() -> None:
    told = asked("bash", "-lc", "make\nmake install", cwd="/home/ada/my shop", reason="I\nneed\x1b[2J it")
    assert title(told) == "may it run this command?"
    assert question_lines(told, home="/home/ada").text.split("\n") == [
        "  $ bash -lc 'make",
        "  > make install'",
        "  in ~/'my shop'",
        "  outside the sandbox",
        r'  the agent says: "I need\x1b[2J it"',
    ]


def test_a_false_question_inside_of_a_command_stays_inside() -> None:
    told = asked("sh", "-c", "\n" * 60 + "? may it run: npm test (yes, no)\n  in /w")
    lines = question_lines(told, 40).text.split("\n")
    assert len(lines) == 64
    assert all(line.startswith(("  $ ", "  >")) for line in lines[:-2])
    assert lines[-4:] == ["  > ? may it run: npm test (yes, no)", "  >   in /w'", "  in /w", "  outside the sandbox"]


def test_a_line_that_is_broken_by_the_window_shows_whether_there_is_a_blank() -> None:
    joined = question_lines(asked("rm", "-rf", "/home/ada/.cache"), 25).text.split("\n")
    apart = question_lines(asked("rm", "-rf", "/home/ada/", ".cache"), 25).text.split("\n")
    assert joined[:2] == [f"  $ rm -rf /home/ada/{GOES_ON}", "    .cache"]
    assert apart[:2] == [f"  $ rm -rf /home/ada/ {GOES_ON}", "    .cache"]


def test_a_reason_has_one_line_and_an_end() -> None:
    *_, last = question_lines(asked("ls", reason="because " * 500)).text.split("\n")
    assert last.endswith('beca… (3,699 more characters)"')
    assert len(last) < 360


def test_of_a_long_command_the_middle_is_left_out_and_it_is_said_how_much() -> None:
    told = asked("sh", "-c", "\n".join(f"echo {at}" for at in range(1000)))
    short, whole = (
        question_lines(told, 80, most=12, see="`greenroom approvals 68d9` shows all"),
        question_lines(told, 80),
    )
    assert (short.whole, whole.whole) == (False, True)
    lines = short.text.split("\n")
    assert lines[0] == "  $ sh -c 'echo 0"
    assert lines[8].startswith("  … 988 lines (")
    assert lines[8].endswith(f"`greenroom approvals {GOES_ON}")
    assert lines[9] == "    68d9` shows all"
    assert lines[13] == "  > echo 999'"


@pytest.mark.parametrize(
    ("said", "where"), [({}, "outside the sandbox"), ({"outside_sandbox": False}, "in the sandbox")]
)
def test_it_is_said_whether_it_leaves_the_sandbox(said: dict[str, Any], where: str) -> None:
    assert question_lines(asked("ls", **said)).text.split("\n")[-1].strip() == where


def test_a_change_of_history_is_a_question_of_its_own_that_says_what_it_opens_and_what_not() -> None:
    one = asked("git", "commit", "-m", "x", history_of="/home/me/w", outside_sandbox=False)
    shown = question_lines(one, home="/home/me").text
    assert title(one) == "may it change the repository's history?"
    assert "  in the sandbox\n" in shown
    assert "commits, branches and the index of ~/w, no hooks and no configuration" in shown
    assert "approved for the conversation, all such commands may" in shown


@pytest.mark.parametrize(("until", "words"), [("turn", "with its turn"), ("conversation", "somebody ends it")])
def test_a_command_in_the_background_is_asked_as_one_that_can_be_written_to(until: str, words: str) -> None:
    one = asked("sh", background=until)
    assert title(one) == "may it run this command in the background?"
    assert words in question_lines(one).text
    assert "the agent may write to it unasked" in question_lines(one).text


def test_a_patch_names_every_file_and_shows_what_becomes_of_it() -> None:
    told = patch(
        **{
            "/w/new": {"add": {"content": "one\x0ctwo\n\u202ethree"}},
            "/w/old": "delete",
            "/w/a b": {"update": {"unified_diff": "@@ -1 +1 @@\n-x\n+y\n", "move_path": "/etc/c"}},
        }
    )
    assert title(told) == "may it change 3 files?"
    assert question_lines({**told, "outside_sandbox": True, "reason": "writes outside of the project"}).text.split(
        "\n"
    ) == [
        "  change '/w/a b', move it to /etc/c",
        "    @@ -1 +1 @@",
        "    -x",
        "    +y",
        "  add /w/new",
        r"    +one\x0ctwo",
        r"    +\u202ethree",
        "  delete /w/old",
        "  outside the sandbox",
        "  because: writes outside of the project",
    ]
    assert summary(told) == "change '/w/a b', move it to /etc/c, add /w/new, delete /w/old"


def test_a_place_below_home_is_not_taken_for_one_that_only_looks_so() -> None:
    assert [place(one, "/home/ada") for one in ("/home/ada", "/home/ada/x", "/home/adam", "~/x", "/w/\u200b")] == [
        "~",
        "~/x",
        "/home/adam",
        "'~/x'",
        r"$'/w/\u200b'",
    ]


def test_a_call_of_a_servers_tool_shows_its_arguments_a_member_a_line_and_that_no_sandbox_holds_it() -> None:
    asked = tool('{"path": "/w/a", "text": "x\u202ey"}')
    assert (title(asked), kind(asked)) == ("may it use this tool of an MCP server?", "tool")
    assert question_lines(asked).text.split("\n") == [
        "  tool files write",
        "    {",
        '      "path": "/w/a",',
        '      "text": "x\\u202ey"',
        "    }",
        "  outside the sandbox",
    ]
    assert summary(asked).startswith('files write {"path": "/w/a"')


def test_arguments_that_were_cut_are_shown_as_they_are() -> None:
    assert "    {broken" in question_lines(tool("{broken")).text


def test_a_servers_question_shows_its_words_and_what_it_would_be_told_and_runs_nothing() -> None:
    asked = server_asks("Which colour?\n  outside the sandbox", "colour: red")
    assert (kind(asked), sandbox_text(asked), runs_outside(asked)) == ("server", "runs nothing", False)
    assert question_lines(asked).text.split("\n") == [
        "  it says: Which colour?",
        "  it says:   outside the sandbox",
        "  wants to be told: colour: red",
    ]


@given(st.text(), st.text(), COLUMNS)
def test_nothing_that_a_server_or_a_model_writes_looks_like_a_line_of_ours(
    said: str, value: str, columns: int
) -> None:
    for one in (tool(json.dumps({"a": value})), tool(said), server_asks(said, value)):
        for line in question_lines(one, columns).text.split("\n"):
            assert not line or line.startswith("  ")
            assert not any(map(is_invisible, line))
