"""Every operation verified against real files before anything is asked, and nothing written."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.events import ApprovalRequested, FilesSubject, UpdatedFile
from actors.vocabulary.ids import CallId
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.work.patch import files
from supervisor.work.patch import plan as plan_module
from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.effort import Effort
from supervisor.work.patch.errors import PatchMismatch, PatchStale, PatchTooLarge
from supervisor.work.patch.grammar import parse
from supervisor.work.patch.plan import PatchPlan, plan_patch
from supervisor.work.reach.readable import Reach
from tests.support.file_tree import file_tree


def planned(cwd: Path, *lines: str, bounds: Bounds = DEFAULTS) -> PatchPlan:
    return plan_patch(parse("\n".join(["*** Begin Patch", *lines, "*** End Patch"])), Reach(cwd), Effort(bounds))


def refusal(cwd: Path, *lines: str, bounds: Bounds = DEFAULTS) -> str:
    """Return the refusal of a patch, after a check that it left no trace."""
    before = file_tree(cwd)
    with pytest.raises((PatchMismatch, PatchTooLarge)) as failure:
        planned(cwd, *lines, bounds=bounds)
    assert file_tree(cwd) == before
    return failure.value.message


def test_a_plan_tells_every_change_and_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("original content\n")
    (tmp_path / "old").write_text("x\n")
    (tmp_path / "here").write_text("1\n2\n3\n")
    before = file_tree(tmp_path)
    plan = planned(
        tmp_path,
        *("*** Update File: f", "-original content", "+modified content"),
        *("*** Delete File: old", "*** Add File: sub/new", "+n"),
        *("*** Update File: ./here", "*** Move to: there", "-2", "+II"),
    )
    assert plan.changes == {
        f"{tmp_path}/f": {
            "update": UpdatedFile(unified_diff="@@ -1 +1 @@\n-original content\n+modified content\n", move_path=None)
        },
        f"{tmp_path}/old": "delete",
        f"{tmp_path}/sub/new": {"add": {"content": "n\n"}},
        f"{tmp_path}/here": {
            "update": UpdatedFile(unified_diff="@@ -1,3 +1,3 @@\n 1\n-2\n+II\n 3\n", move_path=tmp_path / "there")
        },
    }
    assert plan.summary == "Success. Updated the following files:\nA sub/new\nM f\nM there\nD old\n"
    assert set(plan.touched_paths) == {tmp_path / name for name in ("f", "old", "sub/new", "here", "there")}
    assert not plan.empty
    assert file_tree(tmp_path) == before


def test_changes_fit_the_event(tmp_path: Path) -> None:
    plan = planned(tmp_path, "*** Add File: a", "+x")
    event = ApprovalRequested(call_id=CallId("1"), subject=FilesSubject(changes=plan.changes))
    assert event.model_dump(mode="json")["subject"]["changes"] == {f"{tmp_path}/a": {"add": {"content": "x\n"}}}


def test_a_patch_without_operations_is_empty(tmp_path: Path) -> None:
    assert planned(tmp_path).empty


def test_a_file_that_is_written_between_two_looks_is_still_found_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that read the file twice would take the later content for its original."""
    (tmp_path / "f").write_text("a\n")

    def look_and_write(path: Path, most: int) -> files.FileState | None:
        found = files.look_at(path, most)
        (tmp_path / "f").write_text("somebody's work\n")
        return found

    monkeypatch.setattr(plan_module, "look_at", look_and_write)
    plan = planned(tmp_path, "*** Update File: f", "-a", "+b")
    with pytest.raises(PatchStale):
        apply_plan(plan)
    assert (tmp_path / "f").read_text() == "somebody's work\n"


def test_a_missing_file_cannot_be_updated_or_deleted(tmp_path: Path) -> None:
    reason = "No such file or directory (os error 2)"
    updating, deleting = refusal(tmp_path, "*** Update File: a", "-x"), refusal(tmp_path, "*** Delete File: a/b")
    assert updating.startswith(f"Failed to read file to update {tmp_path}/a: {reason}\n")
    assert deleting.startswith(f"Failed to delete file {tmp_path}/a/b: {reason}\n")


def test_a_file_that_is_not_there_is_told_with_what_is_there_instead(tmp_path: Path) -> None:
    (tmp_path / "settings.py").write_text("x\n")
    told = refusal(tmp_path, "*** Update File: setings.py", "-x")
    assert "\nThere is settings.py. Paths are relative to the working directory; a new file is made by" in told
    assert f"the deepest folder that does is {tmp_path}." in refusal(tmp_path, "*** Delete File: src/lib/a.py")


def test_a_file_that_was_added_before_with_the_same_content_is_told_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    assert "with this very content: leave it out" in refusal(tmp_path, "*** Add File: a", "+x")


