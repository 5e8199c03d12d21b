"""One client as its dialect knows it: its requests, their scripts, and what is to be done for it. Pure."""

from collections.abc import Callable

from transports.dialect import Action, Client
from transports.dialects.kit.requests import REQUESTS_LIMIT, Requests
from transports.dialects.kit.script import Scripts


class ClientState:
    """`do` carries out what needs no answer, in order; the dialect hands it out with `taken`."""

    def __init__(self, client: Client, requests_in_flight: int = REQUESTS_LIMIT) -> None:
        self.client = client  # a bridge's is the program behind it, as soon as that has said its name
        self._actions: list[Action] = []
        self.do: Callable[[Action], None] = self._actions.append
        self.scripts = Scripts(client.connection, self.do)
        self.requests = Requests(self.scripts, requests_in_flight)

    def taken(self) -> tuple[Action, ...]:
        actions = tuple(self._actions)
        self._actions.clear()
        return actions
