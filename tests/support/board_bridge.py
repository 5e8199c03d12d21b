"""The bridge of another dialect, as a program: a board of notes. All that it adds is this Replay."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from supervisor.cli import bridge_verb
from transports.bridge import messages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from transports.bridge.messages import Id, Message


class BoardReplay:
    """A board that is watched is watched again; a draft is lost with its daemon."""

    server = "board"
    handshake = "enter"

    def __init__(self) -> None:
        self._watched: dict[str, Message] = {}
        self._drafts: list[str] = []

    def answer_alone(self, request: Message) -> Message | None:
        return {"result": {"alone": True}} if request["method"] == "knock" else None

    def answer_at_once(self, _: Message) -> Message | None:
        return None

    def outlives(self, _: Message) -> bool:
        return False

    def follows(self, _: Message, __: dict[Id, Message]) -> list[Id]:
        return []

    def awaits_end(self) -> bool:
        return False

    def keep(self, message: Message) -> Message | None:
        return message if message.get("method") in ("watch", "draft") else None

    def note_sent(self, kept: Message, requests: dict[Id, Message]) -> None:
        """Nothing: a request counts for the next daemon only once it is answered."""

    def note_answer(self, kept: Message, answer: Message) -> None:
        if "result" in answer and kept["method"] == "watch":
            self._watched[kept["params"]["board"]] = kept
        elif "result" in answer and kept["method"] == "draft":
            self._drafts.append(answer["result"]["draft"])

    def read_notification(self, line: bytes, requests: dict[Id, Message]) -> Id | None:  # noqa: ARG002  # a protocol
        return messages.identity(messages.parse_message(line)["params"], "question") if b'"unask"' in line else None

    def explain_loss(self, kept: Message, error: Message) -> Message:
        return {**error, "data": {**error["data"], "lost": kept.get("method")}}

    def loss_messages(self, questions: Iterable[Id], why: str) -> list[Message]:
        told = [messages.notification("unask", {"question": number}) for number in questions]
        told += [messages.notification("draft_lost", {"draft": draft, "why": why}) for draft in self._drafts]
        self._drafts.clear()
        return told

    def replayed_messages(self) -> list[Message]:
        return list(self._watched.values())


if __name__ == "__main__":
    board = bridge_verb.BridgeVerb("mcp", "board", lambda _: BoardReplay(), {})
    sys.exit(bridge_verb.main(board, sys.argv[1:]))
