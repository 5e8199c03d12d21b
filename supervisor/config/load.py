"""Loading of the configuration: find the file, read it, and merge the layers: overrides > profile > file > default.

Typed arguments come on top, in `derive`. Nothing but ConfigError is raised. Reads one file at start and reload, on
any thread; layering alone does no I/O.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from actors.vocabulary.errors import ConfigError
from supervisor.config.agent_definitions import agent_names
from supervisor.config.config_problems import (
    BUILT_IN_PROVIDERS,
    ConfigProblem,
    dotted_path,
    ignored_keys,
    printable,
    problems,
)
from supervisor.config.key_lines import key_lines
from supervisor.config.key_types import KeyPath
from supervisor.config.overrides import Tree, merge
from supervisor.config.stored_keys import StoredKeys, read_keys
from supervisor.config.whole_config import Config
from supervisor.paths import UnsafePath, codex_config_file, config_files

MOST_LAYERED = (
    64  # configurations of conversations at work, kept because each of their requests needs them several times
)
# A thousand times a file that is written by hand; guards against `--config /dev/zero`.
FILE_BYTES = 4 << 20
_POSITION = re.compile(r"^(.*) \(at (?:line (\d+), column \d+|end of document)\)$", re.DOTALL)
# An invalid policy on secrets must not become a policy that lets all of them pass.
_INSTEAD: Mapping[str, object] = {"shell_environment_policy": {"inherit": "core"}}


class ConfigFile(Struct, frozen=True):
    """A file that was read and is valid. `shared`: it is Codex's, whose keys only Codex can judge.

    `tree` has the content of the file; of a shared file, without the parts that are invalid here.
    """

    path: str | None = None
    text: str = ""
    tree: Mapping[str, object] = field(default_factory=dict)
    is_codex_file: bool = False
    warnings: tuple[str, ...] = ()
    stored_keys: StoredKeys = StoredKeys()  # read together with the file

    def position_of(self, path: KeyPath) -> str:
        lines = key_lines(self.text)
        line = lines.get(path, lines.get(path[:-1]))  # of a missing key: the line of its table
        return f"{self.path}:{line}" if line is not None else str(self.path)


class LoadedConfig(Struct, frozen=True):
    """The configuration in force, with its sources. `warnings` are lines for a person."""

    config: Config
    file: ConfigFile = ConfigFile()
    overrides: Mapping[str, object] = field(default_factory=dict)
    profile: str | None = None
    warnings: tuple[str, ...] = ()
    _by_overrides: dict[tuple[str, str | None], "LoadedConfig"] = field(
        default_factory=dict
    )  # as of the last requests

    def editable(self, environ: Mapping[str, str]) -> str:
        """The file to edit in order to change a setting."""
        return self.file.path or config_files(environ)[0]

    def with_overrides(self, overrides: Mapping[str, object], profile: str | None = None) -> "LoadedConfig":
        """The configuration of one conversation: its own overrides over those of the program's start."""
        if not overrides and profile is None:
            return self
        key = (repr(overrides), profile)
        known = self._by_overrides.get(key)
        if known is None:
            known = layer(self.file, merge(self.overrides, overrides), profile or self.profile)
            if len(self._by_overrides) >= MOST_LAYERED:
                self._by_overrides.clear()  # in one step, as several threads come here
            self._by_overrides[key] = known
        return known


def load(
    explicit: str | None = None,
    overrides: Mapping[str, object] | None = None,
    profile: str | None = None,
    environ: Mapping[str, str] | None = None,
) -> LoadedConfig:
    environ = os.environ if environ is None else environ
    return layer(_with_keys(read_file(*find_file(explicit, environ)), environ), overrides or {}, profile)


def _with_keys(file: ConfigFile, environ: Mapping[str, str]) -> ConfigFile:
    """The file, with the keys that `greenroom login` has stored. Unreadable keys are a warning, not an error."""
    try:
        return replace(file, stored_keys=read_keys(environ))
    except (OSError, UnsafePath, ValueError) as error:
        return replace(file, warnings=(*file.warnings, str(error)))


def find_file(explicit: str | None, environ: Mapping[str, str]) -> tuple[str | None, bool]:
    """The file that counts, and whether it is Codex's. Only one file is read."""
    if explicit is not None:
        return explicit, False
    try:
        ours = config_files(environ)
    except UnsafePath as error:
        raise ConfigError(str(error)) from error
    for path in ours:
        if _exists(path):
            return path, False
    codex = codex_config_file(environ)
    return (codex, True) if _exists(codex) else (None, False)


def read_file(path: str | None, shared: bool = False) -> ConfigFile:
    if path is None:
        return ConfigFile()
    text = _text(path)
    tree = _parse(path, text)
    file = ConfigFile(path, text, tree, shared)
    if shared:
        return _without_invalid_parts(file)
    wrong = problems(tree)
    if wrong:
        raise _error(wrong, file)
    return replace(file, warnings=tuple(_line(file, problem) for problem in ignored_keys(tree)))


