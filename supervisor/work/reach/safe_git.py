"""Safe arguments and variables for git in a person's directory: git starts no program that the directory names.

No hook, monitor, pager, editor, external diff, project filter or helper runs; no submodule is entered, and nothing is
fetched. Pure: runs nothing itself. Standard library alone, for short processes.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from supervisor.disk.search_paths import drop_writable_entries
from supervisor.work.reach.git_config import COUNT, HOOKS, KEY, VALUE, GitSetting, folder_of_hooks, paths_in

# ruff: noqa: PTH111, PTH118 # pathlib is slow to import

GIT = (
    *("git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"),
    *("-c", "core.editor=true", "-c", "core.sshCommand=false", "-c", "core.askPass=", "-c", "credential.helper="),
    *("-c", "submodule.recurse=false", "-c", "protocol.allow=never"),
    *("-c", "log.showSignature=false", "-c", "status.submoduleSummary=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false"),
)
STATUS = ("status", "--porcelain", "--untracked-files=all", "--ignore-submodules=dirty")
PLAIN_DIFF = ("diff", "--no-textconv", "--no-ext-diff", "--no-color", "--ignore-submodules=dirty")
LIST_SETTINGS = ("config", "-z", "--list")
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
}
# All other GIT_ variables, which git would inherit, lead it to a repository, an index, a program or a file to write.
_KEPT = re.compile(
    r"GIT_(AUTHOR|COMMITTER)_\w+|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\d+|VALUE_\d+)|GIT_EXEC_PATH"
    r"|GIT_CEILING_DIRECTORIES|GIT_DISCOVERY_ACROSS_FILESYSTEM"
)
_LEADING = frozenset({"SSH_ASKPASS", "EDITOR", "VISUAL", "PAGER"})
# Filters that come with well-known programs, not with the project: a checkout without them has pointers for files.
_KNOWN_FILTER = re.compile(
    r"git[- ]lfs (clean|smudge|filter-process)( --skip)?( --)?( %f)?|\"?git-crypt\"? (clean|smudge)"
)
_FILTER = frozenset({"clean", "smudge", "process"})


def environment(env: Mapping[str, str], folders: Sequence[str]) -> dict[str, str]:
    """Return the variables without those that lead git elsewhere. `folders`: no program is looked for in them."""
    from pathlib import Path

    kept = {
        name: value
        for name, value in env.items()
        if name not in _LEADING and (not name.startswith("GIT_") or _KEPT.fullmatch(name))
    }
    return {**drop_writable_entries(kept, tuple(map(Path, folders))), **_VARIABLES}


def with_settings(env: Mapping[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment with these settings for git added, which win over all others."""
    count = env.get(COUNT, "0")
    first = int(count) if count.isdecimal() else 0
    added: dict[str, str] = {}
    for number, (key, value) in enumerate(settings.items(), first):
        added |= {f"{KEY}{number}": key, f"{VALUE}{number}": value}
    return {**env, **added, COUNT: str(first + len(settings))}


def read_list(listed: str) -> Iterator[GitSetting]:
    """Parse the output of `git config -z --list`."""
    for entry in listed.split("\0"):
        name, _, value = entry.partition("\n")
        section, _, rest = name.partition(".")
        sub, _, key = rest.rpartition(".")
        if key:
            yield GitSetting(section, sub, key, value)


def switched_off(settings: Sequence[GitSetting]) -> dict[str, str]:
    """Return settings that switch off every merge driver, and every filter but the known ones."""
    off: dict[str, str] = {}
    for setting in settings:
        if setting.section == "filter" and setting.key in _FILTER and not _KNOWN_FILTER.fullmatch(setting.value):
            off |= {setting.name: "", f"filter.{setting.sub}.required": "false"}
        elif setting.section == "merge" and setting.key == "driver":
            off[setting.name] = "false"  # a conflict, for a person to solve
    return off


def obeyed_below(settings: Sequence[GitSetting], top: str, home: str) -> dict[str, str]:
    """Return the paths below a work tree's top that git obeys, each with the name of the setting that leads there."""
    found: dict[str, str] = {}
    for setting in settings:
        if setting.is_harmless:
            continue
        is_hooks = (setting.section, setting.key) == HOOKS
        is_path = is_hooks or setting.key in {"path", "templatedir"}
        value = folder_of_hooks(setting.value) if is_hooks else setting.value
        for word in (value,) if is_path else paths_in(value, top, home):
            # Included files are named from the folder of the file that names them, mostly `.git`.
            for start in (top, os.path.join(top, ".git")) if setting.key == "path" else (top,):
                path = os.path.normpath(os.path.join(start, os.path.expanduser(word)))
                if path.startswith(f"{top}/"):
                    found.setdefault(path[len(top) + 1 :], setting.name)
    return found
