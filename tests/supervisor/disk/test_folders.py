"""Folders of ours, whatever a command has left in them."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from supervisor.disk.folders import remove_tree

NOBODY = 65534


@contextmanager
def a_plain_user(folder: Path) -> Iterator[None]:
    """Root may remove everything, so it is somebody else for a moment."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(folder, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_tree_whose_rights_were_taken_is_removed_and_what_its_links_name_is_not() -> None:
    with tempfile.TemporaryDirectory() as outside:
        Path(outside, "kept").touch()
        Path(outside).chmod(0o755)
        tree = Path(tempfile.mkdtemp())
        with a_plain_user(tree):
            (tree / "a/b/c").mkdir(parents=True)
            (tree / "a/b/c/file").touch()
            (tree / "a/link").symlink_to(outside)
            for folder, mode in (("a/b/c", 0o500), ("a/b", 0), ("a", 0o500)):
                (tree / folder).chmod(mode)
            remove_tree(tree)
        assert not tree.exists()
        assert Path(outside, "kept").exists()
        assert Path(outside).stat().st_mode & 0o777 == 0o755
