"""Names in a model's calls open nothing: directories, paths of patches, and folders that its commands have moved."""

import json
import subprocess
from pathlib import Path

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, Pin, ReadOnly, SandboxPolicy, WorkspaceWrite
from supervisor.disk.pins import pins_of
from tests.supervisor.agents.own.turns.requests import talk
from tests.support.confinement import confinable
from tests.support.engine_harness import EngineHarness
from tests.support.model_server import ModelServer

CLOSED = WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True)  # tests live in /tmp themselves


def shell(*argv: str, **more: object) -> str:
    return "call shell " + json.dumps({"command": argv, **more})


def patch(text: str) -> str:
    return f"call apply_patch {json.dumps({'input': f'*** Begin Patch{chr(10)}{text}{chr(10)}*** End Patch'})}"


def add(path: str) -> str:
    return patch(f"*** Add File: {path}\n+evil")


def output(harness: EngineHarness, server: ModelServer, call: str, **settings: object) -> str:
    harness.talk(sandbox=CLOSED, **settings).ask(f"{call}; then; say done")
    (told,) = [line[2] for line in talk(server) if line[0] == "output"]
    return str(told)


@confinable
@pytest.mark.parametrize("workdir", ["/", "..", "../beside"])
def test_a_directory_that_the_model_names_is_not_opened_by_it(
    harness: EngineHarness, server: ModelServer, workdir: str
) -> None:
    (harness.home / "beside").mkdir()
    told = output(harness, server, shell("sh", "-c", f"touch new {harness.home}/beside/new; pwd", workdir=workdir))
    assert "Read-only file system" in told
    assert not (harness.home / "beside/new").exists()
    assert not (harness.workspace / workdir / "new").exists()


@confinable
def test_a_subdirectory_that_the_model_names_leaves_the_project_writable(
    harness: EngineHarness, server: ModelServer
) -> None:
    (harness.workspace / "sub").mkdir()
    output(harness, server, shell("sh", "-c", "touch ../above here", workdir="sub"))
    assert (harness.workspace / "above").exists()
    assert (harness.workspace / "sub/here").exists()


@confinable
@pytest.mark.parametrize("policy", [CLOSED, ReadOnly()], ids=["workspace-write", "read-only"])
def test_the_journal_can_be_neither_read_nor_locked_by_a_command(
    harness: EngineHarness, server: ModelServer, policy: SandboxPolicy
) -> None:
    state = harness.home / "config/state"
    assert (state / "journal.sqlite3").exists()
    harness.talk(sandbox=policy).ask(f"{shell('find', str(state))}; then; say done")
    (told,) = [line[2] for line in talk(server) if line[0] == "output"]
    assert json.loads(told)["output"].split() == [str(state)]


@pytest.mark.parametrize(
    ("workdir", "why"),
    [
        ("a\0b", "it has a NUL in it"),
        ("gone", "does not exist: name one that does"),
        ("file", "Not a directory"),
        ("loop", "levels of symbolic links"),
        ("x" * 5000, "File name too long"),
    ],
)
@pytest.mark.parametrize("open_", [False, True])
def test_a_directory_that_is_none_is_told_to_the_model_and_the_turn_goes_on(
    harness: EngineHarness, server: ModelServer, workdir: str, why: str, *, open_: bool
) -> None:
    (harness.workspace / "file").touch()
    (harness.workspace / "loop").symlink_to("loop")
    settings = {} if open_ else {"sandbox": CLOSED}
    harness.talk(**settings).ask(f"{shell('true', workdir=workdir)}; then; say done")
    (told,) = [line[2] for line in talk(server) if line[0] == "output"]
    assert "error: " in told
    assert why in told


@pytest.mark.parametrize("where", ["a/" * 5000 + "f", "a/" * 1100 + "f"])
def test_a_path_of_thousands_of_components_is_no_accident(
    harness: EngineHarness, server: ModelServer, where: str
) -> None:
    told = output(harness, server, add(where))
    subprocess.run(["rm", "-rf", harness.workspace / "a"], check=True)  # Python's own way of removing it recurses
    assert ("is longer than a path can be" in told) == (len(where) > 4096)
    assert "Error" not in told


@pytest.mark.parametrize("way", ["cd .. && ", ""])
def test_a_patch_is_judged_by_the_files_and_not_by_the_directory_it_is_applied_in(
    harness: EngineHarness, server: ModelServer, way: str
) -> None:
    text = "*** Begin Patch\n*** Add File: outside.txt\n+evil\n*** End Patch"
    call = shell("bash", "-lc", f"{way}apply_patch <<'EOF'\n{text}\nEOF", workdir=".." if not way else ".")
    assert "patch rejected: writing outside of the project" in output(harness, server, call)
    assert not (harness.home / "outside.txt").exists()


