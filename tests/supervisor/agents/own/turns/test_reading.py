"""Files that a model looks at without a shell: nobody is asked, and it sees what a command in the sandbox would."""

import base64
import json
import os
import threading
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.conditions import Ending
from actors.vocabulary.settings import ApprovalPolicy, ReadOnly, WorkspaceWrite
from supervisor.agents.own.tools import reading_tools
from supervisor.agents.picture_support import sees_no_pictures
from supervisor.work.files import pages
from tests.supervisor.agents.own.turns.requests import check_well_formed, lines, talk
from tests.support.confinement import confinable
from tests.support.engine_harness import EngineHarness, harness_at
from tests.support.model_server import ModelServer
from tests.support.work import subject_of

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)


def call(name: str, **arguments: object) -> str:
    return f"call {name} {json.dumps(arguments)}"


def outputs(server: ModelServer) -> list[str]:
    check_well_formed(server.requests[-1])
    return [line[2] for line in talk(server) if line[0] == "output"]


def test_a_file_is_read_without_a_question_and_shown_as_one_line(either: EngineHarness, server: ModelServer) -> None:
    (either.workspace / "notes.txt").write_text("one\ntwo\n")
    conversation = either.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=ReadOnly())
    conversation.ask(f"{call('read_file', path='notes.txt')}; then; say done")
    assert outputs(server) == ["notes.txt: lines 1-2 of 2\n     1\tone\n     2\ttwo\n"]
    begin, end = conversation.wait(ev.WorkBegan), conversation.wait(ev.WorkEnded)
    subject = subject_of(begin, ev.CommandSubject)
    assert (subject.command, subject.tool) == (("read_file", "notes.txt"), "read_file")
    assert subject.hints == (ev.CommandHint(cmd="read_file notes.txt", purpose="reads", name="notes.txt"),)
    assert (end.exit_code, end.output, end.item_id) == (0, "lines 1-2 of 2", begin.item_id)


def test_a_long_file_comes_in_pages_that_say_how_to_go_on(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, tables="[greenroom.limits]\nread_lines = 3\n") as harness:
        (harness.workspace / "long").write_text("".join(f"{number}\n" for number in range(1, 6)))
        first, second = call("read_file", path="long"), call("read_file", path="long", offset=4, limit=9)
        harness.talk().ask(f"{first}; {second}; then; say done")
    one, two = outputs(server)
    assert one.startswith("long: lines 1-3 of 5\n")
    assert one.endswith("\n[the file goes on: read from offset 4]\n")
    assert two == "long: lines 4-5 of 5\n     4\t4\n     5\t5\n"


def test_a_directory_is_listed(harness: EngineHarness, server: ModelServer) -> None:
    (harness.workspace / "a").mkdir()
    (harness.workspace / "a" / "b").touch()
    conversation = harness.talk()
    conversation.ask(f"{call('list_dir')}; {call('list_dir', path='a')}; {call('list_dir', depth=2)}; then; say done")
    assert outputs(server) == ["a/", "b", "a/\na/b"]
    listed = subject_of(conversation.wait(ev.WorkBegan), ev.CommandSubject)
    assert listed.hints == (ev.CommandHint(cmd="list_dir .", purpose="lists", path="."),)


def test_a_picture_in_a_file_reaches_the_model(either: EngineHarness, server: ModelServer) -> None:
    (either.workspace / "p.png").write_bytes(PNG)
    conversation = either.talk()
    assert conversation.ask(f"{call('view_image', path='p.png')}; then; say done").message == "done"
    assert outputs(server) == ["the picture p.png is in a message behind this one"]
    assert base64.b64encode(PNG).decode() in json.dumps(server.requests[-1].body)
    seen = conversation.wait(ev.WorkEnded)
    assert (seen.kind, seen.subject) == ("picture", ev.PictureSubject(path=either.workspace / "p.png"))
    assert not conversation.all(ev.WorkBegan)


def test_a_model_that_is_known_to_see_nothing_is_not_offered_the_tool(
    harness: EngineHarness, server: ModelServer
) -> None:
    (harness.workspace / "p.png").write_bytes(PNG)
    harness.talk(model="deepseek-chat").ask(f"{call('view_image', path='p.png')}; then; say done")
    assert outputs(server) == ["error: the model deepseek-chat can't see pictures"]
    assert "view_image" not in {tool["function"]["name"] for tool in server.requests[-1].body["tools"]}


