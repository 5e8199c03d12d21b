"""What a method is: the shape of its params, and who carries it out. A leaf."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from transports.dialect import Action

if TYPE_CHECKING:
    from transports.dialects.mcp.call import Call

Handler = Callable[["Call", Any], Iterable[Action]]


def always(_: Any) -> bool:
    return True


def never(_: Any) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Method:
    params: type[BaseModel]
    handler: Handler
    urgent: Callable[[Any], bool] = never  # of its params: whether it is let in beside too many others
