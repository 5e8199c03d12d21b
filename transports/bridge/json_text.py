"""JSON read and written by the C part of the module json, which takes longer to load than all of the bridge.

The names of that part are private to CPython. Where they are missing, or do something else, json itself is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

COLON, COMMA = ":", ","


class _Usual:
    """The settings of json.loads."""

    strict, object_hook, object_pairs_hook = True, None, None
    parse_float, parse_int, parse_constant = float, int, float


def _no_json(value: object) -> object:
    raise TypeError(f"{type(value).__name__} can't be written as JSON")


try:
    from _json import encode_basestring, make_encoder, make_scanner

    _scan: Callable[[str, int], tuple[Any, int]] | None = make_scanner(_Usual)  # type: ignore[arg-type]  # any object with these members will do
    _encode = make_encoder(None, _no_json, encode_basestring, None, COLON, COMMA, False, False, True)

    def to_json(value: object) -> str:
        """Write a value as short as possible, its text as it is."""
        return "".join(_encode(value, 0))

    assert to_json({"a": [1, None]}) == '{"a":[1,null]}'  # noqa: S101  # of an interpreter that nobody has tried
except (ImportError, TypeError, AttributeError, AssertionError):
    import json

    _scan = None

    def to_json(value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(COMMA, COLON))


def from_json(text: str) -> Any:
    """Read a value. Raises ValueError and RecursionError."""
    try:
        value, end = _scan(text, 0) if _scan is not None else (None, -1)
        if text[end:] in ("", "\n") and end > 0:
            return value
    except (StopIteration, SystemError):  # the latter in place of an error that only the whole module has
        pass
    import json  # for blanks around a value, and for the words about what is none

    return json.loads(text)