@pytest.mark.parametrize(
    ("model", "blind"),
    [("gpt-5", False), ("o3", False), ("o3-mini", True), ("openai/gpt-oss-120b", True), ("gpt-oss:20b", True),
     ("deepseek-ai/DeepSeek-V3.1", True), ("qwen3-coder:30b", True), ("qwen2.5-vl", False), ("mock-model", False)],
)  # fmt: skip
def test_models_are_known_by_their_names(model: str, blind: bool) -> None:
    assert sees_no_pictures(model) is blind


def test_a_picture_that_does_not_fit_into_an_event_is_refused(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, tables="[greenroom.limits]\nevent_bytes = 65536\n") as harness:
        (harness.workspace / "p.png").write_bytes(PNG + bytes(40_000))
        harness.talk().ask(f"{call('view_image', path='p.png')}; then; say done")
    assert "greenroom.limits.event_bytes" in outputs(server)[0]


WRONG = [
    (call("read_file", path="nothing"), "error: there is no nothing; list_dir shows what there is"),
    (call("read_file", path="."), "error: . is a directory: list it with list_dir"),
    (call("read_file", path="p.png"), "error: p.png: it is a picture (image/png): look at it with view_image"),
    (call("read_file", path="a\0b"), "error: 'a\\x00b' is no path: it has a NUL in it"),
    (call("read_file", path="pipe"), "error: pipe is a pipe, not a file"),
    (call("read_file", path="/proc/self/environ"), "error: /proc/self/environ is not on a disk"),
    (call("read_file", path="p.png", offset=0), "failed to parse function arguments: offset: "),
    (call("read_file"), "failed to parse function arguments: path: Field required"),
    (call("list_dir", path="p.png"), "error: p.png is a file: read it with read_file"),
    (call("list_dir", depth=99), "failed to parse function arguments: depth: "),
    (call("view_image", path="text"), "error: the picture text is not a PNG, JPEG, GIF or WebP file"),
    (call("view_image", path="pipe"), "error: pipe is a pipe, not a file"),
]


def test_an_unreadable_file_is_an_error_that_says_why(harness: EngineHarness, server: ModelServer) -> None:
    (harness.workspace / "p.png").write_bytes(PNG)
    (harness.workspace / "text").write_text("text")
    os.mkfifo(harness.workspace / "pipe")
    conversation = harness.talk()
    calls = "; ".join(one for one, _ in WRONG)
    assert conversation.ask(f"{calls}; then; say done").message == "done"
    for (one, told), answer in zip(WRONG, outputs(server), strict=True):
        assert answer.startswith(told), one
    assert all(one.failed is not None for one in conversation.all(ev.ToolOutput))


@confinable
def test_no_tool_reads_a_file_that_a_sandboxed_command_cannot_see(
    harness: EngineHarness, server: ModelServer
) -> None:
    file = harness.engine.paths.journal_file
    assert Path(file).is_file()
    (harness.workspace / "link").symlink_to(file)
    cat = f"call shell {json.dumps({'command': ['cat', file]})}"
    reads = "; ".join(call("read_file", path=path) for path in (file, "link"))
    listing = call("list_dir", path=harness.engine.paths.state)
    harness.talk(sandbox=WorkspaceWrite()).ask(f"{cat}; {reads}; {listing}; then; say done")
    seen, *refused = outputs(server)
    assert "No such file or directory" in seen
    assert len(refused) == 3
    assert all("belongs to Greenroom itself" in one for one in refused)


# --- side by side ---------------------------------------------------------------------------------------------------


