"""Cuts texts to the room of an event: keeps the beginning, with a note that the rest is not shown. Pure."""

from collections.abc import Iterable

from supervisor.config.bounds import Bounds, json_size


class EventRoom:
    """The room of an event, which its texts share."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self.room = bounds.patch_event_bytes

    def take(self, text: str) -> bool:
        """Use up room for a text, and tell whether all of it fits."""
        self.room -= json_size(text)
        return self.room >= 0

    def join_fitting(self, pieces: Iterable[str], size: int, mark: str = "") -> str:
        """Join the pieces that fit. If some don't, a note gives `size`, the bytes of the whole."""
        kept: list[str] = []
        for piece in pieces:
            if not self.take(piece):
                kept.append(self._rest_note(size, mark))
                self.room = 0
                break
            kept.append(piece)
        return "".join(kept)

    def _rest_note(self, size: int, mark: str) -> str:
        limit = f"greenroom.limits.patch_event_bytes is {self._bounds.patch_event_bytes}"
        return f"{mark}[… the rest of {size} bytes is not shown: {limit} …]\n"
