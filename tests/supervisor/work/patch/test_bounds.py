"""The cost of one patch, and the size of its report: each bound is met by a refusal that names it."""

import asyncio
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from actors.vocabulary.events import FilesSubject, WorkBegan
from actors.vocabulary.ids import CallId
from supervisor.agents.own.tools.patching import _plan
from supervisor.config.bounds import Bounds
from supervisor.loop.worker_job import JobStopped, WorkerJob, in_worker
from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.diff import diff_lines
from supervisor.work.patch.effort import Effort
from supervisor.work.patch.errors import PatchMismatch, PatchTooLarge
from supervisor.work.patch.files import FileState
from supervisor.work.patch.grammar import parse
from supervisor.work.patch.plan import PatchPlan, plan_patch
from supervisor.work.patch.turn_diff import TurnChanges, git_diff_lines
from supervisor.work.reach.readable import Reach
from tests.supervisor.work.commands import limited
from tests.support.file_tree import file_tree

SPARSE = 16 << 20


class NobodyWaits(Exception):
    pass


def planned(cwd: Path, *lines: str, bounds: Bounds | None = None, effort: Effort | None = None) -> PatchPlan:
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    return plan_patch(parse(text), Reach(cwd), effort or Effort(bounds or Bounds()))


def refused(cwd: Path, key: str, *lines: str, bounds: Bounds | None = None) -> None:
    before = file_tree(cwd)
    with pytest.raises(PatchTooLarge, match=rf"greenroom\.limits\.{key} .*several smaller patches"):
        planned(cwd, *lines, bounds=bounds)
    assert file_tree(cwd) == before


def sparse(path: Path, size: int = SPARSE) -> None:
    with path.open("wb") as file:
        file.truncate(size)


def test_files_without_content_count_by_their_size_all_together(tmp_path: Path) -> None:
    for number in range(60):
        sparse(tmp_path / f"f{number}")
    with pytest.raises(PatchTooLarge, match=r"f2: it has 16777216 bytes, and 0 are left"):
        planned(tmp_path, *(f"*** Delete File: f{number}" for number in range(60)))


