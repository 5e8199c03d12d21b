"""One client that reads conversations as they go on, and can be asked for approvals. Part of its connection."""

from collections.abc import Callable
from typing import Protocol

from actors.vocabulary.ids import ConversationId
from transports.dialect import Client
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.client import ClientState
from transports.dialects.kit.questions import OpenQuestions
from transports.dialects.kit.readers import Readers, SinkReader
from transports.requests import Person


class NoticeLog(Protocol):
    """Messages for the client's person; `once` says none of them again."""

    def say(self, level: str, text: str) -> None: ...

    def once(self, level: str, text: str) -> None: ...


class ReadingState(ClientState):
    version: str  # the program's
    person: Person  # whose settings stand where a request says nothing
    log: NoticeLog

    def __init__(
        self,
        client: Client,
        requests_in_flight: int,
        subscriptions: int,
        withdrawal: Callable[[int, str], bytes],
        first_question: int,
    ) -> None:
        super().__init__(client, requests_in_flight)
        self.questions = OpenQuestions(self, withdrawal, first_question)
        self.readers = Readers(self, self.questions, subscriptions)
        self.listeners: dict[str, SinkReader] = {}  # by the names that the client was given
        self.unheard: Bounded[ConversationId, None] = Bounded()  # made by this client, and nobody listened yet
