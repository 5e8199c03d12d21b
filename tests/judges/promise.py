"""A promise: its words, and the function that tries it. It is kept if the function raises nothing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Protocol, Self, TypeVar


class Setting(AbstractContextManager[Any], Protocol):
    """The setting of a trial: a fresh home, in which a candidate is started."""

    home: Path

    def __enter__(self) -> Self: ...


S = TypeVar("S", bound=Setting)


class BesideThePoint(Exception):
    """The promise does not apply to a candidate of this kind."""


@dataclass(frozen=True, slots=True)
class Promise(Generic[S]):
    words: str
    case: Callable[[S], None]


def promise(words: str) -> Callable[[Callable[[S], None]], Promise[S]]:
    """Make a function the trial of a promise."""
    return lambda case: Promise(words, case)


def promises_of(module: ModuleType) -> Iterator[Promise[Any]]:
    return (one for one in vars(module).values() if isinstance(one, Promise))
