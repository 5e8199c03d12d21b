"""`greenroom pid`, `socket`, `version`, `df` and `schema`: print single facts, fit for scripts."""

import os
import sys
from argparse import Namespace

from supervisor.cli.kit.client import Control, NoDaemon
from supervisor.cli.kit.formatting import size
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.listing import ListLayout, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, Row
from supervisor.paths import locate, socket_path
from supervisor.version import VERSION

SOON_S = 1.0  # a daemon that is well answers these in milliseconds
FILES = ListLayout(
    {"what": "One of journal, search, log, other, free.", "bytes": "Size in bytes.", "path": "File or directory."},
    (
        Column("WHAT", lambda row: row["what"]),
        Column("SIZE", lambda row: size(row["bytes"]), right=True),
        Column("WHERE", lambda row: row["path"], shrinks=True),
    ),
    "no files yet",
    key="path",
)


def pid(_: Namespace) -> int:
    """Print the daemon's process id. If it does not answer, the lock that it holds proves which process it is."""
    try:
        with Control("pid", timeout_s=SOON_S, answer_s=SOON_S) as control:
            print(control.status().pid)
    except Problem as problem:
        if problem.code != "timed_out":
            raise
        print(_pid_of_silent_daemon(problem))
    return 0


def _pid_of_silent_daemon(problem: Problem) -> int:
    from supervisor.daemon.daemon_lock import is_alive, life_of, lock_holder, state_of

    holder = lock_holder(locate().lock_file)
    if (
        holder is None
        or holder.pid is None
        or not is_alive(holder.pid)
        or holder.life not in {"", life_of(holder.pid)}
    ):
        raise problem
    state = "does not answer"
    if state_of(holder.pid) == "T":
        state = f"was stopped by a signal, and `kill -CONT {holder.pid}` lets it go on"
    print(f"greenroom: it {state}; `greenroom up --force` ends it and starts another", file=sys.stderr)
    return holder.pid


def socket(_: Namespace) -> int:
    """Print the path, also if no daemon listens there."""
    print(socket_path(locate()))
    return 0


def schema(chosen: Namespace) -> int:
    """Print a JSON Schema, which needs no daemon."""
    from transports.dialects.control.schema import api_schema, events_schema  # a megabyte of models

    print(json_text(events_schema() if chosen.what == "events" else api_schema(), 1))
    return 0


def version(chosen: Namespace) -> int:
    """Print both versions. A daemon that is down has none, which is not an error."""
    try:
        with Control("version", timeout_s=SOON_S) as control:
            theirs = control.welcome["version"]
    except Problem as problem:
        theirs = None
        silent = not isinstance(problem, NoDaemon)
    else:
        silent = False
    if chosen.json:
        print(json_text({"version": VERSION, "daemon": theirs}))
        return 0
    print(f"greenroom {VERSION}")
    if silent:
        print("daemon    does not answer")
    elif theirs is not None and theirs != VERSION:
        print(f"daemon    {theirs}  (run `greenroom down && greenroom up` to start this version)")
    return 0


def df(chosen: Namespace) -> int:
    """Print the sizes of the files, which needs no daemon."""
    return present(FILES, _files, chosen)


def _files() -> list[Row]:
    paths = locate()
    places = {"journal": paths.journal_file, "search": paths.search_file, "log": paths.log_file}
    beginnings = {os.path.basename(place): what for what, place in places.items()}  # noqa: PTH119  # pathlib is slow to import
    kinds: dict[str, list[str]] = {**{what: [] for what in places}, "other": []}
    for base, _, names in os.walk(paths.state):
        for name in names:
            kind = next((what for begin, what in beginnings.items() if name.startswith(begin)), "other")
            kinds[kind].append(f"{base}/{name}")
    rows: list[Row] = [
        {"what": what, "bytes": _total_size(files), "path": places.get(what, paths.state)}
        for what, files in kinds.items()
    ]
    return [*rows, {"what": "free", "bytes": room_at(paths.state)[1], "path": paths.state}]


def _total_size(files: list[str]) -> int:
    total = 0
    for file in files:
        try:
            total += os.lstat(file).st_size
        except OSError:
            continue  # it was removed meanwhile
    return total


def room_at(directory: str) -> tuple[str, int]:
    """The directory, or its nearest parent that exists, and the free bytes on its disk."""
    while not os.path.isdir(directory) and directory != "/":  # noqa: PTH112  # as above
        directory = os.path.dirname(directory)  # noqa: PTH120  # as above
    found = os.statvfs(directory)
    return directory, found.f_bavail * found.f_frsize
