"""Hints for display about the purpose of a command. Pure, and never a reason to let anything run."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from actors.vocabulary.quoting import quote_command
from actors.vocabulary.subjects import CommandHint
from supervisor.work.safety.shell import plain_commands

OPTIONS_WITH_VALUE = {
    "head": frozenset({"-n", "-c", "--lines", "--bytes"}),
    "tail": frozenset({"-n", "-c", "--lines", "--bytes"}),
    "ls": frozenset({"-I", "-w", "-T", "--ignore"}),
}
SEARCH_FLAGS = re.compile(r"-[inrRHlwvFEoSuac]+|--(files-with-matches|hidden|line-number|ignore-case|recursive)")


def command_hints(argv: Sequence[str]) -> tuple[CommandHint, ...]:
    """Return a hint for each command of a plain script, otherwise one hint for the whole argv."""
    match argv:
        case ["bash", "-lc", script]:
            commands = plain_commands(script)
            return tuple(map(_hint, commands)) if commands else (_unknown(argv),)
        case _:
            return (_hint(argv),)


def _hint(argv: Sequence[str]) -> CommandHint:
    match argv:
        case ["cat", file] if _is_name(file):
            return _read(argv, file)
        case ["sed", "-n", _, file] if _is_name(file):
            return _read(argv, file)
        case ["head" | "tail", *rest]:
            names = _names(rest, OPTIONS_WITH_VALUE[argv[0]])
            return _read(argv, names[0]) if len(names) == 1 else _unknown(argv)
        case ["ls", *rest]:
            names = _names(rest, OPTIONS_WITH_VALUE["ls"])
            path = names[0] if len(names) == 1 else None
            return CommandHint(cmd=quote_command(argv), purpose="lists", path=path)
        case ["rg" | "grep", *flags, query, path] if _is_name(query) and _is_name(path) and _all_flags(flags):
            return _search(argv, query, path)
        case ["rg" | "grep", *flags, query] if _is_name(query) and _all_flags(flags):
            return _search(argv, query, None)
        case _:
            return _unknown(argv)


def _all_flags(words: Sequence[str]) -> bool:
    """Tell whether all words are flags without a value, so that the search pattern is certain."""
    return all(SEARCH_FLAGS.fullmatch(word) for word in words)


def _names(words: Sequence[str], with_value: frozenset[str]) -> list[str]:
    names: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in with_value:
            skip = True
        elif _is_name(word):
            names.append(word)
    return names


def _is_name(word: str) -> bool:
    return not word.startswith("-")


def _read(argv: Sequence[str], file: str) -> CommandHint:
    return CommandHint(cmd=quote_command(argv), purpose="reads", name=PurePosixPath(file).name)


def _search(argv: Sequence[str], query: str, path: str | None) -> CommandHint:
    return CommandHint(cmd=quote_command(argv), purpose="searches", query=query, path=path)


def _unknown(argv: Sequence[str]) -> CommandHint:
    return CommandHint(cmd=quote_command(argv))