def layer(file: ConfigFile, overrides: Mapping[str, object], profile: str | None = None) -> LoadedConfig:
    overridden = merge(file.tree, overrides)
    wrong = problems(overridden)  # the file alone is valid, so an override is not
    if wrong:
        raise _error(wrong, file, in_overrides=True)
    warnings = [*file.warnings, *(f"override: {_text_of(each)}" for each in ignored_keys(overrides))]
    base = Config.model_validate(overridden)
    name = profile or base.profile
    if name is not None and name not in base.profiles:
        asked = profile is not None or "profile" in overrides
        warnings += _missing(
            file, asked, ("profile",), f"config profile `{printable(name)}` not found", list(base.profiles)
        )
        name = None
    chosen = base.profiles[name].model_dump(mode="json", exclude_none=True) if name is not None else {}
    final = merge(merge(merge(overridden, chosen), overrides), {"profile": name or ""})
    config = Config.model_validate(final).with_stored_keys(file.stored_keys)
    if config.agent is not None and config.agent not in (names := agent_names(config)):
        text = f"there is no agent `{printable(config.agent)}`"
        warnings += _missing(file, "agent" in overrides, ("agent",), text, names)
    warnings += _provider_warnings(file, overrides, config, chosen)
    return LoadedConfig(config, file, dict(overrides), profile, tuple(warnings))


def _provider_warnings(file: ConfigFile, overrides: Mapping[str, object], config: Config, chosen: Tree) -> list[str]:
    name = config.model_provider
    known = [*BUILT_IN_PROVIDERS, *config.model_providers]
    if name is None or name in known:
        return []
    asked = "model_provider" in overrides
    in_profile = "model_provider" in chosen and config.profile is not None
    path: KeyPath = ("profiles", str(config.profile), "model_provider") if in_profile else ("model_provider",)
    # In a shared file it becomes an error once the provider is needed: no other provider may get the prompts.
    return _missing(file, asked, path, f"Model provider `{printable(name)}` not found", known)


def _missing(file: ConfigFile, asked: bool, path: KeyPath, text: str, known: list[str]) -> list[str]:
    """Report an unknown name: in the words that Codex's clients know, or, if it is in a file, with file and line."""
    if asked or file.path is None:
        raise ConfigError(text, key=dotted_path(path), known=known)
    hint = f"expected one of {', '.join(known)}" if known else "none is defined"
    problem = ConfigProblem(path, f"{text}; {hint}")
    if file.is_codex_file:
        return [_line(file, problem)]
    raise _error([problem], file)


def _without_invalid_parts(file: ConfigFile) -> ConfigFile:
    """The file without its invalid parts, which Codex may understand: a user of Codex is never locked out."""
    tree, dropped = merge(file.tree, {}), []
    for key in ("agent", "agents"):  # in Codex, roles of its subagents
        tree.pop(key, None)
    if tree.pop("greenroom", None) is not None:
        dropped.append(
            ConfigProblem(("greenroom",), "ignored, because it is only read from a config file of Greenroom")
        )
    while wrong := problems(tree):
        dropped += [ConfigProblem(_drop(tree, each.path), f"{each.text}; ignored") for each in wrong]
    lines = key_lines(file.text)
    dropped.sort(key=lambda problem: lines.get(problem.path, 0))
    warnings = dict.fromkeys(_line(file, problem) for problem in dropped)
    return replace(file, tree=tree, warnings=tuple(warnings))


def _drop(tree: Tree, path: KeyPath) -> KeyPath:
    """Remove the smallest named part that contains the path, and return the part's own path."""
    top = str(path[0])
    if top in _INSTEAD:
        tree[top] = _INSTEAD[top]
        return (top,)
    names = list(path[: next((at for at, key in enumerate(path) if isinstance(key, int)), len(path))])
    table: object = tree
    for at, name in enumerate(names):
        if not isinstance(table, dict):
            break
        below = table.get(name)
        if name in table and (at == len(names) - 1 or not isinstance(below, dict)):
            del table[name]
            return tuple(names[: at + 1])
        table = below
    tree.pop(top, None)  # something is always removed, or the caller would never end
    return (top,)


def _text(path: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            data = stream.read(FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(f"{path}: can't be read: {reason}", file=path) from error
    if len(data) > FILE_BYTES:
        raise ConfigError(f"{path}: larger than {FILE_BYTES} bytes; make it smaller", file=path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8", file=path, line=line) from error


def _parse(path: str, text: str) -> Tree:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ConfigError(f"{path}: nested too deeply", file=path) from None
    except ValueError as error:
        found = _POSITION.match(str(error))
        if found is None:  # not from the grammar: an integer with thousands of digits
            raise ConfigError(f"{path}: {str(error).partition(';')[0]}", file=path) from error
        line = int(found[2]) if found[2] else text.count("\n") + 1
        raise ConfigError(f"{path}:{line}: not TOML: {found[1]}", file=path, line=line) from error


def _exists(path: str) -> bool:
    try:
        Path(path).stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True  # it exists, and reading it will raise the error
    return True


def _text_of(problem: ConfigProblem) -> str:
    return f"`{dotted_path(problem.path)}`: {problem.text}"


def _line(file: ConfigFile, problem: ConfigProblem) -> str:
    return f"{file.position_of(problem.path)}: {_text_of(problem)}"


def _error(problems: list[ConfigProblem], file: ConfigFile, *, in_overrides: bool = False) -> ConfigError:
    """One error for all problems, in the order of the file; its details are those of the first."""
    lines = {} if in_overrides else key_lines(file.text)
    placed = sorted(problems, key=lambda problem: lines.get(problem.path, 0))
    texts = [f"{'override' if in_overrides else file.position_of(each.path)}: {_text_of(each)}" for each in placed]
    first = placed[0].path
    return ConfigError("\n".join(texts), file=file.path, line=lines.get(first), key=dotted_path(first))
