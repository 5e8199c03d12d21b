"""The gitlinks of a repository: paths in its index that git enters by itself, at each `git status`. Looks only."""

import os
from pathlib import Path

from supervisor.disk.ordinary_files import read_ordinary
from supervisor.work.reach.git_index import IndexContent, UnfitIndex, read
from supervisor.work.reach.stat_cache import StatCache

INDEX, SHARED = "index", "sharedindex."
INDEX_BYTES = 64 << 20  # some 600,000 files; without a bound, a sparse file of any size would fill the disk

_links = StatCache[IndexContent]()
_bases = StatCache[IndexContent]()


def gitlinks(store: Path, hash_bytes: int) -> tuple[str, ...]:
    """Return the paths, relative to the work tree. Raises Unfit for an index that can't be read."""
    found = _read(store / INDEX, hash_bytes)
    links = found.links
    if found.shared.strip("0"):
        base = _read(store / f"{SHARED}{found.shared}", hash_bytes, with_names=any(not link.name for link in links))
        links += base.links
        names = [link.name if link.base is None else _name_at(base.names, link.base) for link in links]
    else:
        names = [link.name for link in links]
    return tuple(dict.fromkeys(os.fsdecode(name) for name in names if name))


def _name_at(names: tuple[bytes, ...], number: int) -> bytes:
    if number >= len(names):
        raise UnfitIndex("it changes an entry that is not there")
    return names[number]


def _read(file: Path, hash_bytes: int, *, with_names: bool = False) -> IndexContent:
    try:
        found = os.stat(file)  # noqa: PTH116 - called for each repository and command
    except OSError:
        return IndexContent((), (), "")  # git sees no index either
    if found.st_size > INDEX_BYTES:
        raise UnfitIndex(f"it has more than {INDEX_BYTES} bytes")

    def parse() -> IndexContent:
        data = read_ordinary(file, INDEX_BYTES)
        return read(data, hash_bytes, with_names=with_names) if data else IndexContent((), (), "")

    try:
        return (_bases if with_names else _links).get(found, parse)
    except OSError as error:
        raise UnfitIndex(f"it can't be read: {error.strerror or error}") from None
