"""The files that a model may read without a command: links, names, kinds, and what is Greenroom's own."""

import contextlib
import os
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.disk.ordinary_files import NotReadable
from supervisor.work.reach.readable import Reach


@pytest.fixture
def reach(tmp_path: Path) -> Reach:
    work, own = tmp_path / "work", tmp_path / "own"
    (work / "sub").mkdir(parents=True)
    own.mkdir()
    (work / "file").write_text("text\n")
    (own / "journal").write_text("secret\n")
    return Reach(work, tmp_path, (own,))


def bound(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def read(reach: Reach, name: str) -> str:
    with reach.file(name) as (file, _):
        return file.read().decode()


def refusal(reach: Reach, name: str) -> str:
    with pytest.raises(NotReadable) as caught, reach.file(name):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["file", "sub/../file", "./file", "~/work/file"])
def test_a_file_is_read_by_any_of_its_names(reach: Reach, name: str) -> None:
    assert read(reach, name) == "text\n"
    assert read(reach, str(reach.cwd / "file")) == "text\n"


def test_a_link_is_followed_to_a_file(reach: Reach) -> None:
    (reach.cwd / "sub" / "link").symlink_to("../file")
    assert read(reach, "sub/link") == "text\n"


@pytest.mark.parametrize(
    "name", ["../own/journal", "../own", "link", "door/journal", "sub/../../own/journal", "~/own/journal", "../OWN"]
)
def test_a_file_of_greenroom_is_refused_by_every_path(reach: Reach, name: str) -> None:
    (reach.cwd / "link").symlink_to("../own/journal")
    (reach.cwd / "door").symlink_to("../own")
    if name == "../OWN":
        (reach.cwd / name).mkdir(exist_ok=True)  # on file systems that ignore case it is the same folder
    assert "belongs to Greenroom itself" in refusal(reach, name)


@pytest.mark.parametrize("name", ["/proc/self/environ", "/proc/1/environ", "/sys/kernel", "/dev/zero", "/dev/tty"])
def test_the_kernels_files_are_left_to_commands(reach: Reach, name: str) -> None:
    if os.path.exists(name):  # noqa: PTH110 - a device is only named
        assert "a command, such as cat, can read it" in refusal(reach, name)


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no memory that is a folder")  # noqa: PTH112
def test_a_working_directory_in_memory_is_one_like_any_other_and_all_else_there_is_not() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        work = Path(folder, "work")
        work.mkdir()
        (work / "file").write_text("text")
        Path(folder, "other").write_text("another program's")
        assert read(Reach(work), "file") == "text"
        for name in ("../other", "/dev/shm/../null", "/dev/null"):
            assert "is not on a disk" in refusal(Reach(work), name)
        assert "is not on a disk" in refusal(Reach(Path("/")), str(work / "file"))


def test_a_way_through_proc_leads_to_the_real_place(reach: Reach) -> None:
    if os.path.exists("/proc/self/root"):  # noqa: PTH110 - the same
        assert "belongs to Greenroom" in refusal(reach, f"/proc/self/root{reach.hidden[0]}/journal")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: path.mkdir(), "is a directory: list it with list_dir"),
        (os.mkfifo, "is a pipe, not a file"),
        (bound, "is a socket, not a file"),
        (lambda path: path.symlink_to(path.name), "can't be read: "),
        (lambda path: path.symlink_to("nowhere"), "there is no thing"),
        (lambda _: None, "there is no thing; list_dir shows what there is"),
    ],
    ids=["directory", "pipe", "socket", "loop", "broken link", "nothing"],
)
def test_a_path_that_is_no_file_is_refused_at_once_by_its_kind(
    reach: Reach, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], object], told: str
) -> None:
    monkeypatch.chdir(reach.cwd)  # the name of a socket must be short
    make(Path("thing"))
    assert told in refusal(reach, "thing")


@pytest.mark.parametrize(
    ("name", "told"), [("a\0b", "it has a NUL"), ("\ud800", "can't be encoded"), ("x" * 5000, "can't be read: ")]
)
def test_names_that_the_system_can_not_take_are_refused_with_a_reason(reach: Reach, name: str, told: str) -> None:
    assert told in refusal(reach, name)


def test_a_file_below_a_file_is_refused(reach: Reach) -> None:
    assert "can't be read: Not a directory" in refusal(reach, "file/below")


def test_a_name_that_is_no_text_is_read_like_others(reach: Reach) -> None:
    name = os.fsdecode(b"caf\xe9")
    (reach.cwd / name).write_text("coffee")
    assert read(reach, name) == "coffee"


@given(name=st.lists(st.sampled_from(["..", ".", "own", "work", "file", "door", "journal", "~", "", "\0", "é"])))
def test_no_path_leads_to_the_journal(tmp_path_factory: pytest.TempPathFactory, name: list[str]) -> None:
    top = tmp_path_factory.getbasetemp() / "fuzzed"
    if not top.exists():
        (top / "work").mkdir(parents=True)
        (top / "own").mkdir()
        (top / "own" / "journal").write_text("secret")
        (top / "work" / "door").symlink_to("../own")
        (top / "work" / "file").write_text("text")
    with contextlib.suppress(NotReadable):
        assert read(Reach(top / "work", top, (top / "own",)), "/".join(name)) == "text"
