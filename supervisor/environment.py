"""Which environment variables a conversation's commands get, and which of them may be written to disk.

Pure functions of an environment and a policy; this process's own environment is never read.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from supervisor.config.shared import Inherit, ShellEnvironmentPolicy

CORE = frozenset({"HOME", "LOGNAME", "PATH", "SHELL", "USER", "USERNAME", "TMPDIR", "TEMP", "TMP"})
DEFAULT_EXCLUDES = ("*KEY*", "*SECRET*", "*TOKEN*")

# What a command needs to find its tools and its language again after a restart. None of these holds a secret.
STORABLE = frozenset(
    {
        *CORE,
        *("LANG", "LANGUAGE", "TZ", "PWD", "VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYENV_VERSION"),
        *("NVM_DIR", "NVM_BIN", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "JAVA_HOME"),
        *("GEM_HOME", "RBENV_VERSION", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"),
    }
)
STORABLE_PREFIXES = ("LC_",)


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


def storable(environ: Mapping[str, str]) -> dict[str, str]:
    """The part that may be kept in the journal, by an allow-list of names: the rest lives in memory only."""
    return {name: value for name, value in environ.items() if name in STORABLE or name.startswith(STORABLE_PREFIXES)}


def _matches(name: str, patterns: Iterable[str]) -> bool:
    # Codex's patterns know `*` and `?` only, so a bracket is a bracket.
    return any(fnmatchcase(name.upper(), pattern.upper().replace("[", "[[]")) for pattern in patterns)