def test_written_bytes_count_with_read_ones(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("0123456789\n")
    update = ("*** Update File: f", "-0123456789", "+9876543210")
    planned(tmp_path, *update, bounds=Bounds(patch_bytes=22))
    refused(tmp_path, "patch_bytes", *update, bounds=Bounds(patch_bytes=21))
    refused(tmp_path, "patch_bytes", "*** Add File: g", "+0123456789", bounds=Bounds(patch_bytes=10))


def test_files_and_the_directories_that_lead_to_them_are_counted(tmp_path: Path) -> None:
    refused(tmp_path, "patch_files", *(line for at in range(400) for line in (f"*** Add File: d{at}/f", "+x")))
    refused(tmp_path, "patch_files", f"*** Add File: {'a/' * 1000}f", "+x")


def test_a_path_of_hundreds_of_directories_is_made_and_one_beyond_the_kernels_bound_is_refused(
    tmp_path: Path,
) -> None:
    deep = "a/" * 400 + "f"
    apply_plan(planned(tmp_path, f"*** Add File: {deep}", "+x"))
    assert (tmp_path / deep).read_text() == "x\n"
    with pytest.raises(PatchMismatch, match="longer than a path can be"):
        planned(tmp_path, f"*** Add File: {'a/' * 5000}f", "+x")


def test_lines_are_counted_before_they_are_looked_at(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x\n" * 1_000_000)
    began = time.process_time()
    refused(tmp_path, "patch_lines", "*** Update File: f", *[" x"] * 1000, "-y", "+z")
    assert time.process_time() - began < 4.0


def test_equal_lines_with_a_long_context_are_found_or_not_at_once(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x\n" * 100_000 + "y\n" + "x\n" * 20_000)
    began = time.process_time()
    plan = planned(tmp_path, "*** Update File: f", *[" x"] * 40_000, "-y", "+z")
    assert plan.edits[0].after is not None
    assert plan.edits[0].after.data == b"x\n" * 100_000 + b"z\n" + b"x\n" * 20_000
    with pytest.raises(PatchMismatch, match="Failed to find expected lines"):
        planned(tmp_path, "*** Update File: f", *[" x"] * 40_000, " y", "-y", "+z")
    assert time.process_time() - began < 16.0


def test_a_search_that_takes_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nb\n" * 1000)
    wanted = ("*** Update File: f", *[" a", " b"] * 100, " b", "-b", "+c")
    refused(tmp_path, "patch_compared_lines", *wanted, bounds=Bounds(patch_compared_lines=1000))


def test_many_loose_places_in_a_long_file_are_found(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line  {number} \n" for number in range(50_000)))
    chunks = (line for at in range(0, 50_000, 50) for line in ("@@", f"-line  {at}", f"+{at}"))
    plan = planned(tmp_path, "*** Update File: f", *chunks)
    assert plan.edits[0].after is not None
    assert plan.edits[0].after.data.startswith(b"0\nline  1 \n")


@pytest.mark.parametrize("after", [0, 1, 3, 20])
def test_planning_ends_at_any_step_when_nobody_waits_for_it(tmp_path: Path, after: int) -> None:
    (tmp_path / "f").write_text("".join(f"{number}\n" for number in range(20_000)))
    steps = iter(range(1000))

    def go_on() -> None:
        if next(steps) >= after:
            raise NobodyWaits

    with pytest.raises(NobodyWaits):
        planned(tmp_path, "*** Update File: f", "-19000", "+x", effort=Effort(go_on=go_on))


# --- what is told of it ---------------------------------------------------------------------------------------------


def size_of_begin(plan: PatchPlan) -> int:
    return len(WorkBegan(call_id=CallId("c"), subject=FilesSubject(changes=plan.changes)).model_dump_json())


def test_an_event_shows_the_beginning_of_a_large_file_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("old\n" * 500)
    lines = ("*** Add File: new", *["+new"] * 500, "*** Update File: old", *["-old", "+changed"] * 500)
    plan = planned(tmp_path, *lines, bounds=Bounds(patch_event_bytes=1500))
    content = str(plan.changes[f"{tmp_path}/new"])
    assert "new\\nnew" in content
    assert "[… the rest of 2000 bytes is not shown: greenroom.limits.patch_event_bytes is 1500 …]" in content
    assert "not shown" in str(plan.changes[f"{tmp_path}/old"])
    assert size_of_begin(plan) < 3000
    apply_plan(plan)
    assert (tmp_path / "new").read_text() == "new\n" * 500


def test_no_patch_of_any_content_makes_an_event_beyond_a_quarter_of_a_message(tmp_path: Path) -> None:
    plan = planned(tmp_path, "*** Add File: f", *["+" + "\x01" * 50] * 100_000)
    assert size_of_begin(plan) < 4 << 20
    changes = TurnChanges(tmp_path)
    apply_plan(plan)
    changes.remember(plan)
    assert len(changes.diff()) < 4 << 20


def test_names_that_are_too_long_to_be_told_refuse_the_patch(tmp_path: Path) -> None:
    names = [f"*** Add File: {'n' * 200}{number}" for number in range(20)]
    refused(
        tmp_path, "patch_event_bytes", *(line for name in names for line in (name, "+x")),
        bounds=Bounds(patch_event_bytes=2000),
    )  # fmt: skip


def test_the_diff_of_a_turn_shows_what_fits_and_names_the_rest(tmp_path: Path) -> None:
    (tmp_path / "large").write_text("some words\n" * 500_000)
    changes = TurnChanges(tmp_path, Bounds(patch_event_bytes=2000))
    plan = planned(tmp_path, "*** Delete File: large")
    apply_plan(plan)
    changes.remember(plan)
    told = changes.diff()
    assert told.startswith("diff --git a/large b/large\ndeleted file mode 100644\n")
    assert told.endswith(
        "\\ [… the rest of 5500000 bytes is not shown: greenroom.limits.patch_event_bytes is 2000 …]\n"
    )
    assert len(told) < 3000


def test_the_files_that_a_turn_remembers_are_bounded_and_the_rest_counted(tmp_path: Path) -> None:
    changes = TurnChanges(tmp_path, Bounds(patch_bytes=25))
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("0123456789\n")
        plan = planned(tmp_path, f"*** Delete File: {name}")
        apply_plan(plan)
        changes.remember(plan)
    assert changes.diff().endswith("\\ [… 1 more files are not shown …]\n")


def test_a_file_of_nuls_is_binary_as_for_git() -> None:
    told = "".join(git_diff_lines("f", FileState(b"\0" * 1000, 0o644), None))
    assert told.endswith("Binary files a/f and /dev/null differ\n")


def texts_that_take_long() -> Iterator[tuple[str, str]]:
    yield "".join(f"{at % 70}\n" for at in range(20_000)), "".join(f"{at * 31 % 70}\n" for at in range(20_000))
    yield "".join(f"{at}\n" for at in range(8_000)), "".join(f"{at}\n" for at in reversed(range(8_000)))


@pytest.mark.parametrize(("old", "new"), list(texts_that_take_long()), ids=["repeated", "reversed"])
def test_texts_that_differ_too_much_are_told_as_one_that_goes_and_one_that_comes(old: str, new: str) -> None:
    began = time.process_time()
    told = "".join(diff_lines(old, new, 1))
    assert time.process_time() - began < 5.0
    lines = told.splitlines(keepends=True)
    assert "".join(line[1:] for line in lines if line[0] in " -") == old
    assert "".join(line[1:] for line in lines if line[0] in " +") == new


def test_a_plan_that_is_being_made_ends_with_the_turn_that_wanted_it(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("".join(f"line  {number} \n" for number in range(100_000)))
    chunks = [line for at in range(0, 100_000, 5) for line in ("@@", f"-line  {at}", f"+{at}")]
    text = "\n".join(["*** Begin Patch", "*** Update File: f", *chunks, "*** End Patch"])
    begun, outcomes = threading.Event(), []

    def work(job: WorkerJob) -> None:
        begun.set()
        try:
            _plan(job, text, Reach(tmp_path), Bounds())
        except JobStopped:
            outcomes.append("stopped")

    async def scene() -> None:
        task = asyncio.create_task(in_worker(work))
        await asyncio.to_thread(begun.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert outcomes == ["stopped"]

    limited(scene())
