"""The making of a method for both clients from one script or reader."""

from collections.abc import Callable, Coroutine
from functools import wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from greenroom.following import EventReader
from greenroom.record import Event
from greenroom.scripts import Script

if TYPE_CHECKING:  # the kinds of client, each of which is an Api
    from greenroom.aio import AsyncClient, AsyncEvents
    from greenroom.client import Events
    from greenroom.methods import Api, BlockingApi

P = ParamSpec("P")
T = TypeVar("T")
E = TypeVar("E", bound=Event)
C = TypeVar("C")
M = TypeVar("M")  # what a method is made of: a script or a reader
B = TypeVar("B")  # what it returns to a blocking caller
A = TypeVar("A")  # and what it returns on an event loop


class ClientMethod(Generic[P, M, B, A]):
    """A method of both clients, whose result depends on the kind of client. Of the class, it is the script itself."""

    def __init__(self, made: Callable[Concatenate["Api", P], M], carried_out: str) -> None:
        @wraps(made)
        def method(client: "Api", *args: P.args, **kwargs: P.kwargs) -> Any:
            return getattr(client, carried_out)(made(client, *args, **kwargs))

        self._made, self._method = made, method

    @overload
    def __get__(self, client: None, kind: type) -> Callable[Concatenate["Api", P], M]: ...
    @overload
    def __get__(self, client: "BlockingApi", kind: type) -> Callable[P, B]: ...
    @overload
    def __get__(self, client: "AsyncClient", kind: type) -> Callable[P, A]: ...
    def __get__(self, client: "Api | None", kind: type) -> Any:
        return self._made if client is None else MethodType(self._method, client)


def request(
    script: Callable[Concatenate["Api", P], Script[T]],
) -> ClientMethod[P, Script[T], T, Coroutine[Any, Any, T]]:
    return ClientMethod(script, "_carry_out")


def reader(
    made: Callable[Concatenate["Api", P], EventReader[E, C]],
) -> ClientMethod[P, EventReader[E, C], "Events[E, C]", "AsyncEvents[E, C]"]:
    return ClientMethod(made, "_read")
