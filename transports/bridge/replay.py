"""The protocol by which a dialect explains its messages to the bridge, so that a client outlives its daemon.

The bridge knows JSON-RPC: it tracks open requests on either side, repeats the handshake, fails lost requests, and
orders all of it. A dialect's replay knows the methods: which messages the next daemon has to hear, and which losses
the client must be told. It is pure and imports only the standard library, since the bridge starts once per editor and
per window.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from transports.bridge.messages import Id, Message

    class Replay(Protocol):
        server: str  # the kind of server, for messages to people
        handshake: str  # the method of a client's first request

        # --- the client's messages ---

        def answer_at_once(self, request: Message) -> Message | None:
            """The outcome, `result` or `error`, of a request that the bridge answers, daemon or not.

            For the handshake: the daemon gets it under an id of the bridge's own, and its answer is dropped.
            """

        def answer_alone(self, request: Message) -> Message | None:
            """The outcome of a request that the bridge answers while there is no daemon."""

        def outlives(self, request: Message) -> bool:
            """Return whether a request stays open when its daemon goes, and is sent again to the next one."""

        def keep(self, message: Message) -> Message | None:
            """Reduce a message to the parts that this replay needs later; it may wait to be sent."""

        def note_sent(self, kept: Message, requests: dict[Id, Message]) -> None:
            """Note that a kept message begins to leave for the daemon.

            `requests`: the kept part of each open request; it may be replaced.
            """

        def follows(self, kept: Message, requests: dict[Id, Message]) -> list[Id]:
            """The open requests that a notification, such as a cancel, refers to: it is sent again with them."""

        # --- the daemon's messages ---

        def note_answer(self, kept: Message, answer: Message) -> None:
            """Note the answer to a kept request, or to a request that was replayed."""

        def read_notification(self, line: bytes, requests: dict[Id, Message]) -> Id | None:
            """Read a notification; returns the id of a question that the daemon takes back by it.

            Most are events: no more of a line is parsed than is needed.
            """

        # --- changes of daemon --------------------------------------------------------------------------------------

        def awaits_end(self) -> bool:
            """Return whether the client waits for an end that no open request stands for."""

        def explain_loss(self, kept: Message, error: Message) -> Message:
            """The error that answers a lost request, with additions of the dialect."""

        def loss_messages(self, questions: Iterable[Id], why: str) -> list[Message]:
            """The daemon is gone: the messages that tell the client of everything that can't be resumed.

            `questions`: the daemon's requests that the client has not answered; answers to them will be dropped.
            """

        def replayed_messages(self) -> list[Message]:
            """The messages for the next daemon after the handshake, in order. Requests get new ids."""
