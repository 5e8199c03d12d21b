"""Whether a command is known only to read. Applies the lists of `rules`; what isn't understood is not safe."""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum

from supervisor.agent.safety import rules
from supervisor.agent.safety.shell import plain_commands

SED_PRINT = re.compile(r"[0-9]+(,[0-9]+)?p")


class Trust(IntEnum):
    """Ordered, so that a script is as safe as its least safe command."""

    NONE = 0
    IN_SANDBOX = 1  # only reads, but lets files of the project name programs to start
    FULL = 2


def trust(argv: Sequence[str]) -> Trust:
    """Of a command as it would be executed, or of every command in a `bash -lc` script."""
    match argv:
        case ["bash", "-lc", script]:
            commands = plain_commands(script)
            return min(map(_trust, commands)) if commands else Trust.NONE
        case _:
            return _trust(argv)


def _trust(argv: Sequence[str]) -> Trust:
    if not argv or any("\0" in word for word in argv):
        return Trust.NONE
    program, arguments = argv[0], argv[1:]
    if program in rules.READERS:
        return Trust.FULL
    check = _CHECKS.get(program)
    return check(arguments) if check else Trust.NONE


def _find(arguments: Sequence[str]) -> Trust:
    return Trust.NONE if rules.FIND_ACTS & set(arguments) else Trust.FULL


def _rg(arguments: Sequence[str]) -> Trust:
    for word in arguments:
        cluster = word.startswith("-") and not word.startswith("--")
        if _option(word) in rules.RG_STARTS_PROGRAMS or (cluster and rules.RG_SEARCH_ZIP_LETTER in word):
            return Trust.NONE
    return Trust.FULL


def _sed(arguments: Sequence[str]) -> Trust:
    match arguments:
        case ["-n", lines, file] if SED_PRINT.fullmatch(lines) and file and not file.startswith("-"):
            return Trust.FULL
        case _:
            return Trust.NONE


def _cargo(arguments: Sequence[str]) -> Trust:
    if not arguments or arguments[0] != "check":
        return Trust.NONE
    options = [_option(word) for word in arguments[1:] if word.startswith("-")]
    # It runs build scripts, which a patch may have written.
    return Trust.IN_SANDBOX if rules.CARGO_CHECK_OPTIONS.issuperset(options) else Trust.NONE


def _git(arguments: Sequence[str]) -> Trust:
    if not arguments or arguments[0] not in rules.GIT_READS or any(map(_acts_in_git, arguments[1:])):
        return Trust.NONE
    if arguments[0] == "branch" and not _lists_branches(arguments[1:]):
        return Trust.NONE
    return Trust.IN_SANDBOX


def _acts_in_git(word: str) -> bool:
    option = _option(word)
    abbreviated = len(option) > len("--") and option.startswith("--")
    return bool(rules.GIT_SIGNATURE_FORMAT.search(word)) or (
        abbreviated and any(full.startswith(option) for full in rules.GIT_WRITES_OR_STARTS)
    )


def _lists_branches(arguments: Sequence[str]) -> bool:
    if any(rules.GIT_BRANCH_SIGNATURE in word for word in arguments):
        return False
    options = {_option(word) for word in arguments if word.startswith("-")}
    names = [word for word in arguments if not word.startswith("-")]
    surely = bool(options & rules.GIT_BRANCH_LISTS_SURELY)
    return rules.GIT_BRANCH_LISTS.issuperset(options) and (surely or not names)


def _option(word: str) -> str:
    return word.partition("=")[0] if word.startswith("--") else word


_CHECKS: Mapping[str, Callable[[Sequence[str]], Trust]] = {
    "find": _find,
    "rg": _rg,
    "sed": _sed,
    "cargo": _cargo,
    "git": _git,
}
