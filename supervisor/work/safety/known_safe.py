"""Recognises commands that are known only to read, by the lists of `rules`; any other command is not safe. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence

from supervisor.work.safety import rules
from supervisor.work.safety.shell import plain_commands

SED_PRINT = re.compile(r"[0-9]+(,[0-9]+)?p")


def programs(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all programs of a known safe command; none if it is not known to be safe.

    All commands of a `bash -lc` script must be safe.
    """
    match argv:
        case ["bash", "-lc", script]:
            commands = plain_commands(script) or ()
            return ("bash", *(words[0] for words in commands)) if commands and all(map(_only_reads, commands)) else ()
        case _:
            return (argv[0],) if _only_reads(argv) else ()


def _only_reads(argv: Sequence[str]) -> bool:
    if not argv or any("\0" in word for word in argv):
        return False
    program, arguments = argv[0], argv[1:]
    if program in rules.READERS:
        return True
    check = _CHECKS.get(program)
    return check is not None and check(arguments)


def _is_safe_find(arguments: Sequence[str]) -> bool:
    return not rules.FIND_ACTS & set(arguments)


def _is_safe_rg(arguments: Sequence[str]) -> bool:
    for word in arguments:
        cluster = word.startswith("-") and not word.startswith("--")
        if _option(word) in rules.RG_STARTS_PROGRAMS or (cluster and rules.RG_SEARCH_ZIP_LETTER in word):
            return False
    return True


def _is_safe_sed(arguments: Sequence[str]) -> bool:
    match arguments:
        case ["-n", lines, file]:
            return bool(SED_PRINT.fullmatch(lines)) and bool(file) and not file.startswith("-")
        case _:
            return False


def _is_safe_git(arguments: Sequence[str]) -> bool:
    if not arguments or arguments[0] not in rules.GIT_READS or any(map(_acts_in_git, arguments[1:])):
        return False
    return arguments[0] != "branch" or _lists_branches(arguments[1:])


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


_CHECKS: Mapping[str, Callable[[Sequence[str]], bool]] = {
    "find": _is_safe_find,
    "rg": _is_safe_rg,
    "sed": _is_safe_sed,
    "git": _is_safe_git,
}
