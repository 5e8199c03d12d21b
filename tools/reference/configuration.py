"""The reference of the configuration, written from the models that check it."""

import json
from collections.abc import Iterator
from enum import Enum

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from supervisor.config.key_types import KeyType
from supervisor.config.shared_keys import WITHOUT_EFFECT
from supervisor.config.whole_config import Config

RULES = """# Configuration

This page is written from the code by `make reference`.

## Where it is found

One file is read, the first that exists:

1. the one named with `--config`;
2. `$GREENROOM_HOME/config.toml`;
3. `$XDG_CONFIG_HOME/greenroom/config.toml` (`~/.config/greenroom/config.toml`);
4. `$CODEX_HOME/config.toml` (`~/.codex/config.toml`), of which the keys are read that Codex and Greenroom share.

No file is needed. `greenroom config path` prints the path of the file in use, `greenroom config check` checks it.

In a file of its own Greenroom refuses invalid values, and names file, line, key and what it expected. It warns about
unknown keys. In Codex's file it ignores unknown keys, and invalid values with a warning; only a file that can't be
read or is not TOML is an error. An invalid `shell_environment_policy` in it is replaced by `inherit = "core"`, so
that no secret gets out by mistake. An unknown provider in it is an error once it is needed: prompts never go to
another provider instead.

## Which value wins

typed argument > override > profile > file > default

- A **typed argument** is `-m`, `-C`, `--approval`, `--sandbox`, `--profile`, or the member of that name in a request.
- An **override** is `-c a.b.c=value`, or a member of a request's `config` object. The value is TOML, and what isn't
  TOML is a string, so `-c model=gpt-5` needs no quotes. A part with a dot in it is quoted: `-c 'a."b.c"=1'`. `null`
  in a request means an empty string, and an empty string unsets a key that has no default. Of two overrides of a
  key the later wins.
- A **profile** is a table `[profiles.NAME]`, selected by typed argument, by override, or by `profile` in the file.
  Its values win over the file's top level. An override of a top-level key wins over the profile's value of that key
  (in Codex it is the other way round); an override of `profiles.NAME.key` changes the profile.

## Which model runs

The provider that `model_provider` names; else `openai` if `OPENAI_API_KEY` is set and not empty; else `demo`, which
needs neither key nor network. If no provider is named, a notice says once which is used, and how to change that.

| Variable | Meaning |
|---|---|
| `OPENAI_API_KEY` | key of the built-in `openai` |
| `OPENAI_BASE_URL` | address of the built-in `openai` |
| `OPENAI_ORGANIZATION`, `OPENAI_PROJECT` | sent to `openai` as headers, when set |
| `ANTHROPIC_BASE_URL`, `AZURE_OPENAI_ENDPOINT`, `OLLAMA_HOST` | addresses of the built-in providers of these names |
| `CODEX_OSS_BASE_URL`, `CODEX_OSS_PORT` | address of the built-in `oss`; else port 11434 of this machine |
| `GREENROOM_HOME` | absolute path; configuration, state and socket below one directory |
| `XDG_CONFIG_HOME`, `XDG_STATE_HOME` | where they are otherwise; programs started without these find them, too |
| `CODEX_HOME` | where Codex's configuration is |

## Keys
"""


def configuration_page() -> str:
    sections = [RULES, *_sections(Config, ""), _without_effect()]
    return "\n".join(sections)


def _sections(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """The model's own keys, then a section for each table below it."""
    title = f"### `[{prefix}]`" if prefix else "### Top level"
    yield "\n".join([title, "", *_description(model, prefix), *_rows(model), ""])
    for name, info in model.model_fields.items():
        key_type = KeyType.from_annotation(info.annotation, info.metadata)
        path = f"{prefix}.{name}" if prefix else name
        if key_type.table is not None:
            yield from _sections(key_type.table, path)
        elif key_type.is_free and (below := key_type["NAME"]) is not None and below.table is not None:
            yield from _sections(below.table, f"{path}.NAME")


def _description(model: type[BaseModel], prefix: str) -> list[str]:
    if not prefix:
        return []
    return [*(line.strip() for line in (model.__doc__ or "").strip().splitlines()), ""]


def _rows(model: type[BaseModel]) -> list[str]:
    head = ["| Key | Expected | Default | Meaning |", "|---|---|---|---|"]
    return [*head, *(_row(name, info) for name, info in model.model_fields.items())]


def _row(name: str, info: FieldInfo) -> str:
    key_type = KeyType.from_annotation(info.annotation, info.metadata)
    default = "" if key_type.table is not None else "needed" if info.is_required() else _default_cell(info.default)
    cells = [f"`{name}`", key_type.expectation, default, info.description or ""]
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _default_cell(default: object) -> str:
    match default:
        case None:
            return "unset"
        case Enum():
            return f"`{json.dumps(default.value)}`"
        case () | {}:
            return "empty"
        case _:
            return f"`{json.dumps(default)}`"


def _without_effect() -> str:
    rows = [f"- `{name}`: {reason}" for name, reason in WITHOUT_EFFECT.items()]
    return "\n".join(["## Codex's keys that have no effect here", "", *rows, ""])
