"""Files and commands that an agent has done by us, under the conversation's policy, in the history."""

import json
from pathlib import Path

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ReadOnly, WorkspaceWrite
from tests.supervisor.agents.acp.alive import alive, odd_seconds
from tests.supervisor.agents.acp.scripted import scripted, talk_with
from tests.support.engine_harness import Talk
from tests.support.work import agent_call_of


def said(talk: Talk) -> str:
    return talk.all(ev.AgentMessage)[-1].message


def uses(talk: Talk) -> list[tuple[str, str, str]]:
    return [(agent_call_of(one).sort, one.status, one.output) for one in talk.all(ev.WorkEnded)]


# --- files ------------------------------------------------------------------------------------------------------


def test_a_file_is_read_whole_or_some_of_its_lines(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        (harness.workspace / "a").write_text("1\n2\n3\n4\n")
        talk = talk_with(harness)
        talk.ask("read a")
        assert said(talk) == "1\n2\n3\n4\n"
        talk.ask("lines 2 2 a")
        assert said(talk) == "2\n3\n"


def test_a_file_that_is_missing_no_text_or_ours_is_an_error_that_says_so(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        (harness.workspace / "data").write_bytes(b"\xff\xfe")
        talk = talk_with(harness)
        talk.ask("lines 1 9 missing")
        assert said(talk).startswith("-32002 ")
        assert said(talk).endswith("No such file or directory")
        talk.ask("lines 1 9 data")
        assert said(talk).endswith("can't be read as UTF-8")


def test_a_file_is_written_where_a_command_could_and_the_history_says_so(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, sandbox=WorkspaceWrite())
        talk.ask("write deep/new: words")
        assert said(talk) == "written"
        file = harness.workspace / "deep/new"
        assert file.read_text() == "words"
        (begun,) = talk.all(ev.WorkBegan)
        assert begun.subject == ev.FilesSubject(changes={str(file): {"add": {"content": "words"}}})
        assert uses(talk) == [("edit", "completed", "")]


def test_a_file_outside_of_the_sandbox_is_not_written(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, sandbox=ReadOnly())
        talk.ask("write new: words")
        assert "sandbox (read-only) does not let it be written" in said(talk)
        talk = talk_with(harness, sandbox=WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True))
        talk.ask(f"write {outside}: words")
        assert "does not let it be written" in said(talk)
        (harness.workspace / "link").symlink_to(tmp_path)
        talk.ask("write link/outside: words")
        assert "does not let it be written" in said(talk)
        (harness.workspace / ".git").mkdir()
        talk.ask("write .git/config: words")
        assert "does not let it be written" in said(talk)
        assert not outside.exists()
        assert {status for _, status, _ in uses(talk)} == {"failed"}


# --- commands -----------------------------------------------------------------------------------------------------


def test_a_command_runs_and_its_output_is_bounded(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("terminal echo 0123456789 0123456789 $MORE; exit 3")
        assert json.loads(said(talk)) == ["456789 0123456789 more\n"[-20:], True, 3, None, -32602]
        assert [one.exit_code for one in talk.all(ev.WorkEnded)] == [3]


def test_a_command_is_in_the_sandbox_of_the_conversation(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness, sandbox=ReadOnly())
        talk.ask("terminal touch made; echo $?")
        assert not (harness.workspace / "made").exists()


def test_a_terminal_that_a_tool_call_shows_is_that_call_s_output(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("shown echo words; exit 4")
        assert uses(talk) == [("execute", "completed", "words\n")]
        assert [one.exit_code for one in talk.all(ev.WorkEnded)] == [4]


def test_a_killed_command_is_gone_with_all_that_it_began(tmp_path: Path) -> None:
    seconds = odd_seconds()
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask(f"terminal-kill (trap '' TERM; sleep {seconds}) & echo begun; sleep {seconds}")
        output, _, code, signal, _ = json.loads(said(talk))
        assert (output, code) == ("begun\n", None)
        assert signal is not None
        assert not alive(seconds)


def test_a_command_that_is_left_ends_with_its_turn(tmp_path: Path) -> None:
    seconds = odd_seconds()
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask(f"terminal-leave echo begun; setsid sleep {seconds}")
        assert not alive(seconds)
        assert [status for _, status, _ in uses(talk)] == ["cancelled"]


def test_a_command_whose_directory_is_gone_says_so_and_has_an_end(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("terminal-in nowhere echo words")
        output, _, code, signal, _ = json.loads(said(talk))
        assert (code, signal) == (None, None)
        assert "nowhere' does not exist" in output
        assert [status for _, status, _ in uses(talk)] == ["failed"]


def test_all_served_client_methods_are_offered(tmp_path: Path) -> None:
    with scripted(tmp_path) as harness:
        talk = talk_with(harness)
        talk.ask("offered")
        offered = json.loads(said(talk))
        assert offered == {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
