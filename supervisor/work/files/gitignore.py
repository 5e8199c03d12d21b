"""The patterns of `.gitignore`, as gitignore(5) describes them. Standard library alone."""

# ruff: noqa: PTH118, PTH120, PTH123 # as in searching.py

import os
import re
import stat
from collections.abc import Iterator

from supervisor.disk.work_tree import is_work_tree

FILE = ".gitignore"
BYTES = 64 * 1024  # of one such file; only programs write longer ones, of which the rest is not used
SPECIAL = re.compile(r"\*\*/|/\*\*|\*\*|\*|\?|\[[!^]?\]?[^\]]*\]|.", re.DOTALL)

Rule = tuple[re.Pattern[str], bool, bool]  # a pattern, whether its matches are kept, whether it means folders alone
Rules = tuple[tuple[str, tuple[Rule, ...]], ...]  # by the folder of their file, the outer ones first


def matcher(glob: str) -> re.Pattern[str]:
    """Compile a glob for paths relative to its folder. Without a slash inside it matches names at any depth."""
    body = "".join(map(_translate, SPECIAL.findall(glob.strip("/"))))
    return re.compile(body if "/" in glob.rstrip("/") else f"(?:.*/)?{body}", re.DOTALL)


def _translate(part: str) -> str:
    known = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if part in known:
        return known[part]
    if part.startswith("[") and len(part) > 1:
        return f"[{'^' if part[1] in '!^' else ''}{re.escape(part[1:-1].lstrip('!^'))}]".replace(r"\-", "-")
    return re.escape(part)


def rules_in(folder: str) -> tuple[Rule, ...]:
    """Read a folder's rules; none if there are none, or they can't be read. Like git, follow no link there."""
    path = os.path.join(folder, FILE)
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return ()
        with open(
            os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), encoding="utf-8", errors="replace"
        ) as file:
            return tuple(_rules(file.read(BYTES).splitlines()))
    except OSError:
        return ()


def _rules(lines: list[str]) -> Iterator[Rule]:
    for line in lines:
        pattern = line.rstrip()
        if pattern and not pattern.startswith("#"):
            kept = pattern.startswith("!")
            glob = pattern.removeprefix("!").removeprefix("\\")
            try:
                yield matcher(glob), kept, glob.endswith("/")
            except re.error:
                continue


def rules_above(folder: str) -> Rules:
    """Collect the rules from the repository's root down to a folder, the folder itself left out."""
    found: list[tuple[str, tuple[Rule, ...]]] = []
    at = folder
    while not is_work_tree(at):
        above = os.path.dirname(at)
        if above == at:
            return ()  # in no repository
        at = above
        found.append((at, rules_in(at)))
    return tuple((place, rules) for place, rules in reversed(found) if rules)


def is_ignored(path: str, rules: Rules, *, folder: bool) -> bool:
    """Tell whether the last rule that matches a path leaves it out."""
    for place, of_place in reversed(rules):
        name = os.path.relpath(path, place)
        for pattern, kept, folders_alone in reversed(of_place):
            if (folder or not folders_alone) and pattern.fullmatch(name):
                return not kept
    return False
