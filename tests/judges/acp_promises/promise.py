"""A promise: its words, and the function that tries it. It is kept if the function raises nothing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

from tests.judges.acp_promises.trial import Trial

Case = Callable[[Trial], None]


@dataclass(frozen=True, slots=True)
class Promise:
    words: str
    case: Case


def promise(words: str) -> Callable[[Case], Promise]:
    """Make a function the trial of a promise."""
    return lambda case: Promise(words, case)


def promises_of(module: ModuleType) -> Iterator[Promise]:
    return (one for one in vars(module).values() if isinstance(one, Promise))
