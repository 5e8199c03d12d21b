"""Unfinished items of a conversation, so that no word of them is shown twice after a reconnect. Pure.

Standard library only: the command line uses it, too.
"""

from base64 import b64decode, b64encode

from greenroom.wire import Json

Key = tuple[str, str, str]  # item, type of the event, stream


class UnfinishedItems:
    """The length of each item that was handed out, and the length that the daemon still has to repeat."""

    def __init__(self) -> None:
        self._told: dict[Key, int] = {}
        self._repeated: dict[Key, int] = {}

    def begin_attachment(self) -> None:
        """A subscription begins: the daemon repeats every unfinished item from its beginning."""
        self._repeated = dict(self._told)

    def note_lag(self) -> None:
        """An unfinished item may have lost its beginning."""
        self._repeated.clear()

    def finish(self, body: Json) -> None:
        """Forget an item that is finished; a later item of the same name is another."""
        if body["type"] != "agent_reasoning_section_break":
            for counts in (self._told, self._repeated):
                for key in [known for known in counts if known[0] == body.get("item_id")]:
                    del counts[key]

    def new_part(self, envelope: Json) -> Json | None:
        """The delta with its new part alone; None if there is none."""
        body = envelope["event"]
        binary = "chunk" in body
        content = b64decode(body["chunk"]) if binary else body["delta"]
        key = (body["item_id"], body["type"], body.get("stream", ""))
        repeated = min(self._repeated.get(key, 0), len(content))
        new = content[repeated:]
        if repeated:
            self._repeated[key] -= repeated
            said = {"chunk": b64encode(new).decode()} if binary else {"delta": new}
            envelope = {**envelope, "event": {**body, **said}}
        if not new:
            return None
        self._told[key] = self._told.get(key, 0) + len(new)
        return envelope
