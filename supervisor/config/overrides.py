"""Overrides: `a.b.c=value` from a command line, and the `config` map of a client. Both become a tree like the file's.

Pure. Knows no particular key; the tree is checked when it is merged with the file.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date, time

from actors.vocabulary.errors import ConfigError

Tree = dict[str, object]

_SEGMENT = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([^."'\s]+(?:\s+[^."'\s]+)*))\s*(\.|$)""")
LONGEST_KEY = 4096  # characters; the longest real key has 60
DEEPEST = 32  # tables in tables; there are four
_INTEGERS = range(-(2**63), 2**63)


def parse_overrides(words: Iterable[str]) -> Tree:
    """The tree of `key=value` words; later words win. A value that is not TOML is taken as a string."""
    tree: Tree = {}
    for word in words:
        key, equals, raw = word.partition("=")
        if not equals:
            raise ConfigError(f"override {key!a} has no `=`; expected key=value", key=key)
        _put(tree, split_key(key), _toml_value(raw.strip()))
    return tree


def overrides_from_json(members: Mapping[str, object]) -> Tree:
    """The tree of a JSON object whose keys are dotted paths."""
    tree: Tree = {}
    for key, value in members.items():
        try:
            _put(tree, split_key(key), _json_value(value))
        except RecursionError:
            raise ConfigError(f"override {key!a} is nested too deeply", key=key) from None
        if _is_deeper_than(value, DEEPEST):
            raise ConfigError(f"override {key!a} is nested too deeply", key=key)
    return tree


def merge(below: Mapping[str, object], above: Mapping[str, object]) -> Tree:
    """Merge two trees: tables are joined, other values replaced. The result shares no table with the arguments."""
    merged: Tree = {key: merge(value, {}) if isinstance(value, Mapping) else value for key, value in below.items()}
    for key, value in above.items():
        before = merged.get(key)
        if isinstance(value, Mapping):
            merged[key] = merge(before if isinstance(before, Mapping) else {}, value)
        else:
            merged[key] = value
    return merged


def split_key(key: str) -> list[str]:
    """Split a dotted key: `a."b.c".d` → a, b.c, d."""
    if len(key) > LONGEST_KEY:
        raise ConfigError(f"override key {key[:60]!a}… is too long: more than {LONGEST_KEY} characters")
    parts: list[str] = []
    at, more = 0, True
    while more:
        found = _SEGMENT.match(key, at)
        if found is None:
            raise ConfigError(f"override key {key!a} is not a dotted path like `a.b.c`", key=key)
        parts.append(next(part for part in found.groups() if part is not None))
        at, more = found.end(), found[4] == "."
        if len(parts) > DEEPEST:
            raise ConfigError(f"override key {key[:60]!a}… has too many parts: more than {DEEPEST}")
    return parts


def _put(tree: Tree, path: list[str], value: object) -> None:
    *tables, last = path
    for name in tables:
        below = tree.get(name)
        if not isinstance(below, dict):
            below = tree[name] = {}
        tree = below
    tree[last] = value


def _toml_value(raw: str) -> object:
    try:
        parsed = tomllib.loads(f"value = {raw}")
    except (ValueError, RecursionError):
        return raw.strip("\"'")
    value = parsed.pop("value")
    if _is_deeper_than(value, DEEPEST):
        return raw.strip("\"'")
    # More than one key: the text had a second line. A date: no key takes a date, but a name may look like a date.
    return raw.strip("\"'") if parsed or isinstance(value, (date, time)) else value


def _is_deeper_than(value: object, levels: int) -> bool:
    below = value.values() if isinstance(value, Mapping) else value if isinstance(value, (list, tuple)) else ()
    return levels < 0 or any(_is_deeper_than(each, levels - 1) for each in below)


def _json_value(value: object) -> object:
    match value:
        case None:
            return ""
        case bool() | str():
            return value
        case int() if value in _INTEGERS:
            return value
        case int() | float():
            try:
                return float(value)
            except OverflowError:
                raise ConfigError("an override has a number that is too large") from None
        case Mapping():
            return {str(key): _json_value(each) for key, each in value.items()}
        case list() | tuple():
            return [_json_value(each) for each in value]
        case _:
            raise ConfigError(f"an override has a value of type {type(value).__name__}, which JSON doesn't have")
