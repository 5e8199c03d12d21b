"""What a client of the bridge has asked for that holds until it says otherwise: its log level, its subscriptions.

The next daemon has to hear it too. Pure; standard library only.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from typing import Any

LEVEL, SUBSCRIBE, UNSUBSCRIBE = "logging/setLevel", "resources/subscribe", "resources/unsubscribe"
QUIET = ("error", "critical", "alert", "emergency")  # levels at which nobody wants to hear of a warning
LASTING = (LEVEL, SUBSCRIBE, UNSUBSCRIBE)  # compared one by one: a client may say a list where a name belongs


class Lasting:
    def __init__(self) -> None:
        self._asked: dict[str, dict[str, Any]] = {}  # by the request's key; holds when it is answered
        self._holds: dict[str, dict[str, Any]] = {}  # by what it is about; bounded by what a daemon grants

    def asked(self, key: str, message: dict[str, Any]) -> None:
        if message["method"] in LASTING:
            self._asked[key] = message

    def answered(self, key: str, *, granted: bool) -> None:
        message = self._asked.pop(key, None)
        if message is None or not granted:
            return
        params = message.get("params")
        about = LEVEL if message["method"] == LEVEL else str(params.get("uri") if isinstance(params, dict) else None)
        self._holds.pop(about, None)
        if message["method"] != UNSUBSCRIBE:
            self._holds[about] = message

    @property
    def wants_warnings(self) -> bool:
        params = self._holds.get(LEVEL, {}).get("params")
        return not (isinstance(params, dict) and params.get("level") in QUIET)

    def lost(self) -> None:
        """What was not answered has failed, and its client is told so."""
        self._asked.clear()

    def forget(self) -> None:
        """A client that introduces itself anew has asked for nothing yet."""
        self._asked.clear()
        self._holds.clear()

    def all(self) -> list[dict[str, Any]]:
        return list(self._holds.values())
