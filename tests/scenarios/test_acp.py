"""Editors that speak ACP, at the socket of a real daemon: what they do in a day's work."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scenarios.stage import CONFIG, WIRE, Stage
from tests.supervisor.agents.acp.scripted import agent_table
from tests.support.acp_client import AcpClient, AcpSocket
from tests.support.bridge import wait_until
from tests.support.home import Home
from tests.support.line_client import Json
from transports.dialects.acp.event_translator import LOST_TEXT

ASK: Json = {"approval_policy": "untrusted", "sandbox": "workspace-write"}
FREE: Json = {"approval_policy": "never", "sandbox": "danger-full-access"}
SCREENS: Json = {"_meta": {"terminal_output": True}}
Connect = Callable[..., AcpClient]


def hello(stage: Stage, **defaults: Any) -> Json:
    return {"client": {"name": "bridge", "cwd": "/", "env": dict(stage.home.env)}, "defaults": defaults}


@pytest.fixture
def connect(stage: Stage) -> Connect:
    if not Path(stage.home.paths.pid_file).exists():
        stage.home.launch()

    def connected(can: Json | None = None, name: str = "tester", **defaults: Any) -> AcpClient:
        return AcpClient(AcpSocket(stage.home.socket, hello(stage, **defaults)), can, name=name)

    return connected


def test_a_prompt_is_answered_by_the_model(connect: Connect, work: Path) -> None:
    with connect() as editor:
        assert editor.introduced["agentInfo"]["name"] == "greenroom"
        session = editor.new(work)
        assert editor.turn(session, "words hello from the model") == "hello from the model"
        (row,) = editor.result("session/list", cwd=str(work))["sessions"]
        assert (row["sessionId"], row["title"]) == (session, "words hello from the model")


def test_a_command_is_asked_for_run_and_shown(connect: Connect, work: Path) -> None:
    with connect(SCREENS, **ASK) as editor:
        session = editor.new(work)
        request = editor.prompt(session, 'call shell ["sh","-c","echo out; touch made"]; then; say done')
        question = editor.asked()
        assert not (work / "made").exists()
        editor.choose(question["id"], "approved")
        assert editor.answer(request)["result"] == {"stopReason": "end_turn"}
        call = question["params"]["toolCall"]["toolCallId"]
        told = [one for one in editor.updates() if one.get("toolCallId") == call]
        assert [one.get("status") for one in told if "status" in one] == ["pending", "in_progress", "completed"]
        shown = [one["_meta"]["terminal_output"]["data"] for one in told if "terminal_output" in one.get("_meta", {})]
        assert "".join(shown) == "out\n"
        assert (work / "made").exists()


def test_a_cancelled_command_is_gone_when_its_prompt_is_answered(connect: Connect, work: Path) -> None:
    with connect(**FREE) as editor:
        session = editor.new(work)
        request = editor.prompt(session, 'call shell ["sh","-c","echo $$ > pid; exec sleep 300"]')
        editor.update("tool_call", status="in_progress")
        pid = _written(work / "pid")
        editor.notify("session/cancel", sessionId=session)
        assert editor.answer(request)["result"] == {"stopReason": "cancelled"}
        assert not Path(f"/proc/{pid}").exists()
        mark = editor.mark()
        assert editor.turn(session, "say and on") == "and on"
        assert editor.updates("tool_call", after=mark) == []


def _written(path: Path) -> int:
    wait_until(lambda: path.exists() and path.read_text().endswith("\n"), f"{path} was not written")
    return int(path.read_text())


def test_two_editors_see_the_same_and_the_first_answer_wins(connect: Connect, work: Path) -> None:
    with connect(name="one", **ASK) as one, connect(name="other", **ASK) as other:
        session = one.new(work)
        other.result("session/load", sessionId=session, cwd=str(work), mcpServers=[])
        request = one.prompt(session, 'call shell ["touch","approved"]; then; say thanks')
        mine, theirs = one.asked(), other.asked()
        other.choose(theirs["id"], "approved")
        one.withdrawn(mine["id"])
        assert one.answer(request)["result"] == {"stopReason": "end_turn"}
        other.update("agent_message_chunk")
        assert one.text() == other.text() == "thanks"
        assert other.text("user_message").startswith("call shell")


def test_a_session_is_loaded_by_an_editor_that_was_not_there(connect: Connect, work: Path) -> None:
    with connect() as writer:
        session = writer.new(work)
        for text in ("say one", "reason deep thought; say two"):
            writer.turn(session, text)
    with connect(name="reader") as reader:
        reader.result("session/load", sessionId=session, cwd=str(work), mcpServers=[])
        kinds = [one["sessionUpdate"] for one in reader.updates() if one["sessionUpdate"].endswith("_chunk")]
        assert reader.text("user_message") == "say onereason deep thought; say two"
        assert reader.text() == "onetwo"
        assert kinds[0] == "user_message_chunk"
        assert reader.turn(session, "say three") == "three"


def test_settings_are_chosen_within_the_ceiling(connect: Connect, work: Path) -> None:
    with connect(name="one", **ASK) as one, connect(name="other", **ASK) as other:
        session = one.new(work)
        other.result("session/resume", sessionId=session, cwd=str(work))
        one.result("session/set_mode", sessionId=session, modeId="read-only")
        assert other.update("current_mode_update")["currentModeId"] == "read-only"
        error = one.error(
            "session/set_config_option", sessionId=session, configId="sandbox", value="danger-full-access"
        )
        assert error["code"] == -32602
        told = one.result("session/set_config_option", sessionId=session, configId="model", value="another")
        assert "another" in {each["currentValue"] for each in told["configOptions"]}


def test_more_directories_are_opened_as_far_as_the_person_allows(
    own_stage: Stage, work: Path, tmp_path: Path
) -> None:
    more, other, closed = (tmp_path / name for name in ("more", "other", "closed"))
    for one in (more, other, closed):
        one.mkdir()
    config = own_stage.home.directory / "config.toml"
    config.write_text(f'{config.read_text()}\n[sandbox_workspace_write]\nwritable_roots = ["{more}", "{other}"]\n')
    own_stage.home.launch()
    with AcpClient(AcpSocket(own_stage.home.socket, hello(own_stage, **ASK))) as editor:
        session = editor.new(work, additionalDirectories=[str(more / "."), str(closed), str(tmp_path / "absent")])
        warned = editor.text()
        assert f"{closed} can be read, and not written: " in warned
        assert f"{tmp_path}/absent can be read, and not written: " in warned
        assert str(more) not in warned
        given = {"sessionId": session, "cwd": str(work), "mcpServers": [], "additionalDirectories": [str(closed)]}
        mark = editor.mark()
        editor.result("session/load", **given)
        assert f"{closed} can be read, and not written: " in editor.text(after=mark)
        assert editor.error("session/new", cwd=str(work), additionalDirectories=["relative"])["code"] == -32602


def test_a_directory_that_is_opened_is_written_in(own_stage: Stage, work: Path, tmp_path: Path) -> None:
    more, later = tmp_path / "more", tmp_path / "later"
    more.mkdir()
    later.mkdir()
    config = own_stage.home.directory / "config.toml"
    without_tmp = "[sandbox_workspace_write]\nexclude_slash_tmp = true\nexclude_tmpdir_env_var = true\n"
    config.write_text(f'{config.read_text()}\nmax_sandbox = "danger-full-access"\n{without_tmp}')
    own_stage.home.launch()
    confined = {"approval_policy": "never", "sandbox": "workspace-write"}
    with AcpClient(AcpSocket(own_stage.home.socket, hello(own_stage, **confined))) as editor:
        session = editor.new(work, additionalDirectories=[str(more)])
        assert editor.text() == ""
        editor.turn(session, f'call shell ["touch","{more}/made"]; then; say done')
        assert (more / "made").exists()
        editor.turn(session, f'call shell ["touch","{later}/early"]; then; say done')
        assert not (later / "early").exists()
        given = {"sessionId": session, "cwd": str(work), "additionalDirectories": [str(later)]}
        editor.result("session/resume", **given)
        editor.turn(session, f'call shell ["touch","{later}/made","{more}/too"]; then; say done')
        assert (later / "made").exists()
        assert (more / "too").exists()


def test_a_session_is_forked_and_deleted(connect: Connect, work: Path) -> None:
    with connect() as editor, connect(name="other") as other:
        session = editor.new(work)
        editor.turn(session, "say first")
        fork = editor.result("session/fork", sessionId=session, cwd=str(work), mcpServers=[])["sessionId"]
        assert fork != session
        assert editor.turn(fork, "say in the fork") == "in the fork"
        other.result("session/resume", sessionId=session, cwd=str(work))
        editor.result("session/delete", sessionId=session)
        other.update("agent_message_chunk")
        assert "can't be read any more" in other.text()
        assert editor.error("session/load", sessionId=session, cwd=str(work), mcpServers=[])["code"] == -32002
        assert (
            other.error("session/prompt", sessionId=session, prompt=[{"type": "text", "text": "x"}])["code"] == -32002
        )


def test_a_turn_that_fails_is_an_error_and_the_next_one_works(connect: Connect, work: Path) -> None:
    with connect() as editor:
        session = editor.new(work)
        answer = editor.answer(editor.prompt(session, "status 400 no such thing"))
        assert answer["error"]["code"] == -32603
        assert editor.turn(session, "say better") == "better"


def test_a_missing_key_asks_for_a_login(tmp_path: Path, work: Path) -> None:
    config = CONFIG.format(base_url="http://127.0.0.1:9", wire=WIRE).replace(
        "request_max_retries", 'env_key = "NO_SUCH_KEY"\nrequest_max_retries'
    )
    home = Home(tmp_path / "home", config, env={"HOME": str(tmp_path)})
    with home.daemon(), AcpClient(AcpSocket(home.socket, {"client": {"name": "bridge"}})) as editor:
        error = editor.error("session/new", cwd=str(work), mcpServers=[])
        assert (error["code"], "NO_SUCH_KEY" in error["message"]) == (-32000, True)


def test_a_prompt_that_waited_over_a_kill_is_answered_by_the_next_daemon(own_stage: Stage, work: Path) -> None:
    """Do what a bridge does: attach where the client stood, and say the prompt again with its key."""
    own_stage.home.launch()
    with AcpClient(AcpSocket(own_stage.home.socket, hello(own_stage, **ASK))) as first:
        session = first.new(work)
        first.prompt(session, 'call shell ["touch","approved"]; then; say thanks', key="b/1")
        first.asked()
        place = first.place()
        own_stage.kill_daemon()
    own_stage.home.launch()
    with AcpClient(AcpSocket(own_stage.home.socket, hello(own_stage, **ASK))) as second:
        attach = second.begin("_greenroom/attach", sessionId=session, after=place, shown={}, mcpServers=[])
        request = second.prompt(session, 'call shell ["touch","approved"]; then; say thanks', key="b/1")
        assert second.answer(attach)["result"] == {}
        second.choose(second.asked()["id"], "approved")
        assert second.answer(request)["result"] == {"stopReason": "end_turn"}
        assert second.text() == "thanks"
        assert (work / "approved").exists()


def test_a_prompt_whose_turn_was_lost_is_cancelled_behind_a_message(own_stage: Stage, work: Path) -> None:
    own_stage.home.launch()
    with AcpClient(AcpSocket(own_stage.home.socket, hello(own_stage, **FREE))) as first:
        session = first.new(work)
        first.prompt(session, 'call shell ["sleep","300"]', key="b/1")
        first.update("tool_call", status="in_progress")
        place = first.place()
        own_stage.kill_daemon()
    own_stage.home.launch()
    with AcpClient(AcpSocket(own_stage.home.socket, hello(own_stage, **FREE))) as second:
        second.begin("_greenroom/attach", sessionId=session, after=place, shown={}, mcpServers=[])
        request = second.prompt(session, 'call shell ["sleep","300"]', key="b/1")
        assert second.answer(request)["result"] == {"stopReason": "cancelled"}
        assert LOST_TEXT in second.text()
        assert [one["status"] for one in second.updates("tool_call_update")] == ["failed"]
        assert "method" not in second.lines[-1]
        assert len(own_stage.asked("sleep")) == 1


# --- third-party agents ---------------------------------------------------------------------------------------------


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[Home]:
    """A home whose conversations are carried out by another program that speaks ACP."""
    config = 'agent = "scripted"\n' + agent_table("options=ask", "steering")
    config += '[greenroom.mcp]\nmax_sandbox = "danger-full-access"\n'
    home = Home(tmp_path / "home", config, env={"HOME": str(tmp_path)})
    with home.daemon():
        yield home


def editor_of(home: Home, can: Json | None = None) -> AcpClient:
    client = {"name": "bridge", "env": dict(home.env)}
    return AcpClient(AcpSocket(home.socket, {"client": client, "defaults": {"approval_policy": "on-request"}}), can)


def test_an_agent_of_others_is_behind_a_session_like_our_own(scripted: Home, work: Path) -> None:
    with editor_of(scripted) as editor:
        session = editor.new(work)
        assert (
            editor.turn(session, "think deep; then say hello; then plan A, B; then title Greetings") == "thoughthello"
        )
        assert editor.text("agent_thought")
        assert [one["content"] for one in editor.updates("plan")[-1]["entries"]] == ["A", "B"]
        assert editor.updates("session_info_update")[-1]["title"] == "Greetings"
        assert editor.turn(session, "commands review, fix; then say done") == "done"
        assert [one["name"] for one in editor.update("available_commands_update")["availableCommands"]]
        options = {one["id"]: one for one in editor.updates("config_option_update")[-1]["configOptions"]}
        assert options["agent"]["currentValue"] == "scripted"
        assert [one["value"] for one in options["model"]["options"]] == ["small", "large"]


def test_its_efforts_are_offered_in_its_own_words_and_set(scripted: Home, work: Path) -> None:
    with editor_of(scripted) as editor:
        session = editor.new(work)
        editor.turn(session, "say hello")
        given = {"sessionId": session, "configId": "thought_level", "value": "ultra"}
        told = editor.result("session/set_config_option", **given)["configOptions"]
        (level,) = [one for one in told if one["id"] == "thought_level"]
        assert [one["value"] for one in level["options"]] == ["medium", "high", "ultra"]
        assert level["currentValue"] == "ultra"
        editor.turn(session, "say again")
        assert level in editor.updates("config_option_update")[-1]["configOptions"]
        assert "could not" not in editor.text()


def test_its_questions_have_its_own_options_and_its_files_are_shown(scripted: Home, work: Path) -> None:
    with editor_of(scripted, SCREENS) as editor:
        session = editor.new(work)
        request = editor.prompt(session, f"ask touch {work}/made; then edit {work}/a.txt: hello")
        question = editor.asked()
        kinds = [one["kind"] for one in question["params"]["options"]]
        chosen = question["params"]["options"][kinds.index("allow_once")]["optionId"]
        editor.choose(question["id"], chosen)
        assert editor.answer(request)["result"] == {"stopReason": "end_turn"}
        assert (work / "made").exists()
        diffs = [part for one in editor.updates() for part in one.get("content") or () if "newText" in part]
        assert diffs[-1]["path"] == f"{work}/a.txt"
        assert "hello" in diffs[-1]["newText"]
        assert {one["status"] for one in editor.updates("tool_call_update") if "status" in one} <= {
            *("in_progress", "completed"),
        }


def test_its_turn_is_cancelled_and_steered(scripted: Home, work: Path) -> None:
    with editor_of(scripted) as editor:
        session = editor.new(work)
        request = editor.prompt(session, "say begun; then slow 300")
        editor.update("agent_message_chunk")
        words = [{"type": "text", "text": "hurry"}]
        assert editor.result("_session/steering", sessionId=session, prompt=words) == {"outcome": "injected"}
        editor.notify("session/cancel", sessionId=session)
        assert editor.answer(request)["result"] == {"stopReason": "cancelled"}
