"""A promise: what it says, and the function that tries it. Kept is what raises nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

from tests.judges.promises.trial import Trial

Case = Callable[[Trial], None]


class BesideThePoint(Exception):
    """There is nothing to try with a server that is built like this one."""


@dataclass(frozen=True, slots=True)
class Promise:
    words: str
    case: Case


def promise(words: str) -> Callable[[Case], Promise]:
    """The function becomes the promise that it tries."""
    return lambda case: Promise(words, case)


def promises_of(module: ModuleType) -> Iterator[Promise]:
    return (one for one in vars(module).values() if isinstance(one, Promise))
