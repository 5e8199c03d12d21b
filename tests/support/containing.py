"""Whether JSON contains other JSON: all members of an object, all parts of a list."""

from typing import Any


def assert_contains(whole: Any, part: Any) -> None:
    if isinstance(part, dict):
        for name, value in part.items():
            assert_contains(whole[name], value)
    elif isinstance(part, list):
        assert len(whole) == len(part)
        for found, wanted in zip(whole, part, strict=True):
            assert_contains(found, wanted)
    else:
        assert whole == part
