"""The writable roots are those of the conversation, as they were when it named them."""

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Pin, Settings, WorkspaceWrite
from supervisor.disk.pins import Pins, pins_of, this_boot
from supervisor.work.reach import repositories
from supervisor.work.reach.repositories import FolderContents
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.place import CLOSED, Place, Talk, git, on_linux

pytestmark = on_linux
OPEN_TMPDIR = CLOSED.model_copy(update={"exclude_tmpdir_env_var": False})


# --- a call's own directory ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", ["/", "..", "../outside"])
def test_the_directory_of_a_call_opens_nothing(place: Place, start: str) -> None:
    git(place.workspace, "init")
    talk = place.talk()
    script = 'touch here; touch "$0/new"; touch "$1/.git/hooks/new"; touch "$1/ok"'
    talk.sh(script, str(place.outside), str(place.workspace), start=place.workspace / start)
    assert not (place.workspace / start / "here").exists()
    assert not (place.outside / "new").exists()
    assert not (place.workspace / ".git/hooks/new").exists()
    assert (place.workspace / "ok").exists()


def test_a_call_that_starts_in_a_subdirectory_may_write_the_whole_project(place: Place) -> None:
    (place.workspace / "sub").mkdir()
    assert place.talk().sh("touch ../x y", start=place.workspace / "sub").exit_code == 0
    assert (place.workspace / "x").exists()
    assert (place.workspace / "sub/y").exists()


