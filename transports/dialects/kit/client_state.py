"""The state of a client in its dialect: requests, their scripts, and collected actions. Pure."""

from collections.abc import Callable

from transports.dialect import Action, Client
from transports.dialects.kit.requests import REQUESTS_LIMIT, Requests
from transports.dialects.kit.script import Scripts


class ClientState:
    """`do` collects actions, in order, until the dialect fetches them."""

    def __init__(self, client: Client, requests_in_flight: int = REQUESTS_LIMIT) -> None:
        self.client = client  # for a bridge: the program that uses it, once that has introduced itself
        self._actions: list[Action] = []
        self.do: Callable[[Action], None] = self._actions.append
        self.scripts = Scripts(client.connection, self.do)
        self.requests = Requests(self.scripts, requests_in_flight)

    def take_actions(self) -> tuple[Action, ...]:
        actions = tuple(self._actions)
        self._actions.clear()
        return actions