def test_of_two_places_that_fit_the_first_is_changed_and_the_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nreturn\nb\nreturn\n")
    told = planned(tmp_path, "*** Update File: f", "-return", "+return 1").summary
    note = f"note: change 1 of {tmp_path}/f fits at line 2 and at line 4 as they were"
    assert told.startswith(f"Success. Updated the following files:\nM f\n{note}")
    assert "note" not in planned(tmp_path, "*** Update File: f", "@@ b", "-return", "+return 1").summary


def test_an_existing_file_is_never_added_over(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("precious")
    message = refusal(tmp_path, "*** Add File: a", "+x")
    assert message == f"Failed to write file {tmp_path}/a: it exists already; update it, or delete it first"


def test_a_file_is_not_moved_onto_another(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    (tmp_path / "b").write_text("y\n")
    assert "b: it exists already" in refusal(tmp_path, "*** Update File: a", "*** Move to: b", "-x", "+z")


def test_a_file_is_not_moved_onto_itself(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    assert "a: it exists already" in refusal(tmp_path, "*** Update File: a", "*** Move to: ./a", "-x", "+z")


def test_one_operation_that_does_not_fit_refuses_the_patch(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    message = refusal(tmp_path, "*** Add File: new", "+x", "*** Update File: f", "-b", "+c")
    assert message.startswith(f'Failed to find expected lines ["b"] in {tmp_path}/f\n')


def test_text_that_is_not_utf8_is_not_updated_but_may_be_deleted(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    message = refusal(tmp_path, "*** Update File: latin", "+x")
    assert message == f"Failed to read file to update {tmp_path}/latin: it is not valid UTF-8 text"
    assert planned(tmp_path, "*** Delete File: latin").changes == {f"{tmp_path}/latin": "delete"}


def test_a_path_that_is_no_ordinary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    os.mkfifo(tmp_path / "fifo")
    assert refusal(tmp_path, "*** Update File: dir", "+x").endswith("dir: Is a directory (os error 21)")
    assert refusal(tmp_path, "*** Delete File: dir").endswith("dir: Is a directory (os error 21)")
    assert refusal(tmp_path, "*** Add File: dir", "+x").endswith("dir: Is a directory (os error 21)")
    assert refusal(tmp_path, "*** Update File: fifo", "+x").endswith("fifo: it is not an ordinary file")
    assert refusal(tmp_path, "*** Update File: /dev/null", "+x").startswith("/dev/null is not on a disk")
    assert refusal(tmp_path, "*** Add File: fifo/x", "+x").endswith("Not a directory (os error 20)")


@pytest.mark.parametrize("path", ["/", ".", "..", "x/", "\0", "a\0b", "n" * 300])
def test_a_text_that_cannot_name_a_file_is_refused(tmp_path: Path, path: str) -> None:
    assert refusal(tmp_path, f"*** Add File: {path}!"[:-1] if path != "." else "*** Add File: .", "+x")


def test_a_file_too_large_to_hold_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("0123456789\n")
    told = refusal(tmp_path, "*** Update File: f", "+x", bounds=Bounds(patch_bytes=10))
    assert told == (
        f"Failed to read file to update {tmp_path}/f: it has 11 bytes, and 10 are left: the bound is 10 "
        "(greenroom.limits.patch_bytes in the configuration); use several smaller patches"
    )


@pytest.mark.timeout(10)
def test_a_file_that_becomes_another_while_it_is_looked_at_is_judged_by_what_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.stat

    def swapped_after(make: Callable[[Path], object]) -> str:
        (tmp_path / "f").write_text("x\n")

        def stat_and_swap(*args: Any, **kwargs: Any) -> os.stat_result:
            found = real(*args, **kwargs)
            (tmp_path / "f").unlink()
            make(tmp_path / "f")
            return found

        with monkeypatch.context() as patched:
            patched.setattr(os, "stat", stat_and_swap)
            with pytest.raises((PatchMismatch, PatchTooLarge)) as failure:
                planned(tmp_path, "*** Update File: f", "-x", "+y", bounds=Bounds(patch_bytes=10))
        (tmp_path / "f").unlink()
        return failure.value.message

    assert swapped_after(os.mkfifo).endswith("f: it is not an ordinary file")
    assert "f: it has 16 bytes, and 10 are left" in swapped_after(lambda path: path.write_text("larger than that"))
    assert "symbolic links" in swapped_after(lambda path: path.symlink_to("/etc/passwd"))


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("x\n")
    real = os.fstat

    def stat_and_grow(descriptor: int) -> os.stat_result:
        found = real(descriptor)
        with (tmp_path / "f").open("a") as file:
            file.write("more than it may hold")
        return found

    monkeypatch.setattr(os, "fstat", stat_and_grow)
    with pytest.raises(PatchTooLarge, match="it is larger than 10 bytes"):
        planned(tmp_path, "*** Update File: f", "-x", "+y", bounds=Bounds(patch_bytes=10))


def test_a_write_protected_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x\n")
    (tmp_path / "f").chmod(0o444)
    assert refusal(tmp_path, "*** Update File: f", "-x", "+y").endswith("f: it is write-protected")
    assert refusal(tmp_path, "*** Delete File: f").endswith("f: it is write-protected")


# --- links ---------------------------------------------------------------------------------------------------------


def test_a_link_is_refused_and_its_target_named(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("x\n")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    expected = "it is a symbolic link to real; patch that file itself"
    assert refusal(tmp_path, "*** Update File: link", "-x", "+y").endswith(expected)
    assert refusal(tmp_path, "*** Delete File: link").endswith(expected)
    assert refusal(tmp_path, "*** Add File: link", "+y").endswith(expected)
    assert "symbolic link to nowhere" in refusal(tmp_path, "*** Add File: dangling", "+y")


def test_a_path_through_a_link_is_shown_and_judged_as_where_it_leads(tmp_path: Path) -> None:
    inside, outside = tmp_path / "w", tmp_path / "elsewhere"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    plan = planned(inside, "*** Add File: link/f", "+x")
    assert plan.touched_paths == (outside / "f",)
    assert list(plan.changes) == [str(outside / "f")]


def test_a_working_directory_that_is_a_link_is_shown_as_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "w").symlink_to("real")
    plan = planned(tmp_path / "w", "*** Add File: f", "+x")
    assert list(plan.changes) == [f"{tmp_path}/w/f"]
    assert plan.touched_paths == (tmp_path / "real/f",)


def test_dots_are_taken_as_text_before_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "w").mkdir()
    (tmp_path / "far/away").mkdir(parents=True)
    (tmp_path / "w/link").symlink_to(tmp_path / "far/away")
    plan = planned(tmp_path / "w", "*** Add File: link/../f", "+x", "*** Add File: ../g", "+x")
    assert plan.touched_paths == (tmp_path / "w/f", tmp_path / "g")
    assert list(plan.changes) == [f"{tmp_path}/w/f", f"{tmp_path}/g"]


def test_an_absolute_path_is_what_it_says(tmp_path: Path) -> None:
    assert planned(tmp_path / "w", f"*** Add File: /{tmp_path}/f", "+x").touched_paths == (tmp_path / "f",)


# --- one path, several operations ----------------------------------------------------------------------------------


def test_updates_of_one_file_follow_each_other_and_are_one_change(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    plan = planned(tmp_path, "*** Update File: f", "-a", "+b", "*** Update File: ./f", "-b", "+c")
    diff = UpdatedFile(unified_diff="@@ -1 +1 @@\n-a\n+c\n", move_path=None)
    assert plan.changes == {f"{tmp_path}/f": {"update": diff}}
    assert plan.summary.endswith("\nM f\n")


def test_delete_and_add_is_an_update_that_keeps_the_mode(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\n")
    (tmp_path / "f").chmod(0o755)
    plan = planned(tmp_path, "*** Delete File: f", "*** Add File: f", "+b")
    diff = UpdatedFile(unified_diff="@@ -1 +1 @@\n-a\n+b\n", move_path=None)
    assert plan.changes == {f"{tmp_path}/f": {"update": diff}}
    assert plan.edits[0].after == files.FileState(b"b\n", 0o755)


def test_a_file_that_is_added_may_be_updated_and_deleted_again(tmp_path: Path) -> None:
    added = ("*** Add File: f", "+a", "*** Update File: f", "-a", "+b")
    assert planned(tmp_path, *added).changes == {f"{tmp_path}/f": {"add": {"content": "b\n"}}}
    plan = planned(tmp_path, *added, "*** Delete File: f")
    assert plan.changes == {}
    assert not plan.empty


def test_a_file_is_added_once_and_deleted_once(tmp_path: Path) -> None:
    (tmp_path / "d").write_text("")
    assert "exists already" in refusal(tmp_path, "*** Add File: f", "+a", "*** Add File: f", "+b")
    assert "No such file" in refusal(tmp_path, "*** Delete File: d", "*** Delete File: d")


@pytest.mark.parametrize(
    "other",
    [
        ("*** Delete File: a",),
        ("*** Update File: b", "-y", "+z"),
        ("*** Add File: b", "+z"),
        ("*** Update File: c", "*** Move to: b", "-c", "+d"),
    ],
)
def test_a_path_that_moves_is_named_once(tmp_path: Path, other: tuple[str, ...]) -> None:
    (tmp_path / "a").write_text("x\n")
    (tmp_path / "c").write_text("c\n")
    move = ("*** Update File: a", "*** Move to: b", "-x", "+y")
    assert "is moved and named again in one patch" in refusal(tmp_path, *move, *other)


def test_a_path_that_was_touched_does_not_move(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    move = ("*** Update File: a", "*** Move to: b", "-y", "+z")
    assert "is moved and named again" in refusal(tmp_path, "*** Update File: a", "-x", "+y", *move)