def test_calls_that_only_read_run_side_by_side_and_answer_in_their_order(
    harness: EngineHarness, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    all_here = threading.Barrier(3, timeout=10)

    def gated(*arguments: object) -> pages.FilePage:
        all_here.wait()
        return pages.read_page(*arguments)  # type: ignore[arg-type]  # handed on as they are

    monkeypatch.setattr(reading_tools, "read_page", gated)
    for name in "abc":
        (harness.workspace / name).write_text(name)
    reads = "; ".join(call("read_file", path=name) for name in "abc")
    assert harness.talk().ask(f"{reads}; then; say done").message == "done"
    assert [one[0] for one in outputs(server)] == ["a", "b", "c"]


def test_a_read_waits_for_the_command_before_it(harness: EngineHarness, server: ModelServer) -> None:
    write = f"call shell {json.dumps({'command': ['sh', '-c', 'echo written > f']})}"
    conversation = harness.talk()
    conversation.ask(f"{write}; {call('read_file', path='f')}; then; say done")
    assert outputs(server)[1] == "f: lines 1-1 of 1\n     1\twritten\n"


def test_an_interrupt_ends_all_reads_and_each_call_has_one_output(
    harness: EngineHarness, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is away: the threads hang on, the turn does not wait for them."""
    all_here, back = threading.Barrier(4, timeout=10), threading.Event()

    def hanging(*_: object) -> pages.FilePage:
        all_here.wait()
        back.wait()
        return pages.FilePage("", 1, 0, 0)

    monkeypatch.setattr(reading_tools, "read_page", hanging)
    for name in "abc":
        (harness.workspace / name).write_text(name)
    conversation = harness.talk()
    begun = conversation.start("; ".join(call("read_file", path=name) for name in "abc"))
    all_here.wait()
    conversation.interrupt()
    assert conversation.result(begun).ending is Ending.INTERRUPTED
    back.set()
    assert [one.output for one in conversation.all(ev.ToolOutput)] == ["aborted by user"] * 3
    assert len(conversation.all(ev.WorkEnded)) == 3
    conversation.ask("say well")
    check_well_formed(server.requests[-1])
    assert [line[0] for line in lines(server.requests[-1])].count("output") == 3


# --- searches -------------------------------------------------------------------------------------------------------


def test_a_search_finds_lines_and_asks_nobody(either: EngineHarness, server: ModelServer) -> None:
    (either.workspace / "a.py").write_text("import os\n")
    (either.workspace / "b.md").write_text("import\n")
    conversation = either.talk(approval_policy=ApprovalPolicy.UNTRUSTED, sandbox=ReadOnly())
    conversation.ask(f"{call('grep', pattern='^import', glob='*.py')}; then; say done")
    assert outputs(server) == ["a.py:1:import os\n[1 matches in 1 files]\n"]
    begin, end = conversation.wait(ev.WorkBegan), conversation.wait(ev.WorkEnded)
    subject = subject_of(begin, ev.CommandSubject)
    assert (subject.command, subject.tool) == (("grep", "^import", ".", "*.py"), "grep")
    assert (end.exit_code, end.output) == (0, "1 matches in 1 files")


def test_a_pattern_without_end_is_stopped_and_the_model_is_told(tmp_path: Path, server: ModelServer) -> None:
    with harness_at(tmp_path, server.base_url, tables="[greenroom.limits]\nsearch_seconds = 0.3\n") as harness:
        (harness.workspace / "trap").write_text("a" * 60 + "!\n")
        conversation = harness.talk()
        conversation.ask(f"{call('grep', pattern='(a+)+$')}; then; say done")
    assert "took longer than 0.3 seconds (greenroom.limits.search_seconds)" in outputs(server)[0]
    failed = conversation.wait(ev.ToolOutput).failed
    assert failed is not None
    assert failed.kind == "time_out"


def test_an_interrupt_ends_a_search_that_would_never_end(harness: EngineHarness) -> None:
    (harness.workspace / "trap").write_text("a" * 60 + "!\n")
    conversation = harness.talk()
    begun = conversation.start(call("grep", pattern="(a+)+$"))
    conversation.wait(ev.WorkBegan)
    conversation.interrupt()
    assert conversation.result(begun).ending is Ending.INTERRUPTED


def test_a_search_does_not_see_what_belongs_to_greenroom(harness: EngineHarness, server: ModelServer) -> None:
    state = harness.engine.paths.state
    secret = Path(state, "secret.txt")
    secret.write_text("two words\n")
    above = call("grep", pattern="two words", path=str(Path(state).parent))
    wrong = [call("grep", pattern="two words", path=state), call("grep", pattern="("), call("grep", pattern="")]
    harness.talk().ask(f"{above}; {'; '.join(wrong)}; then; say done")
    everything, own, unclosed, empty = outputs(server)
    assert everything == "[0 matches in 0 files]\n"
    assert "belongs to Greenroom itself" in own
    assert unclosed.startswith("error: the pattern can't be used: ")
    assert empty.startswith("failed to parse function arguments: pattern: ")
