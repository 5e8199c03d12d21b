"""JSON by the C part of the module json, which itself takes longer to load than the whole bridge.

The names of that part are private to CPython. Where they are missing or behave differently, json itself is used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
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
        """Write a value without blanks, its text unescaped."""
        return "".join(_encode(value, 0))

    assert to_json({"a": [1, None]}) == '{"a":[1,null]}'  # noqa: S101  # a check of untested interpreters
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
    except (StopIteration, SystemError):  # SystemError replaces an error class of the whole module
        pass
    import json  # handles blanks around a value, and words the errors

    return json.loads(text)
