"""What the handlers of one client work with. Part of its connection."""

from collections.abc import Callable
from dataclasses import dataclass

from transports.dialect import Action, Client
from transports.dialects.control.subscriptions import Subscriptions
from transports.dialects.kit.requests import Requests
from transports.dialects.kit.script import Scripts


@dataclass(frozen=True, slots=True)
class Call:
    """`do` carries out what needs no answer."""

    client: Client
    scripts: Scripts
    requests: Requests
    subscriptions: Subscriptions
    do: Callable[[Action], None]
