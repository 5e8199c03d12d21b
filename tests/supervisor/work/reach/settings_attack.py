"""A generator of ways to change what agents and editors obey in a project, and the program that tries them."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from supervisor.work.reach.project_settings import TABLE

OURS, THEIRS = "what was there", "what a command wrote"
NAMES = tuple(name.replace("*", "some") for setting in TABLE for name in setting.names)
FILES = re.compile(r".*\.(json|jsonc|toml|ya?ml|lua|code-workspace|sublime-project)|\.?\w*(rc|modes)")
DEPTHS = ("", "pkg", "a/b/c")
WAYS = ("create", "rename", "link", "hard", "remove", "parent", "case", "mode", "target")
BEFORE = ("absent", "there", "link", "linked")

# Tries each way at each path, and says nothing: what counts is what is on disk afterwards.
PROGRAM = f"""
import json, os, shutil, sys
from pathlib import Path
theirs = {THEIRS!r}

def write(path, folder):
    path.parent.mkdir(parents=True, exist_ok=True)
    if folder:
        path.mkdir(exist_ok=True)
        path = path / "settings.json"
    path.write_text(theirs)

def attack(way, path, folder):
    spare = Path("spares", os.urandom(4).hex())
    spare.parent.mkdir(exist_ok=True)
    if way == "create":
        write(path, folder)
    elif way == "rename":
        write(spare, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(spare, path)
        except OSError:
            os.rename(path, f"{{spare}}-old")
            os.rename(spare, path)
    elif way == "link":
        write(spare, folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(path):
            os.rename(path, f"{{spare}}-old")
        os.symlink(spare.absolute(), path)
    elif way == "hard":
        write(spare, False)
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path / "settings.json" if folder else path
        if target.exists():
            os.unlink(target)
        target.parent.mkdir(exist_ok=True)
        os.link(spare, target)
    elif way == "remove":
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
    elif way == "parent":
        if path.parent != Path("."):
            os.rename(path.parent, spare)
        write(path, folder)
    elif way == "case":
        write(path.with_name(path.name.upper()), folder)
    elif way == "mode":
        write(path, folder)
        path.parent.chmod(0o333)
    elif way == "target":
        for one in Path("elsewhere").rglob("*"):
            if one.is_file():
                one.write_text(theirs)

for way, path, folder in json.loads(sys.argv[1]):
    try:
        attack(way, Path(path), folder)
    except OSError:
        pass
"""


def prepare(project: Path, path: str, before: str, *, folder: bool) -> None:
    """Make a setting as it was before: a file or a folder, a link to one in the project, a folder with a link."""
    at = project / path
    at.parent.mkdir(parents=True, exist_ok=True)
    if before == "absent":
        return
    elsewhere = project / "elsewhere" / f"copy-{path.replace('/', '-')}"
    elsewhere.parent.mkdir(exist_ok=True)
    if folder:
        place = elsewhere if before == "link" else at
        place.mkdir()
        (place / "settings.json").write_text(OURS)
        if before == "linked":
            elsewhere.write_text(OURS)
            (place / "linked.json").symlink_to(os.path.relpath(elsewhere, at))
    else:
        (elsewhere if before in {"link", "linked"} else at).write_text(OURS)
    if before == "link" or (before == "linked" and not folder):
        at.symlink_to(os.path.relpath(elsewhere, at.parent))


def contents(path: Path) -> object:
    """All that an obeying program would read there: where a link leads, bytes, and what is in a folder."""
    if path.is_symlink() or path.is_file():
        return (str(path.readlink()) if path.is_symlink() else "", *_read(path))
    if path.is_dir():
        return {one.name: contents(one) for one in path.iterdir()}
    return None


def _read(path: Path) -> tuple[object, ...]:
    return (path.read_text(),) if path.is_file() else (contents(path.resolve()),) if path.is_dir() else ()


def placed(shift: int) -> Iterator[tuple[str, bool]]:
    """Each name at one depth, and whether it is a folder; another `shift` puts it at another."""
    for number, name in enumerate(NAMES):
        depth = DEPTHS[(number + shift) % len(DEPTHS)]
        yield f"{depth}/{name}".lstrip("/"), FILES.fullmatch(name.rpartition("/")[2]) is None


def argv(attacks: list[tuple[str, str, bool]]) -> tuple[str, ...]:
    return (sys.executable, "-SEc", PROGRAM, json.dumps(attacks))
