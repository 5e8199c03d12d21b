"""The files of git's state that a command may write, and checks of their content. Reads files; blocking.

git trusts their content: names of files that it writes, and words that older versions pass to a shell.
"""

import re
from pathlib import Path

from supervisor.disk.work_tree import HEAD
from supervisor.work.reach.git_index import UnfitIndex, check
from supervisor.work.reach.gitlinks import INDEX, INDEX_BYTES, SHARED, gitlinks

PACKED = "packed-refs"
# HEAD, MERGE_MSG and their like. A single word could be `config` or `commondir` on a file system that ignores case.
STATE = re.compile(r"HEAD|[A-Z]{2,20}(?:_[A-Z]{2,20}){1,3}|sharedindex\.[0-9a-f]{40,64}")
STATE_BYTES = 1 << 20  # of a file of git's state but the index; messages are a few lines
TEXTS = {
    HEAD: (
        re.compile(rb"(?:ref: refs/(?!heads/-)[^\0-\x20\x7f~^:?*\[\\]{1,1000}|[0-9a-f]{40}|[0-9a-f]{64})\n?"),
        "no branch and no commit",
    ),
    "BISECT_NAMES": (re.compile(rb"(?: ?'(?:[^'\0]|'\\['!]')*+')*+\n?"), "something else than quoted paths"),
}


def unfit_reason(name: str, file: Path, hashes: int) -> str | None:
    """Return the reason why a file must not become git's; None: it may."""
    is_index = name == INDEX or name.startswith(SHARED)
    most = INDEX_BYTES if is_index or name == PACKED else STATE_BYTES
    if file.stat().st_size > most:
        return f"the new one is larger than {most} bytes"
    if is_index:
        return _unfit_index(file, hashes)
    if name in TEXTS:
        wanted, otherwise = TEXTS[name]
        return None if wanted.fullmatch(file.read_bytes()) else f"the new one names {otherwise}"
    return None


def new_gitlink_reason(before: Path, after: Path, hashes: int) -> str | None:
    """Return the reason why an index must not replace another: git would enter a further repository. None: it may."""
    try:
        new = set(gitlinks(after, hashes)).difference(gitlinks(before, hashes))
    except UnfitIndex as error:
        return f"the new one is not used: {error}"
    if not new:
        return None
    return (
        f"the new one has a repository in it, {min(new)!a}, which git would go into by itself and run what its "
        "configuration names; only a person can add it, by `git add` outside of the sandbox"
    )


def _unfit_index(file: Path, hashes: int) -> str | None:
    try:
        check(file.read_bytes(), hashes)
    except UnfitIndex as error:
        return f"the new one is not used: {error}"
    return None
