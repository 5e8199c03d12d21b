"""The output of commands and tools as a person reads it: the beginning at once, the end when it is complete. Pure."""

HEAD = 8  # lines of a command's output before it is folded
TAIL = 2


class CommandOutput:
    """The lines of each item's output. Each method returns the lines to show now."""

    def __init__(self, *, raw: bool) -> None:
        self._most = 1 << 30 if raw else HEAD
        self._lines: dict[str, list[str]] = {}

    def begin(self, item: str) -> None:
        self._lines[item] = []

    def has_output(self, item: str) -> bool:
        """Whether any output of the item has come."""
        return bool(self._lines.get(item))

    def take(self, item: str, text: str) -> list[str]:
        lines = self._lines.setdefault(item, [])
        before = max(0, len(lines) - 1)
        first, *rest = text.split("\n")
        if lines:
            lines[-1] += first
        else:
            lines.append(first)
        lines += rest
        # The last line may be incomplete: it is shown when the next begins, or at the end.
        return lines[before:-1][: max(0, self._most - before)]

    def take_whole(self, item: str, text: str) -> list[str]:
        """Take a whole output at once, if none of it came before."""
        self._lines[item] = lines = text.split("\n") if text else []
        return lines[:-1][: self._most]

    def end(self, item: str) -> list[str]:
        """Return the end of the output, with the number of lines left out."""
        lines = self._lines.pop(item, [])
        complete = lines[:-1] if lines and not lines[-1] else lines
        unseen = complete[min(self._most, max(0, len(lines) - 1)) :]
        if len(unseen) <= TAIL + 1:
            return unseen
        return [f"… {len(unseen) - TAIL} more lines (`greenroom logs --raw` shows them)", *unseen[-TAIL:]]

    def end_all(self) -> list[str]:
        return [line for item in list(self._lines) for line in self.end(item)]

    def clear(self) -> None:
        self._lines.clear()
