"""Refusals worded by a method. Pure."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from actors.vocabulary.errors import Cancelled, GreenroomError


class MethodError(GreenroomError):
    """An error with a method's own number and data, which goes out unchanged."""

    def __init__(self, number: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.number = number
        self.data = data


@contextmanager
def prefix_refusals(make: Callable[[str], GreenroomError], words: str) -> Iterator[None]:
    """Put words before the refusals raised inside, except for a request that was taken back."""
    try:
        yield
    except Cancelled:
        raise
    except GreenroomError as why:
        raise make(f"{words}: {why.message}") from None
