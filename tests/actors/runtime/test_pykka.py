"""Our assumptions on pykka's internals hold; and our actors behave as pykka's do."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pykka
import pykka._actor
import pykka._envelope
import pykka._threading
import pykka.messages
import pytest

from actors.runtime.base import PRIVATE, Actor
from actors.vocabulary.errors import ActorGone

BOUND_S = 5.0


class Echo(Actor[str]):
    """An actor as pykka's documentation writes one."""

    def __init__(self, log: list[object]) -> None:
        super().__init__()
        self._log = log

    def on_start(self) -> None:
        self._log.append("start")

    def on_receive(self, message: str) -> str:
        if message == "poison":
            raise ValueError(message)
        return message.upper()

    def on_stop(self) -> None:
        self._log.append("stop")

    def on_failure(self, exception_type: object, exception_value: object, traceback: object) -> None:
        del traceback
        self._log.append((exception_type, str(exception_value)))


@pytest.mark.parametrize("name", PRIVATE)
def test_private_members_of_pykka_are_as_we_use_them(name: str) -> None:
    owner, attribute = name.split(".")
    if attribute == "_actor_ref":  # an attribute of each actor, and what `actor_ref` gives
        plain = pykka.ThreadingActor()
        assert plain._actor_ref is plain.actor_ref
        return
    found = getattr(getattr(pykka, owner), attribute)
    assert _parameters(found) == PRIVATE[name][0], f"pykka has changed {name}, which is {PRIVATE[name][1]}"


def _parameters(found: Any) -> str:
    parameters = inspect.signature(found).parameters.values()
    shown = [one.name if one.default is one.empty else f"{one.name}={one.default}" for one in parameters]
    return f"({', '.join(shown)})"


def test_every_private_name_that_we_use_stands_in_the_table() -> None:
    theirs = set(_private_names(pykka.ThreadingActor)) | set(_private_names(pykka.ActorRef))
    here = Path(__file__).parents[3] / "actors"
    used = {name for path in here.glob("*.py") for name in theirs if name in _words(path.read_text())}
    assert used <= {name.split(".")[1] for name in PRIVATE}


def _private_names(kind: type) -> Iterator[str]:
    ours = {*dir(object), *dir(__import__("abc").ABC)}
    return (name for name in dir(kind) if name.startswith("_") and not name.startswith("__") and name not in ours)


def _words(text: str) -> set[str]:
    return set("".join(one if one.isidentifier() or one == "_" else " " for one in text).split())


def test_an_actor_is_started_asked_and_stopped_as_pykka_says() -> None:
    log: list[object] = []
    ref = Echo.start(log)
    assert isinstance(ref, pykka.ActorRef)
    assert pykka.ActorRegistry.get_by_class(Echo) == [ref]
    assert ref.ask("hello", timeout=BOUND_S) == "HELLO"
    assert ref.ask("later", block=False).get(timeout=BOUND_S) == "LATER"
    assert ref.stop(timeout=BOUND_S)
    assert not ref.is_alive()
    assert log == ["start", "stop"]
    assert pykka.ActorRegistry.get_all() == []
    with pytest.raises(ActorGone):  # our own name for pykka's ActorDeadError
        ref.tell("late")


def test_a_failure_is_told_as_pykka_says() -> None:
    log: list[object] = []
    ref = Echo.start(log)
    ref.tell("poison")
    assert ref.stop(timeout=BOUND_S)
    assert log == ["start", (ValueError, "poison")]
    assert pykka.ActorRegistry.get_all() == []
