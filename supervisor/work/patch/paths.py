"""Resolves a path in a patch to its file and its display form. Reads links, opens nothing."""

import os
from pathlib import Path

from msgspec import Struct

from supervisor.disk.ordinary_files import NotReadable
from supervisor.work.patch.errors import PatchMismatch
from supervisor.work.reach.readable import Reach

LONGEST_PATH = 4095  # the kernel's own bound


class PatchPath(Struct, frozen=True):
    written: str  # as in the patch
    shown: Path  # absolute, for people and events
    real: Path  # with its folder resolved, for everything else


def patch_path(written: str, cwd: Path) -> PatchPath:
    """Make a path. `..` is applied to the text before links are resolved, so that the shown path means the same."""
    try:
        os.fsencode(written)
    except UnicodeEncodeError:
        raise PatchMismatch(f"{written!r} is not a path") from None
    if "\0" in written or "\0" in str(cwd):
        raise PatchMismatch(f"{written!r} is not a path")
    if len(os.fsencode(cwd / written)) > LONGEST_PATH:
        raise PatchMismatch(f"{written[:100]}… is longer than a path can be ({LONGEST_PATH} bytes)")
    plain = Path(os.path.normpath(cwd / written))
    if not plain.name or written.endswith("/"):
        raise PatchMismatch(f"{written} is a directory, not a file")
    real = Path(os.path.realpath(plain.parent)) / plain.name
    return PatchPath(written, _display_path(real, cwd), real)


def readable_path(written: str, reach: Reach) -> PatchPath:
    """Make a path of a file that may be read for a model. Raises PatchMismatch if it may not."""
    path = patch_path(written, reach.cwd)
    try:
        reach.check(path.real, str(path.shown))
    except NotReadable as error:
        raise PatchMismatch(error.reason) from None
    return path


def _display_path(real: Path, cwd: Path) -> Path:
    """Return a path below the working directory in that directory's spelling, and any other path resolved."""
    base = Path(os.path.realpath(cwd))
    return cwd / real.relative_to(base) if real.is_relative_to(base) else real
