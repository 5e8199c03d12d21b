"""Methods and calls: the model of the params, the handler, and the request that it answers."""

from collections.abc import Callable
from typing import Generic, TypeVar, cast

from msgspec import Struct
from pydantic import BaseModel

from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import RequestId
from transports.dialect import Action, Client
from transports.dialects.kit.client_state import ClientState
from transports.dialects.kit.script import Script

State_co = TypeVar("State_co", bound=ClientState, covariant=True)
Params = TypeVar("Params", bound=BaseModel)
AnyCall = TypeVar("AnyCall")
AnyCall_contra = TypeVar("AnyCall_contra", contravariant=True)


class MethodCall(Struct, Generic[State_co], eq=False):
    """One open request. Its script's result or refusal is the only answer."""

    state: State_co
    request: RequestId

    @property
    def client(self) -> Client:
        return self.state.client

    def do(self, action: Action) -> None:
        """Collect an action that needs no answer."""
        self.state.do(action)


def always_urgent(_: object) -> bool:
    return True


def never_urgent(_: object) -> bool:
    return False


class Method(Struct, Generic[AnyCall_contra], frozen=True):
    """`urgent`: by its params, whether a request ends other requests and is let in even if the client is full."""

    params: type[BaseModel]
    handler: Callable[[AnyCall_contra, BaseModel], Script[object] | object]
    urgent: Callable[[BaseModel], bool] = never_urgent

    def begin(self, call: AnyCall_contra, params: BaseModel) -> Script[object] | object:
        """The handler's script, or its immediate answer or refusal."""
        try:
            return self.handler(call, params)
        except GreenroomError as why:
            return why


def method(
    params: type[Params],
    handler: Callable[[AnyCall, Params], Script[object] | object],
    *,
    urgent: Callable[[Params], bool] = never_urgent,
) -> Method[AnyCall]:
    """A method whose handler and urgency take its own params model."""
    return Method(
        params,
        cast("Callable[[AnyCall, BaseModel], object]", handler),
        cast("Callable[[BaseModel], bool]", urgent),
    )
