"""Refusals in the words of a method, where it has its own. Pure."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from actors.vocabulary.errors import Cancelled, GreenroomError


class MethodError(GreenroomError):
    """An error with a number and data of the method's own, which goes out as it is."""

    def __init__(self, number: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.number = number
        self.data = data


@contextmanager
def worded(make: Callable[[str], GreenroomError], words: str) -> Iterator[None]:
    """Put the words before what is refused inside. A request that was taken back has no such words."""
    try:
        yield
    except Cancelled:
        raise
    except GreenroomError as why:
        raise make(f"{words}: {why.message}") from None
