"""Errors in a configuration, in words: the key, the value that was found, the value that was expected.

Secrets are never quoted. Pure; safe from any thread.
"""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from actors.vocabulary.brief import brief
from supervisor.config.agents import agent_misfits
from supervisor.config.built_in_providers import BUILT_IN, DEMO
from supervisor.config.key_types import KeyPath, KeyType, key_type_at, unknown_keys
from supervisor.config.mcp_servers import misfits
from supervisor.config.shared_keys import WITHOUT_EFFECT
from supervisor.config.whole_config import Config
from supervisor.logs.redaction import names_a_secret, scrub

BUILT_IN_PROVIDERS = tuple(BUILT_IN)
# Tables of free names, whose values may be secrets.
_VALUES_HIDDEN = frozenset({"http_headers", "query_params", "set", "env"})
HIDDEN_VALUE = "[…]"  # stands for a secret in stored settings
_SHOWN_CHARACTERS = 60
THE_NAME = "[key]"  # pydantic's mark of an error about the name of a free key, not about its value


class ConfigProblem(Struct, frozen=True):
    """A problem with a key. `text` follows the name of the key."""

    path: KeyPath
    text: str


def problems(tree: Mapping[str, object]) -> list[ConfigProblem]:
    """The problems of a tree; none if it is a valid configuration."""
    providers = tree.get("model_providers")
    found = [ConfigProblem(path, text) for path, text in misfits(tree.get("mcp_servers"))]
    found += [ConfigProblem(path, text) for path, text in agent_misfits(tree)]
    if isinstance(providers, Mapping) and DEMO in providers:
        text = "the built-in demo model has no server, so it can't be redefined; choose another name"
        found.append(ConfigProblem(("model_providers", DEMO), text))
    try:
        Config.model_validate(tree)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
        found += [_problem(tree, tuple(detail["loc"]), detail["type"]) for detail in details]
    return found


def ignored_keys(tree: Mapping[str, object]) -> list[ConfigProblem]:
    """Keys without effect, and unknown keys with the name that was probably meant, each as a problem."""
    found = []
    for path, known in unknown_keys(KeyType.from_annotation(Config), tree):
        name = str(path[-1])
        reason = WITHOUT_EFFECT.get(name if path[0] == "profiles" else ".".join(map(str, path)))
        if reason is not None:
            found.append(ConfigProblem(path, f"has no effect here: {reason}"))
            continue
        from difflib import get_close_matches

        near = get_close_matches(name, known, n=1)
        found.append(ConfigProblem(path, f"unknown key, ignored{f'; did you mean `{near[0]}`?' if near else ''}"))
    return found


def dotted_path(path: KeyPath) -> str:
    """The path as TOML writes it, with list elements in brackets."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
            continue
        plain = key.isascii() and key.replace("-", "_").isidentifier()
        text += ("." if text else "") + (key if plain else json.dumps(key))
    return text


def printable(name: str) -> str:
    """The name as one printable line: a client may send a lone surrogate, a line break or a control character."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in name)


def shown_value(path: KeyPath, value: object) -> str:
    """The value for a person, shortened; a secret is not shown."""
    if is_secret(path) and value is not None:
        return "(not shown)"
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as the user will have written it
    text = json.dumps(value, default=str, skipkeys=True) if value is not None else "unset"
    clean = scrub(text)
    return brief(clean, _SHOWN_CHARACTERS)


def is_secret(path: KeyPath) -> bool:
    *above, last = path
    if above and above[-1] == "env_http_headers":
        return False  # its values are names of variables, not secrets
    return names_a_secret(str(last)) or (bool(above) and above[-1] in _VALUES_HIDDEN)


def _problem(tree: Mapping[str, object], path: KeyPath, kind: str) -> ConfigProblem:
    if path[-1] == THE_NAME:
        return ConfigProblem(path[:-1], "a name can't be empty")
    key_type = key_type_at(Config, path)
    expected = key_type.expectation if key_type is not None else "a name"
    found = "nothing" if kind == "missing" else _describe_value(path, _value_at(tree, path))
    return ConfigProblem(path, f"expected {expected}, found {found}")


def _describe_value(path: KeyPath, value: object) -> str:
    match value:
        case bool() | int() | float():
            return "a number (not shown)" if is_secret(path) else _number(value)
        case str():
            if is_secret(path) or str(path[-1]) == "env_key":
                return "a string (not shown)"
            return f"the string {shown_value(path, value)}"
        case Mapping():
            return "a table"
        case list() | tuple():
            return "a list"
        case _:
            return f"a {type(value).__name__}"


def _number(value: int | float) -> str:  # noqa: PYI041 - mypy narrows an int out of a bare float
    if isinstance(value, bool):
        return "true" if value else "false"
    # Python refuses to write out an integer of thousands of digits.
    if isinstance(value, int) and value.bit_length() > 100:
        return "a number with very many digits"
    return str(value)


def _value_at(tree: object, path: KeyPath) -> object:
    for key in path:
        match tree, key:
            case Mapping(), str():
                tree = tree.get(key)
            case list(), int():
                tree = tree[key]
            case _:
                return tree
    return tree


def without_secrets(tree: Any, path: tuple[str, ...] = ()) -> Any:
    """A copy of the tree without secrets, to be shown or stored."""
    if isinstance(tree, dict):
        return {
            key: HIDDEN_VALUE
            if is_secret((*path, key)) and isinstance(value, str)
            else without_secrets(value, (*path, key))
            for key, value in tree.items()
        }
    return tree
