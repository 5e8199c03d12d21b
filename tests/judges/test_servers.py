"""MCP servers of other projects, from npm and PyPI, whose tools a model calls in conversations of ours."""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, Decision, ReadOnly
from tests.judges.installed import MODULES, NODE, PYTHON, needs
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer

FILES, EVERYTHING = (MODULES / ".bin" / f"mcp-server-{name}" for name in ("filesystem", "everything"))
GIT, TIME = (PYTHON.with_name(f"mcp-server-{name}") for name in ("git", "time"))


def table(name: str, command: Path, *args: object, **more: object) -> str:
    lines = {"command": str(command), "args": [str(one) for one in args], "startup_timeout_sec": 30, **more}
    return f"\n[mcp_servers.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as model:
        yield model


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.fixture
def harness(tmp_path: Path, folder: Path, model: ModelServer) -> Iterator[EngineHarness]:
    servers = {
        FILES: table("files", NODE, FILES, folder),
        EVERYTHING: table("everything", NODE, EVERYTHING, tool_timeout_sec=20),
        GIT: table("git", GIT),
        TIME: table("time", TIME, "--local-timezone", "UTC"),
    }
    there = "".join(told for program, told in servers.items() if program.exists())
    with harness_at(tmp_path, model.base_url, tables=there) as harness:
        yield harness


def outputs(one: Talk) -> list[str]:
    return [output.output for output in one.all(ev.ToolOutput)]


def called(one: Talk, tool: str, **arguments: object) -> str:
    one.ask(f"call {tool} {json.dumps(arguments)}; then; say done")
    last = one.all(ev.ToolOutput)[-1]
    assert last.failed is None, last
    return last.output


@needs(NODE, FILES)
def test_the_filesystem_server_writes_reads_and_refuses_what_is_outside(harness: EngineHarness, folder: Path) -> None:
    one = harness.talk()
    called(one, "files__write_file", path=str(folder / "a.txt"), content="written by a tool\n")
    assert (folder / "a.txt").read_text(encoding="utf-8") == "written by a tool\n"
    assert "written by a tool" in called(one, "files__read_text_file", path=str(folder / "a.txt"))
    one.ask('call files__read_text_file {"path": "/etc/passwd"}; then; say done')
    refused = one.all(ev.ToolOutput)[-1]
    assert refused.failed is not None
    assert "Access denied" in refused.failed.message


@needs(NODE, FILES)
def test_a_read_only_hint_is_believed_where_a_person_says_so(
    tmp_path: Path, folder: Path, model: ModelServer
) -> None:
    tables = table("files", NODE, FILES, folder, default_tools_approval_mode="writes")
    with harness_at(tmp_path, model.base_url, tables=tables) as harness:
        one = harness.talk(approval_policy=ApprovalPolicy.ON_REQUEST, sandbox=ReadOnly())
        called(one, "files__list_directory", path=str(folder))
        assert one.all(ev.ApprovalRequested) == []
        path = json.dumps({"path": str(folder / "b"), "content": "x"})
        begun = one.start(f"call files__write_file {path}; then; say done")
        one.decide(one.wait(ev.ApprovalRequested).approval_id, Decision.DENIED)
        assert one.result(begun).ending is Ending.COMPLETED
        assert not (folder / "b").exists()


@needs(NODE, EVERYTHING)
def test_the_everything_server_answers_in_text_pictures_structure_and_links(harness: EngineHarness) -> None:
    one = harness.talk()
    assert "hello" in called(one, "everything__echo", message="hello")
    assert "5" in called(one, "everything__get-sum", a=2, b=3)
    called(one, "everything__get-tiny-image")
    assert one.all(ev.ToolOutput)[-1].pictures[0].image_url.startswith("data:image/png;base64,")
    assert "temperature" in called(one, "everything__get-structured-content", location="Chicago")
    assert "a resource: " in called(one, "everything__get-resource-links", count=2)


@needs(NODE, EVERYTHING)
def test_its_progress_is_shown_and_an_interrupt_ends_it_at_once(harness: EngineHarness) -> None:
    one = harness.talk()
    called(one, "everything__trigger-long-running-operation", duration=1, steps=2)
    assert any(
        "everything trigger-long-running-operation: 1 of 2" in note.message for note in one.all(ev.BackgroundEvent)
    )
    arguments = json.dumps({"duration": 60, "steps": 2})
    begun = one.start(f"call everything__trigger-long-running-operation {arguments}; then; say done")
    one.wait(ev.WorkBegan, 2)
    one.interrupted(one.interrupt())
    assert one.result(begun).ending is Ending.INTERRUPTED
    assert "still here" in called(one, "everything__echo", message="still here")


@needs(NODE, EVERYTHING)
def test_its_question_is_put_to_a_person(harness: EngineHarness) -> None:
    one = harness.talk()
    begun = one.start("call everything__trigger-elicitation-request {}; then; say done")
    question = one.wait(ev.ApprovalRequested)
    form = question.subject
    assert isinstance(form, ev.FormSubject)
    assert form.server == "everything"
    assert form.message
    assert any(field.startswith("name") for field in form.fields)
    one.decide(question.approval_id, Decision.DENIED)
    assert one.result(begun).ending is Ending.COMPLETED
    assert "decline" in outputs(one)[-1].lower()


@needs(GIT)
def test_the_git_server_reads_a_repository(harness: EngineHarness, folder: Path) -> None:
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "the first of all"], check=True)
    one = harness.talk()
    assert "the first of all" in called(one, "git__git_log", repo_path=str(folder))
    (folder / "new").write_text("x", encoding="utf-8")
    assert "new" in called(one, "git__git_status", repo_path=str(folder))


@needs(TIME)
def test_the_time_server_knows_the_time(harness: EngineHarness) -> None:
    told = called(harness.talk(), "time__get_current_time", timezone="UTC")
    assert str(datetime.now(UTC).year) in told
