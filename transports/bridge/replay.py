"""The protocol by which a dialect tells the bridge about its messages, so that a client outlives its daemon.

The bridge knows JSON-RPC: it keeps which requests are open on either side, says the handshake again, fails what is
lost, and orders all of it. A dialect's replay knows its methods: which messages the next daemon has to hear too, and
what the client must be told is over. It is pure and imports the standard library alone, since the bridge starts once
per editor and per window.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    from transports.bridge.messages import Id, Message

    class Replay(Protocol):
        server: str  # what the client has started, as people are told of it
        handshake: str  # the method of the request that a client begins with

        # --- the client's messages ---

        def answer_at_once(self, request: Message) -> Message | None:
            """The outcome, `result` or `error`, of a request that the bridge answers, daemon or not.

            If it is the handshake, the daemon hears it under an id of the bridge's own, and nobody its answer.
            """

        def answer_alone(self, request: Message) -> Message | None:
            """The outcome of a request that the bridge answers while there is no daemon."""

        def outlives(self, request: Message) -> bool:
            """Return whether a request stays open when its daemon goes, and is said again to the next one."""

        def keep(self, message: Message) -> Message | None:
            """Reduce a message to what `said`, `answered` and `explained` need; it may wait a while to be sent."""

        def said(self, kept: Message, requests: dict[Id, Message]) -> None:
            """A message of which something was kept begins to leave for the daemon.

            `requests` has what was kept of each request that is not answered; it may be replaced.
            """

        def follows(self, kept: Message, requests: dict[Id, Message]) -> list[Id]:
            """The open requests on which a notification follows, as a cancel does: said again with those of them."""

        # --- the daemon's messages ---

        def answered(self, kept: Message, answer: Message) -> None:
            """A request of which something was kept has its answer, or one of those that `again` returned."""

        def heard(self, line: bytes, requests: dict[Id, Message]) -> Id | None:
            """Read a notification; returns the id of a question that the daemon takes back by it.

            Most are events: no more of a line is parsed than is needed.
            """

        # --- daemons come and go ---

        def unfinished(self) -> bool:
            """Return whether the client waits for an end that no open request stands for."""

        def explained(self, kept: Message, error: Message) -> Message:
            """The error that a lost request is answered with, and what there is to add to it."""

        def lost(self, questions: Iterable[Id], why: str) -> list[Message]:
            """The daemon is gone, with what can't be taken up again: what the client is told of that.

            `questions` are the daemon's requests that the client has not answered; no answer to them is sent on.
            """

        def again(self) -> list[Message]:
            """The messages for the next daemon after the handshake, in order. Requests get new ids."""
