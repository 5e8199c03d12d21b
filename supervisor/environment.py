"""Which environment variables a conversation's commands get.

Pure functions of an environment and a policy; this process's own environment is never read.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from supervisor.config.shared import Inherit, ShellEnvironmentPolicy

CORE = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "USER", "USERNAME", "TMPDIR", "TEMP", "TMP"})
DEFAULT_EXCLUDES = ("*KEY*", "*SECRET*", "*TOKEN*")


def command_environment(environ: Mapping[str, str], policy: ShellEnvironmentPolicy) -> dict[str, str]:
    """Inherit, drop, set, keep: in this order, so `set` goes past the excludes but not past `include_only`."""
    match policy.inherit:
        case Inherit.ALL:
            kept = dict(environ)
        case Inherit.CORE:
            kept = {name: value for name, value in environ.items() if name in CORE}
        case Inherit.NONE:
            kept = {}
    excluded = [*policy.exclude, *(() if policy.ignore_default_excludes else DEFAULT_EXCLUDES)]
    kept = {name: value for name, value in kept.items() if not _matches(name, excluded)}
    kept.update(policy.set)
    if policy.include_only:
        kept = {name: value for name, value in kept.items() if _matches(name, policy.include_only)}
    return kept


def _matches(name: str, patterns: Iterable[str]) -> bool:
    # Codex's patterns know `*` and `?` only, so a bracket is a bracket.
    return any(fnmatchcase(name.upper(), pattern.upper().replace("[", "[[]")) for pattern in patterns)
