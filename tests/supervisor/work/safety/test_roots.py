"""The paths that a patch may write unasked: in the roots of its conversation, but not where programs are named."""

from pathlib import Path

import pytest

from actors.vocabulary.settings import ReadOnly, SandboxPolicy, WorkspaceWrite
from supervisor.disk.pins import pins_of
from supervisor.work.safety.roots import are_writable
from supervisor.work.sandbox.roots import Protection, open_roots

NOTHING = Protection()


class Ground:
    """A home for roots that exist, as a conversation's must."""

    def __init__(self, base: Path, protection: Protection = NOTHING) -> None:
        self.base = base
        self.protection = protection

    def folders(self, *names: str) -> None:
        for name in names:
            (self.base / name).mkdir(parents=True)

    def covered(self, policy: SandboxPolicy, cwd: str, *paths: str, tmpdir: str | None = None) -> list[bool]:
        pins = pins_of(policy, self.base / cwd, self.base / tmpdir if tmpdir else None)
        with open_roots(policy, self.base / cwd, pins, self.protection) as roots:
            return [are_writable(roots, [self.base / path]) for path in paths]


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


CLOSED = WorkspaceWrite(exclude_slash_tmp=True)  # tests live in /tmp themselves


def test_read_only_covers_nothing(ground: Ground) -> None:
    assert ground.covered(ReadOnly(), "", "f", "/etc/passwd", ".git/config") == [False, False, False]


def test_workspace_write_covers_its_roots_and_the_temporary_directories(ground: Ground) -> None:
    ground.folders("w/here", "w/beside", "more", "mine", "w/herefore")
    policy = CLOSED.model_copy(update={"writable_roots": (ground.base / "more", Path("../beside"))})
    inside = ("w/here/f", "more/d/f", "w/beside/f", "mine/f")
    outside = ("w/f", "w/herefore/f", "f", "/var/f", "/etc/passwd")
    assert ground.covered(policy, "w/here", *inside, tmpdir="mine") == [True] * len(inside)
    assert ground.covered(policy, "w/here", *outside, tmpdir="mine") == [False] * len(outside)
    assert ground.covered(WorkspaceWrite(), "w/here", "/tmp/f") == [True]


def test_one_path_outside_makes_the_whole_outside(ground: Ground) -> None:
    ground.folders("w")
    with open_roots(CLOSED, ground.base / "w", pins_of(CLOSED, ground.base / "w", None), NOTHING) as roots:
        assert are_writable(roots, [ground.base / "w/f", ground.base / "w/g"])
        assert not are_writable(roots, [ground.base / "w/f", Path("/etc/passwd")])


def test_the_temporary_directories_may_be_excluded(ground: Ground) -> None:
    ground.folders("w", "mine")
    policy = WorkspaceWrite(exclude_tmpdir_env_var=True, exclude_slash_tmp=True)
    assert ground.covered(policy, "w", "/tmp/f", "mine/f", "w/f", tmpdir="mine") == [False, False, True]


@pytest.mark.parametrize("path", [".git", ".git/hooks/pre-commit", ".GIT/config", "sub/.git/config", "sub/.Git"])
def test_repositories_below_a_root_are_closed(ground: Ground, path: str) -> None:
    assert ground.covered(CLOSED, "", path) == [False]


@pytest.mark.parametrize(
    "path", [".hg/hgrc", "sub/.jj/repo/config.toml", ".HG/hgrc", "x/_darcs/prefs/defaults", ".repo/repo/x"]
)
def test_so_is_what_leads_another_system(ground: Ground, path: str) -> None:
    assert ground.covered(CLOSED, "", path) == [False]


@pytest.mark.parametrize("path", [".hg/store/x", "hgrc", ".jj/repo/store", "_darcs/prefs", "sub/.hg"])
def test_all_else_of_it_is_open(ground: Ground, path: str) -> None:
    assert ground.covered(CLOSED, "", path) == [True]