@pytest.mark.parametrize(("start", "error"), [("gone", FileNotFoundError), ("file", NotADirectoryError)])
def test_a_directory_that_is_none_is_an_error_and_no_command(place: Place, start: str, error: type[OSError]) -> None:
    (place.workspace / "file").write_text("")
    with pytest.raises(error):
        place.talk().sh("true", start=place.workspace / start)
    (place.workspace / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        place.talk().sh("true", start=place.workspace / "loop")


# --- names that come to mean something else ------------------------------------------------------------------------


def deep(place: Place) -> Talk:
    """Make a conversation two levels below another writable root."""
    shared = place.outside / "shared"
    (shared / "a/project").mkdir(parents=True)
    git(shared / "a/project", "init")
    return place.talk(OPEN_TMPDIR, shared / "a/project", TMPDIR=str(shared))


def test_a_folder_above_the_directory_can_be_neither_renamed_nor_replaced(place: Place) -> None:
    talk = deep(place)
    did = talk.sh("mv $TMPDIR/a $TMPDIR/b; rm -rf $TMPDIR/a; mv $TMPDIR/a/project $TMPDIR/p; touch $TMPDIR/a/beside")
    assert did.exit_code == 0
    assert (talk.cwd / ".git/config").exists()
    assert (talk.cwd.parent / "beside").exists()
    assert not (place.outside / "shared/b").exists()


@pytest.mark.parametrize("swap", ["ln -s $0 a/project", "mkdir a/project && cp -r b/project/. a/project"])
def test_a_directory_that_another_conversation_has_replaced_is_written_no_more(place: Place, swap: str) -> None:
    talk = deep(place)
    target = place.outside / "target"
    target.mkdir()
    other = place.talk(OPEN_TMPDIR, TMPDIR=str(place.outside / "shared"))
    assert other.sh(f"cd $TMPDIR && mv a b && mkdir -p a && {swap}", str(target)).exit_code == 0
    did = talk.sh('touch "$0/new"; touch "$1/new"; touch "$TMPDIR/ok"', str(target), str(talk.cwd), start=Path("/"))
    assert did.exit_code == 0
    assert list(target.iterdir()) == []
    assert (place.outside / "shared/ok").exists()
    assert len(did.said) == 1
    assert did.said[0].startswith(f"{talk.cwd} is not writable: ")
    if "ln" in swap:  # a copy lies in the other root, and is as writable as anything there
        assert not (talk.cwd / "new").exists()


def test_the_temporary_directory_of_the_client_is_the_one_that_was_there(place: Place) -> None:
    shared, target = place.outside / "shared", place.outside / "target"
    (shared / "a/b").mkdir(parents=True)
    target.mkdir()
    talk = place.talk(OPEN_TMPDIR, TMPDIR=str(shared / "a/b"))
    (shared / "a").rename(shared / "moved")
    (shared / "a").mkdir()
    (shared / "a/b").symlink_to(target)
    did = talk.sh("touch $TMPDIR/new || touch ok")
    assert list(target.iterdir()) == []
    assert (place.workspace / "ok").exists()
    assert "is not writable" in did.said[0]


def test_a_root_that_did_not_exist_is_none_whatever_takes_its_name(place: Place) -> None:
    cache, target = place.workspace / "cache", place.outside / "target"
    target.mkdir()
    talk = place.talk(CLOSED.model_copy(update={"writable_roots": (cache,)}))
    assert talk.sh("ln -s $0 cache", str(target)).exit_code == 0
    did = talk.sh("touch cache/new")
    assert did.exit_code != 0
    assert did.said == ()
    assert list(target.iterdir()) == []


def test_another_directory_of_the_same_name_is_not_the_root_even_as_a_real_one(place: Place) -> None:
    talk = place.talk()
    place.workspace.rename(place.outside / "was")
    place.workspace.mkdir()
    did = talk.sh("touch new")
    assert did.exit_code != 0
    assert "another directory" in did.said[0]
    assert list(place.workspace.iterdir()) == []


def test_device_numbers_of_another_boot_say_nothing_and_inode_numbers_do(place: Place) -> None:
    (pin,) = pins_of(CLOSED, place.workspace, None)
    assert pin.boot == this_boot() != ""
    for changed, writable in (
        ({"boot": "earlier", "device": pin.device + 1}, True),
        ({"boot": "earlier", "inode": pin.inode + 1}, False),
        ({"device": pin.device + 1}, False),
    ):
        did = place.run("touch", "x", pins=(pin.model_copy(update=changed),))
        assert (did.exit_code == 0) is writable


def test_a_root_is_remembered_as_it_was_when_first_named(place: Place) -> None:
    """The same goes for everything that a conversation from before there were pins names."""
    conversation, memory = ConversationId("c"), Pins()
    later = place.outside / "later"
    settings = Settings(
        model="m", cwd=place.workspace, sandbox=CLOSED.model_copy(update={"writable_roots": (later,)})
    )
    first = memory.pins_for(conversation, settings, None)
    assert [pin.path for pin in first] == [place.workspace, None]
    later.mkdir()
    assert memory.pins_for(conversation, settings, None) == first
    assert memory.pins_for(ConversationId("new"), settings, None)[1].path == later
    kept = settings.model_copy(update={"roots": (Pin(name=place.workspace),)})
    assert memory.pins_for(conversation, kept, None)[0].path is None


# --- what is closed can't be carried away --------------------------------------------------------------------------


def guarded(place: Place) -> Talk:
    """Make a project with a nested repository and files of ours in it."""
    inner = place.workspace / "packages/app"
    inner.mkdir(parents=True)
    git(inner, "init")
    ours = place.workspace / "home/config/us"
    ours.mkdir(parents=True)
    (ours / "config.toml").write_text("mine")
    place.sandbox = Sandbox(
        Protection(
            closed=(ours, place.workspace / "home/state/us"),
            files=(place.workspace / "home/codex.toml", place.workspace / "other/config.toml"),
        )
    )
    return place.talk()


@pytest.mark.parametrize(
    "attack",
    [
        "mv home home2; mkdir -p home/config/us; echo evil > home/config/us/config.toml",
        "mv home/config x; mkdir -p home/config/us; echo evil > home/config/us/config.toml",
        "rm -rf home; mkdir -p home/config/us; echo evil > home/config/us/config.toml",
        "ln -sfn /tmp home/config; echo evil > home/codex.toml; mkdir -p home/state/us",
        "mkdir other; echo evil > other/config.toml; ln -s /etc other; mv other o; ln -s x home/codex.toml",
        "mv packages p2; cp -r p2 packages; echo evil > packages/app/.git/config",
        "mv packages/app/.git g; touch packages/app/.git/hooks/evil; echo evil > packages/app/.git/config",
    ],
)
def test_a_closed_path_keeps_its_content_and_its_place(place: Place, attack: str) -> None:
    talk = guarded(place)
    did = talk.sh(f"{attack}; touch ok")
    assert did.exit_code == 0
    assert (place.workspace / "home/config/us/config.toml").read_text() == "mine"
    assert "[core]" in (place.workspace / "packages/app/.git/config").read_text()
    assert not (place.workspace / "packages/app/.git/hooks/evil").exists()
    for absent in ("home/codex.toml", "home/state", "other", "p2", "home2"):
        assert not os.path.lexists(place.workspace / absent)
    assert (place.workspace / "ok").exists()


def test_no_placeholder_is_left(place: Place) -> None:
    guarded(place).sh("true")
    assert sorted(path.name for path in place.workspace.rglob("*") if ".git" not in path.parts) == sorted(
        ["packages", "app", "home", "config", "us", "config.toml"]
    )


def test_a_file_that_is_not_there_is_empty_while_a_command_runs_and_survives_what_somebody_writes(
    place: Place,
) -> None:
    place.sandbox = Sandbox(Protection(files=(place.workspace / "config.toml",)))
    with place.sandbox.confine(CLOSED, place.workspace, ["true"], {}):
        assert (place.workspace / "config.toml").read_bytes() == b""
        (place.workspace / "config.toml").write_text("a person's")
    assert (place.workspace / "config.toml").read_text() == "a person's"


def test_a_hidden_directory_that_is_not_there_cannot_be_made(place: Place) -> None:
    place.sandbox = Sandbox(Protection(hidden=(place.workspace / "run",)))
    place.talk().sh("mkdir -p run; touch run/socket")
    assert not (place.workspace / "run").exists()


# --- git's other ways ----------------------------------------------------------------------------------------------

HEAD = "ref: refs/heads/main"
PARTS = (
    "mkdir -p objects refs && "
    "printf '[core]\\nrepositoryformatversion = 0\\nbare = false\\nworktree = .\\n' > config && "
    "printf 'fsmonitor = touch %s\\n' \"$0\" >> config"
)


BARE = f"echo '{HEAD}' > HEAD; {PARTS}"


@pytest.mark.parametrize("head", ["", f"rmdir HEAD; echo '{HEAD}' > HEAD;", "mv HEAD x; ln -s refs/heads/main HEAD;"])
def test_no_command_makes_its_project_a_repository_without_a_git_directory(place: Place, head: str) -> None:
    ran = place.outside / "ran"
    with place.sandbox.confine(CLOSED, place.workspace, ["true"], {}):  # one of a program that lives longer
        did = place.talk().sh(f"{head}{BARE}", str(ran))
        with pytest.raises(Exception, match="128"):
            git(place.workspace, "status")
    assert did.said == ()
    with pytest.raises(Exception, match="128"):
        git(place.workspace, "status")
    assert not ran.exists()
    assert not (place.workspace / "HEAD").exists()


def test_a_project_with_a_head_that_a_command_makes_a_repository_is_none_afterwards(place: Place) -> None:
    ran = place.outside / "ran"
    (place.workspace / "HEAD").write_text(f"{HEAD}\n")
    did = place.talk().sh(PARTS, str(ran))
    assert did.exit_code == 0
    assert "HEAD is now HEAD.set-aside-by-greenroom" in did.said[0]
    with pytest.raises(Exception, match="128"):
        git(place.workspace, "status")
    assert not ran.exists()


def test_that_configuration_would_have_been_run(place: Place) -> None:
    """Without this the tests above prove nothing."""
    ran = place.outside / "ran"
    subprocess.run(["sh", "-c", BARE, str(ran)], cwd=place.workspace, check=True)
    git(place.workspace, "status")
    assert ran.exists()


@pytest.mark.parametrize(
    "trick",
    [
        "mkdir HEAD.set-aside-by-greenroom",
        "chmod 500 .",
        "chmod 000 .",
        "rmdir objects refs && touch objects refs && chmod 755 objects refs",
        "mkdir $1/store && echo $1/store > commondir && mv objects refs config $1/store",
    ],
)
def test_no_trick_of_a_command_leaves_its_project_a_repository(place: Place, trick: str) -> None:
    ran, elsewhere = place.outside / "ran", place.outside / "elsewhere"
    elsewhere.mkdir()
    place.workspace.chmod(0o755)
    (place.workspace / "HEAD").write_text(f"{HEAD}\n")
    policy = CLOSED.model_copy(update={"writable_roots": (elsewhere,)})
    did = place.talk(policy).sh(f"{PARTS} && {trick}", str(ran), str(elsewhere))
    assert did.exit_code == 0, did.stderr
    assert "set-aside-by-greenroom" in did.said[0]
    place.workspace.chmod(0o755)
    with contextlib.suppress(subprocess.CalledProcessError):
        git(place.workspace, "status")
    assert not ran.exists()


def test_where_the_folder_can_not_be_looked_at_afterwards_that_is_said(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", fail)
    (place.workspace / "HEAD").write_text(f"{HEAD}\n")
    did = place.talk().sh(PARTS, "x")
    assert did.exit_code == 0
    assert "No space left on device" in did.said[0]
    assert "before you run git there" in did.said[0]


def test_that_is_seen_to_also_when_the_command_is_interrupted(place: Place) -> None:
    (place.workspace / "HEAD").write_text(f"{HEAD}\n")
    running = place.sandbox.confine(CLOSED, place.workspace, ["true"], {})
    inside = running.__enter__()
    for name in ("objects", "refs"):
        (place.workspace / name).mkdir()
    running.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert not (place.workspace / "HEAD").exists()
    assert len(inside.aftermath) == 1


def test_a_project_that_is_a_bare_repository_keeps_its_programs(place: Place) -> None:
    git(place.workspace, "init", "--bare")
    did = place.talk().sh(
        "echo x >> config; touch hooks/x; mv hooks h; echo x > HEAD; echo x > config.worktree; touch ok"
    )
    assert did.said == ()
    assert "x" not in (place.workspace / "config").read_text().splitlines()
    assert not (place.workspace / "hooks/x").exists()
    assert (place.workspace / "HEAD").read_text().startswith("ref:")
    assert (place.workspace / "ok").exists()


def test_hooks_in_the_open_tree_are_closed_there_or_not(place: Place) -> None:
    git(place.workspace, "init")
    (place.workspace / ".husky/_").mkdir(parents=True)
    for named, attack in (
        (".husky/_", "echo > .husky/pre-commit"),
        (".hooks", "mkdir .hooks; echo > .hooks/pre-commit"),
    ):
        git(place.workspace, "config", "core.hooksPath", named)
        assert place.talk().sh(attack).exit_code != 0
    assert not (place.workspace / ".hooks").exists()


@pytest.mark.parametrize(
    "attack",
    [
        "rm .git",
        "rm .git; mkdir .git; echo evil > .git/config",
        "ln -sfn other .git",
        "rm .git; echo gitdir: other > .git",
    ],
)
def test_a_git_that_is_a_link_leads_after_a_command_where_it_led(place: Place, attack: str) -> None:
    store = place.outside / "store"
    git(place.workspace, "init", "--separate-git-dir", str(store))
    (place.workspace / ".git").unlink()
    (place.workspace / ".git").symlink_to(store)
    did = place.talk().sh(attack)
    assert "it is that link again" in did.said[0]
    assert (place.workspace / ".git").resolve() == store
    kept = place.workspace / ".git.set-aside-by-greenroom"
    assert (attack == "rm .git") is not (kept.is_symlink() or kept.exists())
    assert place.talk().sh("touch ok").said == ()


def evil_repository(ran: Path) -> str:
    return f"git init -q . && git config core.fsmonitor 'touch {ran}'"


@pytest.mark.parametrize("bare", [False, True])
@pytest.mark.parametrize("temporary", [False, True])
def test_no_repository_is_made_around_a_project_that_is_none(place: Place, *, bare: bool, temporary: bool) -> None:
    """Git would go on looking above the project."""
    top, ran = place.outside / "top", place.outside / "ran"
    project = top / "a/project"
    project.mkdir(parents=True)
    policy = OPEN_TMPDIR if temporary else CLOSED.model_copy(update={"writable_roots": (top,)})
    talk = place.talk(policy, project, TMPDIR=str(top))
    for above in (top, top / "a"):
        talk.sh(f"cd {above} && {BARE if bare else evil_repository(ran)}", str(ran))
    with contextlib.suppress(subprocess.CalledProcessError):
        git(project, "status")
    assert not ran.exists()
    assert not (top / ".git").exists()


def test_programs_that_repositories_below_and_around_the_project_name_are_closed(place: Place) -> None:
    app, store, bare = place.workspace / "app", place.workspace / "store", place.workspace / "x/bare"
    for folder in (app / ".husky", store.parent, bare):
        folder.mkdir(parents=True, exist_ok=True)
    git(app, "init")
    git(app, "config", "core.hooksPath", ".husky")
    git(place.workspace, "init", "--separate-git-dir", str(store), "apart")
    git(bare, "init", "--bare")
    talk = place.talk()
    for attack in ("app/.husky/pre-commit", "store/hooks/x", "store/config", "x/bare/hooks/x", "x/bare/config"):
        assert talk.sh(f"echo >> {attack}").exit_code != 0, attack
    assert talk.sh("mv app y || mv store z || mv x w || touch app/ok").exit_code == 0
    around = place.outside / "around"
    inner = around / "packages/app"
    inner.mkdir(parents=True)
    git(around, "init")
    git(around, "config", "core.hooksPath", "packages/app/.hooks")
    assert place.talk(cwd=inner).sh("mkdir -p .hooks && touch .hooks/pre-commit").exit_code != 0
    assert place.talk(cwd=inner).sh("touch ok").exit_code == 0


def test_repositories_below_the_root_of_everything_have_their_usual_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """The path `//a` is another than `/a`, and lies in no root."""
    listed = {"/": FolderContents((), ("a",), stores=False), "/a": FolderContents((".git",), (), stores=False)}
    monkeypatch.setattr(repositories, "_listing", listed.__getitem__)
    assert repositories.find_repositories(Path("/")).repositories == ((Path("/a"), Path("/a/.git")),)


def test_folders_that_a_command_makes_hide_no_repository_from_the_search(place: Place) -> None:
    app = place.workspace / "z/app"
    app.mkdir(parents=True)
    git(app, "init")
    talk = place.talk()
    talk.sh("for i in $(seq 70); do mkdir -p a$i/.git; done; for i in $(seq 400); do mkdir b$i; done")
    talk.sh("mkdir -p z/objects z/refs && touch z/HEAD")
    assert talk.sh("touch z/app/.git/hooks/x").exit_code != 0


def test_a_word_of_anybody_for_where_a_repository_is_closes_nothing_else(place: Place) -> None:
    for name in ("x", "y", "z", "src"):
        (place.workspace / name).mkdir()
    (place.workspace / "x/.git").write_text("gitdir: ../src\n")
    (place.workspace / "y/.git").symlink_to(place.workspace / "src")
    git(place.workspace / "z", "init")
    git(place.workspace / "z", "config", "core.hooksPath", "..")
    assert place.talk().sh("touch src/ok z/ok ok").exit_code == 0


def test_a_repository_is_closed_however_deep_it_lies(place: Place) -> None:
    for depth in (1, 4, 9):
        inner = place.workspace / "/".join(f"d{depth}" for _ in range(depth))
        inner.mkdir(parents=True)
        git(inner, "init")
        place.talk().sh('touch "$0/.git/hooks/x"', str(inner))
        assert not (inner / ".git/hooks/x").exists()


def test_a_repository_beyond_what_the_search_looks_at_is_open_as_documented(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repositories, "FOLDERS", 4)
    inner = place.workspace / "a/b/c"
    inner.mkdir(parents=True)
    git(inner, "init")
    did = place.talk().sh('mkdir x y; touch "$0/.git/hooks/x"', str(inner))
    assert not (inner / ".git/hooks/x").exists()
    assert "the deepest were not looked at" in did.said[0]
    beyond = place.workspace / "x/b/c"
    beyond.mkdir(parents=True)
    git(beyond, "init")
    did = place.talk().sh('touch "$0/.git/hooks/x"; mkdir x/y', str(beyond))
    assert (beyond / ".git/hooks/x").exists()
    assert did.said == ()


def test_a_placeholder_used_by_a_command_of_another_daemon_is_not_removed(place: Place) -> None:
    """The mount would be gone with its mount point."""
    with place.sandbox.confine(CLOSED, place.workspace, ["true"], {}):
        with Sandbox().confine(CLOSED, place.workspace, ["true"], {}):
            pass
        assert (place.workspace / ".git").exists()
    with Sandbox().confine(CLOSED, place.workspace, ["true"], {}):
        pass
    assert not (place.workspace / ".git").exists()


def test_a_temporary_directory_that_holds_the_home_is_none(place: Place) -> None:
    """A path like `TMPDIR=$UNSET/` is the whole disk."""
    home = place.outside / "home/me"
    home.mkdir(parents=True)
    for named in ("/", str(place.outside / "home"), str(home), "relative", f"{home}/../me"):
        did = place.run("touch", str(home / "x"), policy=OPEN_TMPDIR, HOME=str(home), TMPDIR=named)
        assert did.exit_code != 0, named
    (home / "tmp").mkdir()
    did = place.run("touch", str(home / "tmp/x"), policy=OPEN_TMPDIR, HOME=str(home), TMPDIR=str(home / "tmp"))
    assert did.exit_code == 0


# --- what the sandbox's own program gets ---------------------------------------------------------------------------


def test_nothing_of_the_clients_environment_is_the_sandboxs_own(place: Place) -> None:
    """The loader of the sandbox's own program would look into the project, or load the libraries that it names."""
    env = {
        "LD_LIBRARY_PATH": "",
        "LD_PRELOAD": str(place.workspace / "evil.so"),
        "PATH": os.environ["PATH"],
        "A": "b c",
    }
    argv = ("sh", "-c", "echo $A $LD_PRELOAD; cat /proc/1/environ; cat /proc/1/cmdline")
    with place.sandbox.confine(CLOSED, place.workspace, argv, env) as inside:
        assert (dict(inside.env), inside.cwd) == ({"PATH": "/usr/bin:/bin"}, Path("/"))
        assert Path(inside.argv[0]).is_absolute()
        assert not any("b c" in part for part in inside.argv)
    did = place.run(*argv, policy=CLOSED, cwd=None, start=None, pins=None, **env)
    assert did.stdout.startswith(f"b c {place.workspace}/evil.so\n")


def test_a_command_has_the_environment_it_was_given_and_the_marks_are_not_its_own_to_set(place: Place) -> None:
    did = place.run("env", A="", Z="two\nlines", GREENROOM_TURN="another")
    told = did.stdout.splitlines()
    assert {"A=", "Z=two", "lines", "GREENROOM_TURN=turn-1"} <= set(told)
    with place.sandbox.confine(CLOSED, place.workspace, ["env"], {}):
        pass
    strange = {"": "x", "A=B": "y", "C": "z", "PATH": os.environ["PATH"]}
    with place.sandbox.confine(CLOSED, place.workspace, ["env"], strange) as inside:
        argv, fds = inside.argv, inside.pass_fds
        seen = subprocess.run(argv, env=dict(inside.env), pass_fds=fds, stdout=subprocess.PIPE, check=True).stdout
    assert b"C=z" in seen
    assert b"A=B" not in seen


def test_more_variables_than_the_sandbox_takes_are_an_error_that_says_so(place: Place) -> None:
    env = {f"V{n}": "x" for n in range(3000)}
    with (
        pytest.raises(OSError, match="3001 environment variables"),
        place.sandbox.confine(CLOSED, place.workspace, ["true"], env),
    ):
        pass


def test_a_nul_in_a_variable_adds_no_mount(place: Place) -> None:
    with (
        pytest.raises(OSError, match="a NUL in it"),
        place.sandbox.confine(CLOSED, place.workspace, ["true"], {"A": "x\0--bind\0/\0/"}),
    ):
        pass


def test_nothing_is_inherited(place: Place) -> None:
    script = "import os; print(sorted(os.listdir('/proc/self/fd')))"
    assert place.python(script, policy=WorkspaceWrite()).stdout == "['0', '1', '2', '3']\n"


def test_an_older_bubblewrap_without_descriptors_is_given_names(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.sandbox = Sandbox()
    monkeypatch.setattr(place.sandbox._implementation, "_by_descriptor", False, raising=False)
    git(place.workspace, "init")
    talk = place.talk()
    assert talk.sh("touch ok; touch .git/hooks/x").exit_code != 0
    assert (place.workspace / "ok").exists()
    assert not (place.workspace / ".git/hooks/x").exists()
