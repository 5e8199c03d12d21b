"""How much of a text is told in an event: its beginning, and then that the rest is not shown. Pure."""

from collections.abc import Iterable

from supervisor.agent.bounds import Bounds, json_size


class Telling:
    """The texts of one event, which share what room there is. `what` they are called where they are cut."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self.room = bounds.patch_event_bytes

    def take(self, text: str) -> bool:
        """Whether all of it fits. A name that doesn't is no use."""
        self.room -= json_size(text)
        return self.room >= 0

    def told(self, pieces: Iterable[str], size: int, mark: str = "") -> str:
        """As many of the pieces as fit, in their order. `size` of what they tell of is said where they are cut."""
        kept: list[str] = []
        for piece in pieces:
            if not self.take(piece):
                kept.append(self._cut(size, mark))
                self.room = 0
                break
            kept.append(piece)
        return "".join(kept)

    def _cut(self, size: int, mark: str) -> str:
        where = f"greenroom.limits.patch_event_bytes is {self._bounds.patch_event_bytes}"
        return f"{mark}[… the rest of {size} bytes is not shown: {where} …]\n"
