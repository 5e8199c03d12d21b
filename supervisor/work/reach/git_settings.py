"""The settings of a person's git in a repository, wherever they stand, and the paths that they name. Looks only.

Configuration names programs, folders of hooks and further configuration files; those may lie anywhere, also in the
writable tree.
"""

import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from supervisor.disk.ordinary_files import read_ordinary
from supervisor.work.reach.git_config import (
    CONDITIONAL,
    HOOKS,
    INCLUDE,
    PROGRAMS,
    GitSetting,
    folder_of_hooks,
    parse_settings,
    paths_in,
    settings_from_variables,
)
from supervisor.work.reach.stat_cache import StatCache

CONFIGS, FORMAT = ("config", "config.worktree"), "objectformat"
SYSTEM = tuple(Path(folder, "gitconfig") for folder in ("/etc", "/usr/local/etc", "/opt/homebrew/etc"))
CONFIG_BYTES = 1 << 20
INCLUDES = 256  # files that a configuration includes; with more, the repository's whole folder is closed
# Keys of settings that are shell commands: a file that such a command names may be created later.
COMMAND_KEYS = frozenset(
    {"fsmonitor", "sshcommand", "pager", "editor", "askpass", "gitproxy", "alternaterefscommand", "clean", "smudge"}
    | {"process", "command", "textconv", "external", "driver", "helper", "program", "defaultkeycommand", "cmd"}
    | {"packobjectshook", "difffilter", "uploadpack", "receivepack", "update", "recentobjectshook"}
)
PLAIN_PATH = re.compile(r"[\w.~+@%/-]*/[\w.~+@%/-]*")


class ObeyedPath(Struct, frozen=True):
    """A path that git obeys. `is_file`: it is a file, even if it does not exist yet."""

    path: Path
    is_file: bool = False


class TooManySettings(OSError):
    """A repository's configuration names more than can be read or closed. The text says more."""


class GitEnvironment(Struct, frozen=True):
    """The variables by which a person's git finds its configuration: the client's, and the daemon's own."""

    env: Mapping[str, str]

    @property
    def home(self) -> str:
        return self.env.get("HOME") or str(Path("~").expanduser())

    def files(self, folder: Path) -> Iterator[Path]:
        """Yield the person's and the system's configuration files, for a git that runs in a folder."""
        yield from SYSTEM
        for env in (self.env, os.environ):
            home = env.get("HOME") or str(Path("~").expanduser())
            yield Path(home, ".gitconfig")
            yield Path(env.get("XDG_CONFIG_HOME") or f"{home}/.config", "git/config")
            yield from (folder / env[name] for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM") if env.get(name))


_settings = StatCache[tuple[GitSetting, ...]]()


def hash_bytes(stores: Iterable[Path]) -> int:
    """Return the length of a hash in the index of a repository."""
    formats = [
        setting.value for store in stores for setting in _settings_in(store / "config") if setting.key == FORMAT
    ]
    return 32 if formats[-1:] == ["sha256"] else 20


def paths_in_config(folder: Path, stores: Iterable[Path], env: GitEnvironment) -> Iterator[ObeyedPath]:
    """Yield the files, programs and folders of hooks that a repository's configuration names; they need not exist.

    Raises Unjudged for more of them than can be closed.
    """
    personal = tuple(dict.fromkeys(env.files(folder)))
    yield from (ObeyedPath(file, is_file=True) for file in personal)
    named = [Path(folder, env.env[name]) for name in ("GIT_DIR", "GIT_COMMON_DIR") if env.env.get(name)]
    yield from map(ObeyedPath, named)
    files = deque(file for store in (*stores, *named) for file in (store / name for name in CONFIGS))
    files.extend(personal)
    seen = set(files)
    found: list[tuple[GitSetting, Path]] = [(setting, folder) for setting in settings_from_variables(env.env)]
    found += (
        (GitSetting("", name, key, env.env[name]), folder) for name, key in PROGRAMS.items() if env.env.get(name)
    )
    while found or files:
        for setting, beside in found:
            if (setting.section, setting.key) not in {INCLUDE, CONDITIONAL}:
                yield from _named_by(setting, folder, env.home)
                continue
            included = beside / _expand(setting.value, env.home)
            if included not in seen:
                if len(seen) >= INCLUDES:
                    raise TooManySettings(f"its git configuration includes more than {INCLUDES} files")
                seen.add(included)
                files.append(included)
                yield ObeyedPath(included, is_file=True)
        file = files.popleft() if files else None
        found = [(setting, file.parent) for setting in program_settings(file)] if file is not None else []


def _named_by(setting: GitSetting, folder: Path, home: str) -> Iterator[ObeyedPath]:
    if (setting.section, setting.key) == HOOKS:
        for named in {setting.value, folder_of_hooks(setting.value)}:
            hooks = folder / _expand(named, home)
            if not folder.is_relative_to(hooks):  # else the whole repository would be closed
                yield ObeyedPath(hooks)
    elif setting.key == "templatedir":
        yield ObeyedPath(folder / _expand(setting.value, home))
    elif setting.section != "alias" or setting.value.startswith("!"):
        is_line = setting.key in COMMAND_KEYS
        for word in paths_in(setting.value, str(folder), home):
            path = folder / _expand(word, home)
            if _is_file(path) or (is_line and PLAIN_PATH.fullmatch(word) and not os.path.lexists(path)):
                yield ObeyedPath(path, is_file=True)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # longer than a path may be
        return False


def _expand(value: str, home: str) -> Path:
    value = value.replace("\0", "")
    try:
        return Path(f"{home}{value[1:]}") if value == "~" or value.startswith("~/") else Path(value).expanduser()
    except RuntimeError:  # no such user
        return Path(value)


def program_settings(file: Path) -> Iterator[GitSetting]:
    """Yield the settings of a file that may make git start something. Raises Unjudged for a file that is too long."""
    return (setting for setting in _settings_in(file) if not setting.is_harmless)


def _settings_in(file: Path) -> tuple[GitSetting, ...]:
    """Return the settings of a file that matter here: those that are not harmless, and the hash format."""
    try:
        found = os.stat(file)  # noqa: PTH116 - some ten for each repository and command
    except (OSError, ValueError):
        return ()
    if found.st_size > CONFIG_BYTES:
        raise TooManySettings(f"{file} has more than {CONFIG_BYTES} bytes")
    return _settings.get(
        found,
        lambda: tuple(
            setting for setting in parse_settings(_text(file)) if not setting.is_harmless or setting.key == FORMAT
        ),
    )


def _text(file: Path) -> str:
    try:
        return read_ordinary(file, CONFIG_BYTES).decode("utf-8-sig", "surrogateescape")
    except (OSError, ValueError):
        return ""
