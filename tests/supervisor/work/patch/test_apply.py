"""A plan on disk: all of it, or the tree as it was to the byte."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.errors import PatchFailed, PatchMismatch, PatchStale
from supervisor.work.patch.files import TEMPORARY_PREFIX
from supervisor.work.patch.grammar import parse
from supervisor.work.patch.plan import PatchPlan, plan_patch
from supervisor.work.reach.readable import Reach
from tests.support.file_tree import file_tree

WRITES = ("mkdir", "open", "write", "fchmod", "link", "replace", "rename", "unlink")


def planned(cwd: Path, *lines: str) -> PatchPlan:
    return plan_patch(parse("\n".join(["*** Begin Patch", *lines, "*** End Patch"])), Reach(cwd))


def everything(root: Path) -> PatchPlan:
    """Plan a patch that does each kind of thing, in a tree made for it."""
    (root / "f").write_text("1\n2\n")
    (root / "f").chmod(0o754)
    (root / "old").write_bytes(b"\xff\0")
    (root / "old").chmod(0o640)
    (root / "src").mkdir()
    (root / "src/here").write_text("x\n")
    (root / "src/here").chmod(0o755)
    return planned(
        root,
        *("*** Update File: f", "-2", "+II"),
        *("*** Add File: a/b/new", "+n", "*** Delete File: old"),
        *("*** Update File: src/here", "*** Move to: a/c/there", "-x", "+y"),
    )


def test_every_kind_of_operation_is_applied_and_modes_are_kept(tmp_path: Path) -> None:
    plan = everything(tmp_path)
    assert apply_plan(plan) == "Success. Updated the following files:\nA a/b/new\nM f\nM a/c/there\nD old\n"
    files = {name: held for name, (_, held) in file_tree(tmp_path).items() if (tmp_path / name).is_file()}
    assert files == {"f": b"1\nII\n", "a/b/new": b"n\n", "a/c/there": b"y\n"}
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o754
    assert (tmp_path / "a/c/there").stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("umask", [0o022, 0o002, 0o027, 0o077, 0])
def test_new_files_and_folders_get_the_mode_that_the_umask_leaves(tmp_path: Path, umask: int) -> None:
    """The client's umask counts, not that of this process, which is stricter."""
    tmp_path.chmod(0o2755)
    before = os.umask(0o077)
    try:
        apply_plan(planned(tmp_path, "*** Add File: f", "+x", "*** Add File: a/b/c", "+x"), umask)
    finally:
        os.umask(before)
    modes = [(tmp_path / name).stat().st_mode & 0o7777 for name in ("f", "a/b/c", "a", "a/b")]
    assert modes == [0o666 & ~umask, 0o666 & ~umask, 0o2777 & ~umask, 0o2777 & ~umask]


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    def held() -> int:
        return sum(1 for _ in Path("/dev/fd").iterdir())

    before = held()
    apply_plan(everything(tmp_path))
    assert held() == before


# --- between the plan and the writing ------------------------------------------------------------------------------


def change_content(root: Path) -> None:
    (root / "f").write_text("1\n2\nmine\n")


def change_content_to_the_same_length(root: Path) -> None:
    (root / "f").write_text("3\n2\n")


def delete(root: Path) -> None:
    (root / "f").unlink()


def become_a_directory(root: Path) -> None:
    (root / "f").unlink()
    (root / "f").mkdir()


def become_a_link(root: Path) -> None:
    (root / "f").rename(root / "g")
    (root / "f").symlink_to("g")


def become_a_fifo(root: Path) -> None:
    (root / "f").unlink()
    os.mkfifo(root / "f")


