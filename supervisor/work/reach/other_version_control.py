"""Version control systems other than git: the files in their folders that name programs. Data, and looking.

Unlike `.git` these folders stay open, so that their programs work in a sandbox; only the files named here are closed.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

CONTROL_FILES: Mapping[str, tuple[str, ...]] = {
    ".hg": ("hgrc", "hgrc-not-shared", "sharedpath"),
    ".sl": ("config", "hgrc", "sharedpath"),
    ".jj": ("repo/config.toml", "workspace-config.toml"),
    ".bzr": ("branch/branch.conf", "branch/location"),
    "_darcs": ("prefs/defaults",),
    ".pijul": ("config",),
    ".repo": ("repo",),  # the folder of the program itself
}


def control_files(folder: Path) -> Iterator[Path]:
    """Yield the files in a system's folder that name programs; they need not exist."""
    yield from (folder / name for name in CONTROL_FILES[folder.name])


def is_control_file(parts: Sequence[str]) -> bool:
    """Tell whether a relative path is such a file, or lies in such a folder. Ignores case, as file systems may."""
    folded = [part.casefold() for part in parts]
    return any(
        folded[at + 1 :][: name.count("/") + 1] == name.casefold().split("/")
        for at, part in enumerate(folded)
        for name in CONTROL_FILES.get(part, ())
    )


def fingerprints(folder: Path) -> Iterator[str]:
    """Yield a text for each of those files that is not empty."""
    for file in control_files(folder):
        try:
            found = os.lstat(file)
        except OSError:
            continue
        if found.st_size:
            yield f"{file.relative_to(folder.parent)} {found.st_ino} {found.st_ctime_ns}"