@pytest.mark.parametrize("path", ["HEAD", "config/HEAD"])
def test_a_head_is_closed_where_it_would_make_the_project_a_repository(ground: Ground, path: str) -> None:
    assert ground.covered(CLOSED, "", path) == [path != "HEAD"]


@pytest.mark.parametrize("path", [".gitignore", ".github/f", "a.git/f", "config", "sub/refs/f", "objects/f"])
def test_a_directory_that_only_looks_like_a_repository_is_open(ground: Ground, path: str) -> None:
    assert ground.covered(CLOSED, "", path) == [True]


@pytest.mark.parametrize("folder", ["", "sub"])
def test_a_folder_that_would_become_a_repository_without_a_git_directory_is_closed(
    ground: Ground, folder: str
) -> None:
    place = ground.base / folder
    with open_roots(CLOSED, ground.base, pins_of(CLOSED, ground.base, None), NOTHING) as roots:
        whole = [place / name for name in ("HEAD", "config", "objects/x", "refs/x")]
        assert not are_writable(roots, whole)
        assert are_writable(roots, whole[1:])
        (place / "objects").mkdir(parents=True)
        (place / "refs").mkdir()
        assert not are_writable(roots, [place / "HEAD"])
        (place / "HEAD").write_text("ref: refs/heads/main\n")
        assert not are_writable(roots, [place / "config"])
        assert not are_writable(roots, [place / "hooks/pre-commit"])
        assert are_writable(roots, [place / "readme"])


def test_a_repository_whose_objects_lie_elsewhere_is_closed_too(ground: Ground) -> None:
    with open_roots(CLOSED, ground.base, pins_of(CLOSED, ground.base, None), NOTHING) as roots:
        assert not are_writable(roots, [ground.base / "sub/HEAD", ground.base / "sub/commondir"])


def test_files_that_greenroom_believes_are_closed_also_when_missing(ground: Ground) -> None:
    ground.folders("state")
    ground.protection = Protection(
        closed=(ground.base / "state", ground.base / "later"),
        files=(ground.base / "codex/config.toml", Path("instructions.md")),
        hidden=(ground.base / "run",),
    )
    closed = ("state/lock", "later/f", "codex/config.toml", "instructions.md", "run/socket", "STATE/lock")
    assert ground.covered(CLOSED, "", *closed) == [False] * len(closed)
    assert ground.covered(CLOSED, "", "codex/other", "f") == [True, True]


def test_folders_of_hooks_and_included_configuration_are_closed(ground: Ground) -> None:
    ground.folders(".git")
    (ground.base / ".git/config").write_text(
        '[core] ; where\n\thooksPath = "hooks here" # yes\n[include]\npath = ../more.ini\n', encoding="utf-8"
    )
    (ground.base / "more.ini").write_text("[Core]\nhookspath = .husky/_\n", encoding="utf-8")
    closed = ("hooks here/pre-commit", "more.ini", ".husky/pre-commit", ".husky/_/x")
    assert ground.covered(CLOSED, "", *closed, "hooks/f") == [False] * len(closed) + [True]


@pytest.mark.parametrize("named", ["..", "/", "."])
def test_a_folder_of_hooks_above_the_root_does_not_close_it(ground: Ground, named: str) -> None:
    ground.folders("w/.git")
    (ground.base / "w/.git/config").write_text(f"[core]\nhooksPath = {named}\n", encoding="utf-8")
    assert ground.covered(CLOSED, "w", "w/f") == [True]


def test_a_link_in_a_temporary_directory_closes_nobody_elses_project(ground: Ground) -> None:
    ground.folders("project", "scratch")
    (ground.base / "scratch/.git").symlink_to(ground.base / "project")
    told = ground.covered(CLOSED, "project", "project/f", "scratch/f", "scratch/.git/config", tmpdir="scratch")
    assert told == [True, True, False]


def test_roots_are_resolved_and_so_is_their_repository(ground: Ground) -> None:
    ground.folders("real/store")
    (ground.base / "link").symlink_to("real")
    (ground.base / "real/.git").symlink_to("store")
    assert ground.covered(CLOSED, "link", "real/f", "link/f", "real/store/config") == [True, False, False]