@pytest.mark.parametrize(
    "path",
    [
        "config/config.toml2",  # everything in a directory of ours
        "config/state/daemon.lock2",
        ".config/greenroom/config.toml",  # read too, although a home was named; it does not exist
        ".codex/config.toml",
    ],
)
def test_a_patch_changes_nothing_that_greenroom_believes(
    harness: EngineHarness, server: ModelServer, path: str
) -> None:
    told = output(harness, server, add(path), cwd=harness.home)
    hidden = path.startswith("config/state/")  # nobody looks there for a model, not even at what is to be written
    assert ("belongs to Greenroom itself" if hidden else "patch rejected: ") in told
    assert hidden or "rejected by user approval settings" in told
    assert not (harness.home / path).exists()


def test_such_a_patch_is_asked_about_where_somebody_can_be_asked(harness: EngineHarness) -> None:
    conversation = harness.talk(sandbox=CLOSED, cwd=harness.home, approval_policy=ApprovalPolicy.ON_REQUEST)
    conversation.start(f"{add('.codex/config.toml')}; then; say done")
    question = conversation.wait(ev.ApprovalRequested)
    assert question.reason == "Codex would obey it without asking you"


@confinable
def test_a_command_changes_nothing_that_greenroom_believes(harness: EngineHarness, server: ModelServer) -> None:
    attack = (
        "echo 'notify = [\"x\"]' >> config/config.toml; rm -f config/state/daemon.lock; mkdir -p .config/greenroom; "
        "echo x > .config/greenroom/config.toml; mkdir -p .codex; echo x > .codex/config.toml; mv config c; touch ok"
    )
    before = (harness.home / "config/config.toml").read_text()
    (harness.home / "config/state/daemon.lock").touch()
    output(harness, server, shell("sh", "-c", attack), cwd=harness.home)
    assert (harness.home / "config/config.toml").read_text() == before
    assert (harness.home / "config/state/daemon.lock").exists()
    assert (harness.home / "ok").exists()
    assert not (harness.home / ".config").exists()
    assert not (harness.home / ".codex").exists()


@confinable
def test_that_a_root_is_not_writable_any_more_is_told_to_the_model_and_to_the_person(
    harness: EngineHarness, server: ModelServer
) -> None:
    root = harness.home / "root"
    root.mkdir()
    policy = CLOSED.model_copy(update={"writable_roots": (root,)})
    conversation = harness.talk(sandbox=policy, roots=pins_of(policy, harness.workspace, None))
    root.rename(harness.home / "was")
    root.symlink_to(harness.home)
    conversation.ask(f"{shell('touch', str(root / 'new'))}; then; say done")
    (told,) = [line[2] for line in talk(server) if line[0] == "output"]
    warning = f"{root} is not writable: "
    assert warning in told
    assert warning in conversation.wait(ev.BackgroundEvent).message
    assert not (harness.home / "new").exists()


def test_a_patch_follows_no_root_whose_name_leads_elsewhere(harness: EngineHarness, server: ModelServer) -> None:
    (harness.home / "target").mkdir()
    pins = pins_of(CLOSED, harness.workspace, None)
    harness.workspace.rename(harness.home / "was")
    harness.workspace.symlink_to(harness.home / "target")
    assert "patch rejected" in output(harness, server, add("new"), roots=pins)
    assert list((harness.home / "target").iterdir()) == []


def test_a_patch_goes_into_no_other_directory_of_the_same_name(harness: EngineHarness, server: ModelServer) -> None:
    pins = pins_of(CLOSED, harness.workspace, None)
    harness.workspace.rename(harness.home / "was")
    harness.workspace.mkdir()
    assert "patch rejected" in output(harness, server, add("new"), roots=pins)
    assert list(harness.workspace.iterdir()) == []


def test_a_turn_with_settings_of_its_own_keeps_what_the_conversation_knew(harness: EngineHarness) -> None:
    """A client that names everything with each message does not look anew at what a command has moved."""
    pins = pins_of(CLOSED, harness.workspace, None)
    conversation = harness.talk(sandbox=CLOSED, roots=pins)
    (harness.home / "target").mkdir()
    harness.workspace.rename(harness.home / "was")
    harness.workspace.symlink_to(harness.home / "target")
    fresh = conversation.settings.model_copy(update={"roots": pins_of(CLOSED, harness.workspace, None)})
    conversation.ask(f"{add('new')}; then; say done", settings=fresh)
    conversation.change(fresh)
    assert conversation.summary().settings.roots == pins
    conversation.ask(f"{add('new')}; then; say done")
    assert list((harness.home / "target").iterdir()) == []


@confinable
def test_a_directory_that_did_not_exist_when_the_conversation_began_is_no_root_when_it_does(
    harness: EngineHarness, server: ModelServer
) -> None:
    later = harness.home / "later"
    conversation = harness.talk(sandbox=CLOSED, cwd=later, roots=(Pin(name=later),))
    conversation.ask(f"{shell('true')}; then; say done")
    later.mkdir()
    conversation.ask(f"{shell('touch', 'x')}; then; say done")
    first, second = [line[2] for line in talk(server) if line[0] == "output"]
    assert "does not exist" in first
    assert "Read-only file system" in second
    assert list(later.iterdir()) == []


def test_a_read_only_conversation_has_no_roots(tmp_path: Path) -> None:
    assert pins_of(ReadOnly(), tmp_path, tmp_path) == ()
