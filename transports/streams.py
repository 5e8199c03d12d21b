"""The streams and listeners that a client of the bridge believes to be on. After a daemon's end they are silent.

They are not taken up again for it: of a stream that would be a whole history anew, which only the client can say it
wants, and a listener would miss how the turn ended that was lost. Pure; standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from typing import Any

STREAM = "conversationStream"
LISTEN, LEAVE = "addConversationListener", "removeConversationListener"


class Streams:
    def __init__(self) -> None:
        self._asked: dict[str, str] = {}  # conversations, by the request's key
        self._on: dict[str, str] = {}  # the request's key, by conversation: a second one takes over

    def asked(self, key: str, message: dict[str, Any]) -> None:
        params = message.get("params")
        if message["method"] == "tools/call" and isinstance(params, dict) and params.get("name") == STREAM:
            _note(self._asked, key, params.get("arguments"), "conversation_id")

    def answered(self, key: str, message: dict[str, Any]) -> None:
        conversation = self._asked.pop(key, None)
        result = message.get("result")
        if conversation is not None and isinstance(result, dict) and not result.get("isError"):
            self._on[conversation] = key

    def cancelled(self, key: str) -> None:
        """By its client, before or after it was answered."""
        self._asked.pop(key, None)
        self._on = {conversation: one for conversation, one in self._on.items() if one != key}

    def ended(self, conversation: object) -> None:
        """The daemon has said so itself."""
        if isinstance(conversation, str):
            self._on.pop(conversation, None)

    def lost(self) -> list[str]:
        """All are over. Returns the conversations whose client is to be told."""
        told = list(self._on)
        self._asked.clear()
        self._on.clear()
        return told


class Listeners:
    def __init__(self) -> None:
        self._asked: dict[str, str] = {}  # conversations, by the request's key
        self._leaving: dict[str, str] = {}  # subscriptions, by the request's key
        self._on: dict[str, str] = {}  # conversations, by subscription

    def asked(self, key: str, message: dict[str, Any]) -> None:
        params = message.get("params")
        if message["method"] == LISTEN:
            _note(self._asked, key, params, "conversationId")
        elif message["method"] == LEAVE:
            _note(self._leaving, key, params, "subscriptionId")

    def answered(self, key: str, message: dict[str, Any]) -> None:
        conversation, left = self._asked.pop(key, None), self._leaving.pop(key, None)
        result = message.get("result")
        if conversation is not None and isinstance(result, dict):
            self._on[str(result.get("subscriptionId"))] = conversation
        if left is not None and result is not None:
            self._on.pop(left, None)

    def lost(self) -> list[str]:
        """All are over. Returns the conversations that nothing is heard of any more."""
        told = list(dict.fromkeys(self._on.values()))
        for known in (self._asked, self._leaving, self._on):
            known.clear()
        return told


def _note(where: dict[str, str], key: str, params: Any, name: str) -> None:
    value = params.get(name) if isinstance(params, dict) else None
    if isinstance(value, str):
        where[key] = value
