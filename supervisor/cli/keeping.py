"""`greenroom inspect, restart, rename, fork, archive, rm, export, import`: a conversation as a thing that is kept."""

import json
import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path

from supervisor.cli import exits, ids
from supervisor.cli.arguments import number
from supervisor.cli.client import Control
from supervisor.cli.listing import filled
from supervisor.cli.pager import paged
from supervisor.cli.problems import Problem, report
from supervisor.cli.words import many

LONG_S = 120.0  # for a history of a hundred thousand events


def inspect(chosen: Namespace) -> int:
    with Control("inspect") as control:
        found = ids.call(control, "conversation/get", chosen.conversation)
    found = {"id": found.pop("conversation"), **found}
    if chosen.format is not None:
        print(filled(found, found, chosen.format))
        return 0
    with paged() as text:
        print(json.dumps(found, indent=2, ensure_ascii=False), file=text or sys.stdout)
    return 0


def restart(chosen: Namespace) -> int:
    with Control("restart") as control:
        ids.call(control, "conversation/restart", chosen.conversation)
    print("a new life")
    return 0


def rename(chosen: Namespace) -> int:
    with Control("rename") as control:
        ids.call(control, "conversation/rename", chosen.conversation, name=chosen.name or None)
    print(f"called {chosen.name}" if chosen.name else "without a name")
    return 0


def fork(chosen: Namespace) -> int:
    at = number(chosen.at, "seq") if chosen.at else None
    with Control("fork") as control:
        made = ids.call(control, "conversation/fork", chosen.conversation, LONG_S, at=at, name=chosen.name)
    print(json.dumps(made) if chosen.json else made["conversation"])
    return 0


def archive(chosen: Namespace) -> int:
    with Control("archive") as control:
        word = "taken out of the archive" if chosen.undo else "archived"

        def one(reference: str) -> str:
            ids.call(control, "conversation/archive", reference, archived=not chosen.undo)
            return word

        return _each(chosen.conversation, one)


def remove(chosen: Namespace) -> int:
    with Control("rm") as control:
        if not chosen.force:
            _confirm(chosen.conversation)

        def one(reference: str) -> str:
            ids.call(control, "conversation/delete", reference, LONG_S)
            return "deleted"

        return _each(chosen.conversation, one)


def export(chosen: Namespace) -> int:
    with Control("export") as control:
        lines = ids.call(control, "conversation/export", chosen.conversation, LONG_S)["lines"]
    text = "".join(f"{line.rstrip()}\n" for line in lines)
    if chosen.file in {None, "-"}:
        sys.stdout.write(text)
        return 0
    _put(chosen.file, text)
    print(f"{many(len(lines), 'line')} in {chosen.file}", file=sys.stderr)
    return 0


def import_(chosen: Namespace) -> int:
    lines = [line for line in _read(chosen.file).splitlines() if line.strip()]
    with Control("import") as control:
        made = control.call("conversation/import", LONG_S, lines=lines, new_id=chosen.new_id)
    print(json.dumps(made) if chosen.json else made["conversation"])
    return 0


def _each(references: list[str], act: Callable[[str], str]) -> int:
    failures: list[Problem] = []
    for reference in references:
        try:
            print(f"{reference}: {act(reference)}")
        except Problem as problem:
            if problem.exit == exits.DOWN:
                raise
            failures.append(problem)
            report(problem, as_json=False)
    if not failures:
        return exits.OK
    return failures[0].exit if len(references) == 1 else exits.SOME_FAILED


def _confirm(references: list[str]) -> None:
    if not sys.stdin.isatty():
        raise Problem("rm asks first, and there is nobody to ask", "say --force", "usage")
    print(f"Delete {', '.join(references)} for good? [y/N] ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise Problem("nothing was deleted")


def _put(path: str, text: str) -> None:
    """Whole or not at all, and for our eyes only: a history may quote anything."""
    try:
        handle, draft = tempfile.mkstemp(dir=Path(path).parent, prefix=".greenroom-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(draft).replace(path)
    except OSError as error:
        raise Problem(f"{path} can't be written: {error.strerror}") from error


def _read(path: str) -> str:
    try:
        return sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{path} can't be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}") from error
