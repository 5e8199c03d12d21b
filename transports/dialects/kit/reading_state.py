"""The state of a client that follows conversations and can be asked for approvals. Part of its connection."""

from collections.abc import Callable
from typing import Protocol

from actors.vocabulary.ids import ConversationId
from transports.dialect import Client
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.client_state import ClientState
from transports.dialects.kit.conversation_readers import Readers, SinkReader
from transports.dialects.kit.questions import OpenQuestions
from transports.supervisor_requests import Person


class NoticeLog(Protocol):
    """Messages for the client's person; `once` says no text twice."""

    def say(self, level: str, text: str) -> None: ...

    def once(self, level: str, text: str) -> None: ...


class ReadingState(ClientState):
    version: str  # of our program
    person: Person  # supplies the settings that a request leaves out
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
        self.listeners: dict[str, SinkReader] = {}  # by their names for the client
        self.without_listener: Bounded[ConversationId, None] = (
            Bounded()
        )  # conversations made by this client, without a listener so far
