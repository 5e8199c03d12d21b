"""Recognises commands by which git changes a repository's history: its commits, branches and index. Pure.

This only chooses the question; the sandbox enforces the limits of a command. So a script that is no plain list of
commands counts, too, as soon as any of its commands looks like such a git command.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from supervisor.work.safety.shell import plain_commands

SHELLS = frozenset({"bash", "sh", "zsh"})
CHANGES = frozenset(
    {
        *("add", "stage", "commit", "rm", "mv", "reset", "restore", "stash", "checkout", "switch", "merge"),
        *("cherry-pick", "revert", "tag", "branch", "notes", "apply", "bisect", "replace"),
        *("update-index", "update-ref", "write-tree", "commit-tree", "read-tree", "symbolic-ref"),
    }
)
LISTS = frozenset({("stash", "list"), ("stash", "show"), ("notes", "list"), ("notes", "show"), ("bisect", "log")})
TAKES_A_WORD = frozenset({"-C", "-c"})
OTHER_REPOSITORY_OPTIONS = (
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
)  # options that name another repository, or another git
LOOKED_AT = 64 * 1024  # characters of a script that are searched
# Each group is atomic: whatever a model writes, no part of it is read twice.
IN_A_SCRIPT = re.compile(r"(?:^|[\s;&|({`])git(?>(?:\s+-(?>[cC]\s+\S+|\S+))*+)\s+([a-z][a-z-]*)")
BEGINS_WITH_CD = re.compile(r"\s*cd\s+(?:--\s+)?([A-Za-z0-9_@%+=:,./-]+)\s*(?:&&|;|\n)")


def history_directory(argv: Sequence[str]) -> str | None:
    """Return the directory, relative to the command's own, whose repository it changes; None: it changes none."""
    match argv:
        case ["git", *arguments]:
            return _place_of(arguments)
        case [shell, "-c" | "-lc", script] if PurePosixPath(shell).name in SHELLS:
            return _place_in(script[:LOOKED_AT])
        case _:
            return None


def _place_in(script: str) -> str | None:
    commands = plain_commands(script)
    if commands is None:
        changes = any(found[1] in CHANGES for found in IN_A_SCRIPT.finditer(script))
        cd = BEGINS_WITH_CD.match(script)
        return (cd[1] if cd else "") if changes else None
    at = PurePosixPath()
    for program, *arguments in commands:
        if program == "cd" and len(arguments) == 1:
            at /= arguments[0]
        elif program == "git" and (place := _place_of(arguments)) is not None:
            return str(at / place)
    return None


def _place_of(arguments: Sequence[str]) -> str | None:
    """Return the directory of a git command, by its options before the verb."""
    at, words = PurePosixPath(), iter(arguments)
    for word in words:
        if word.startswith(OTHER_REPOSITORY_OPTIONS):
            return None
        if word in TAKES_A_WORD:
            value = next(words, "")
            at = at / value if word == "-C" else at
        elif not word.startswith("-"):
            return str(at) if _changes(word, list(words)) else None
    return None


def _changes(verb: str, arguments: Sequence[str]) -> bool:
    if verb not in CHANGES or (verb, *arguments[:1]) in LISTS:
        return False
    listing = not arguments or arguments[0] in {"-l", "--list", "-n"}
    return not (verb == "tag" and listing)