def make_the_new_file(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/new").write_text("mine")


def make_the_new_file_a_dangling_link(root: Path) -> None:
    (root / "a/b").mkdir(parents=True)
    (root / "a/b/new").symlink_to("/nowhere")


def make_the_target_of_the_move(root: Path) -> None:
    (root / "a/c").mkdir(parents=True)
    (root / "a/c/there").write_text("mine")


def change_what_is_to_be_deleted(root: Path) -> None:
    (root / "old").write_text("mine")


def change_what_is_to_be_moved(root: Path) -> None:
    (root / "src/here").write_text("mine\n")


def take_the_folder_away(root: Path) -> None:
    (root / "src").rename(root / "elsewhere")


MEDDLING = (
    change_content,
    change_content_to_the_same_length,
    delete,
    become_a_directory,
    become_a_link,
    become_a_fifo,
    make_the_new_file,
    make_the_new_file_a_dangling_link,
    make_the_target_of_the_move,
    change_what_is_to_be_deleted,
    change_what_is_to_be_moved,
    take_the_folder_away,
)


@pytest.mark.parametrize("meddle", MEDDLING, ids=lambda meddle: meddle.__name__)
def test_a_file_that_changed_since_the_plan_refuses_the_whole_patch(
    tmp_path: Path, meddle: Callable[[Path], None]
) -> None:
    plan = everything(tmp_path)
    meddle(tmp_path)
    before = file_tree(tmp_path)
    with pytest.raises(
        PatchStale, match="has changed since the patch was verified and has to be read again; nothing was written"
    ):
        apply_plan(plan)
    assert file_tree(tmp_path) == before


def test_a_folder_that_became_a_link_leads_nowhere(tmp_path: Path) -> None:
    inside, outside = tmp_path / "w", tmp_path / "outside"
    (inside / "sub").mkdir(parents=True)
    outside.mkdir()
    (inside / "sub/f").write_text("x\n")
    (outside / "f").write_text("x\n")
    plan = planned(inside, "*** Update File: sub/f", "-x", "+y", "*** Add File: sub/new", "+n")
    (inside / "sub").rename(inside / "moved")
    (inside / "sub").symlink_to(outside)
    before = file_tree(tmp_path)
    with pytest.raises(PatchFailed, match=r"^Failed to write file sub/f: Not a directory"):
        apply_plan(plan)
    assert file_tree(tmp_path) == before


def test_a_mode_that_changed_since_the_plan_is_kept(tmp_path: Path) -> None:
    plan = everything(tmp_path)
    (tmp_path / "f").chmod(0o700)
    apply_plan(plan)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o700


class Meddler:
    """Runs `meddle` just before the n-th time that apply gives a file its new content or takes it away."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, meddle: Callable[[], object]) -> None:
        self.done = False
        self._meddle = meddle
        for name in ("replace", "unlink"):
            monkeypatch.setattr(os, name, self._before(getattr(os, name)))

    def _before(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def meddled(*args: Any, **kwargs: Any) -> Any:
            if not self.done:
                self.done = True
                self._meddle()
            return real(*args, **kwargs)

        return meddled


@pytest.mark.parametrize("header", [("*** Update File: f", "-1", "+I"), ("*** Delete File: f",)])
def test_a_last_moment_write_into_the_old_file_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, header: tuple[str, ...]
) -> None:
    (tmp_path / "f").write_text("1\n")
    plan = planned(tmp_path, *header)
    with monkeypatch.context() as patched:
        Meddler(patched, lambda: (tmp_path / "f").write_text("somebody's work\n"))
        with pytest.raises(PatchStale):
            apply_plan(plan)
    assert file_tree(tmp_path) == {"f": ((tmp_path / "f").lstat().st_mode, b"somebody's work\n")}


# --- failures at every step ----------------------------------------------------------------------------------------


def disk_full() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class DiskFails:
    """The n-th call that would change the disk fails once, as on a full disk; the undoing works again."""

    def __init__(self, nth: int, fail: Callable[[], object] = disk_full) -> None:
        self.calls = 0
        self._nth = nth
        self._fail = fail

    @contextmanager
    def here(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in WRITES:
                patch.setattr(os, name, self._counted(getattr(os, name)))
            yield

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            reads = real.__name__ == "open" and not args[1] & os.O_CREAT
            if not reads:
                self.calls += 1
                if self.calls == self._nth:
                    self._fail()
            return real(*args, **kwargs)

        return counted


def test_a_failure_at_any_step_leaves_the_tree_as_it_was(tmp_path: Path) -> None:
    failed = 0
    for nth in range(1, 100):
        root = tmp_path / str(nth)
        root.mkdir()
        plan = everything(root)
        before = file_tree(root)
        disk = DiskFails(nth)
        try:
            with disk.here():
                apply_plan(plan)
        except PatchFailed as error:
            failed += 1
            assert error.message.startswith("Failed to ")  # noqa: PT017 - some steps have a second way, and succeed
            assert error.message.endswith("No space left on device (os error 28); nothing was written")  # noqa: PT017
            assert file_tree(root) == before
        if disk.calls < nth:
            break
    # 3 folders made, 3 files opened and 3 written, 6 modes set, 1 file replaced, 2 deleted. A failing link has an
    # alternative, and a temporary file that can't be deleted is no failure.
    assert failed == 18


def killed_at_each_step(root: Path) -> None:
    """Apply in a child that kills itself just before its n-th change; in a process of its own, because it forks."""
    for nth in range(1, 100):
        here = root / str(nth)
        here.mkdir()
        plan = everything(here)
        child = os.fork()
        if child == 0:
            with DiskFails(nth, lambda: os.kill(os.getpid(), signal.SIGKILL)).here():
                apply_plan(plan)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            return


def test_a_kill_in_the_middle_leaves_whole_files_and_temporary_ones(tmp_path: Path) -> None:
    program = f"from {__name__} import *; killed_at_each_step(Path({str(tmp_path)!r}))"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30, cwd=Path(__file__).parents[4])
    whole = {
        "f": (b"1\n2\n", b"1\nII\n"),
        "old": (b"\xff\0",),
        "src/here": (b"x\n",),
        "a/b/new": (b"n\n",),
        "a/c/there": (b"y\n",),
    }
    roots = list(tmp_path.iterdir())
    assert len(roots) > 14
    for root in roots:
        for name, (_, held) in file_tree(root).items():
            if (root / name).is_file() and TEMPORARY_PREFIX not in name:
                assert held in whole[name]


def test_an_interrupt_of_the_program_puts_everything_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = everything(tmp_path)
    before = file_tree(tmp_path)

    def interrupted() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        Meddler(patched, interrupted)
        with pytest.raises(KeyboardInterrupt):
            apply_plan(plan)
    assert file_tree(tmp_path) == before


def test_a_disk_without_links_is_served_by_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = everything(tmp_path)

    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    apply_plan(plan)
    assert (tmp_path / "a/b/new").read_text() == "n\n"
    assert (tmp_path / "f").read_text() == "1\nII\n"


def test_a_disk_without_links_puts_everything_back_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = everything(tmp_path)
    before = file_tree(tmp_path)

    def no_links(*_: Any, **__: Any) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    moved = plan.edits[-1].path.real
    real = os.rename

    def fails_at_last(source: Any, target: Any, **kwargs: Any) -> None:
        if target == moved.name:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(source, target, **kwargs)

    monkeypatch.setattr(os, "rename", fails_at_last)
    with pytest.raises(PatchFailed, match="a/c/there"):
        apply_plan(plan)
    assert file_tree(tmp_path) == before


def test_a_new_name_is_never_taken_from_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program makes the file after the last look and before the link."""
    plan = planned(tmp_path, "*** Add File: f", "+x")
    real = os.link

    def late(source: Any, target: Any, **kwargs: Any) -> None:
        (tmp_path / "f").write_text("mine")
        real(source, target, **kwargs)

    monkeypatch.setattr(os, "link", late)
    with pytest.raises(PatchStale):
        apply_plan(plan)
    assert (tmp_path / "f").read_text() == "mine"


def test_a_file_that_cannot_be_restored_is_named_and_its_backup_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_text("1\n")
    (tmp_path / "b").write_text("1\n")
    plan = planned(tmp_path, "*** Update File: a", "-1", "+2", "*** Update File: b", "-1", "+2")
    real = os.replace
    calls = 0

    def dies(*args: Any, **kwargs: Any) -> None:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        real(*args, **kwargs)

    monkeypatch.setattr(os, "replace", dies)
    with pytest.raises(
        PatchFailed,
        match=r"\(os error 5\); could not put back a: Input/output error; see the files \.greenroom",
    ):
        apply_plan(plan)
    backups = [held for name, (_, held) in file_tree(tmp_path).items() if name.startswith(TEMPORARY_PREFIX)]
    assert b"1\n" in backups


# --- any tree, any patch -------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["a", "b", "d/a", "d/b", "d/e/c"])
CONTENT = st.lists(st.sampled_from(["x", "y", " z", ""]), max_size=4).map(
    lambda lines: "".join(x + "\n" for x in lines)
)


@st.composite
def operation(draw: st.DrawFn) -> tuple[str, ...]:
    name = draw(NAMES)
    match draw(st.integers(0, 3)):
        case 0:
            return (f"*** Add File: {name}", *("+" + line for line in draw(CONTENT).splitlines()))
        case 1:
            return (f"*** Delete File: {name}",)
        case 2:
            return (f"*** Update File: {name}", "+new")
        case _:
            return (f"*** Update File: {name}", f"*** Move to: {draw(NAMES)}", "+moved")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.dictionaries(NAMES, CONTENT, min_size=2, max_size=5),
    st.lists(operation(), min_size=1, max_size=4),
    st.integers(1, 60),
)
def test_any_patch_is_applied_as_planned_or_not_at_all(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, str], operations: list[tuple[str, ...]], nth: int
) -> None:
    root = tmp_path_factory.mktemp("any")
    for name, content in tree.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    before = file_tree(root)
    try:
        plan = planned(root, *(line for lines in operations for line in lines))
    except PatchMismatch:
        assert file_tree(root) == before
        return
    try:
        with DiskFails(nth).here():
            apply_plan(plan)
    except PatchFailed:
        assert file_tree(root) == before
        return
    expected = {name: held for name, (_, held) in before.items() if (root / name).is_file()}
    for edit in plan.edits:
        expected.pop(str(edit.path.real.relative_to(root)), None)
        if edit.after is not None:
            expected[str(edit.path.real.relative_to(root))] = edit.after.data
    # If the failing call deleted a temporary file, the patch stands and that file stays.
    files = {name: held for name, (_, held) in file_tree(root).items() if (root / name).is_file()}
    assert {name: held for name, held in files.items() if TEMPORARY_PREFIX not in name} == expected
