"""A dictionary that forgets its oldest entry when full, for facts that are useful but never necessary. A leaf."""

from typing import TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

CAPACITY = 256  # entries; far more than a client uses at a time


class Bounded(dict[Key, Value]):
    def __init__(self, limit: int = CAPACITY) -> None:
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: Key, value: Value) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        while len(self) > self._limit:
            del self[next(iter(self))]
