"""What a patch does, as lines: files, and coloured diffs. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from supervisor.cli.terminal import Paint
from supervisor.cli.words import clean

_STYLES = {"+": ("green",), "-": ("red",), "@": ("cyan",)}


def files(changes: Mapping[str, Any], paint: Paint, base: str = "") -> Iterator[str]:
    for path, change in sorted(changes.items()):
        name = clean(path.removeprefix(f"{base.rstrip('/')}/") if base else path)
        if change == "delete":
            yield paint(f"delete {name}", "red")
        elif "add" in change:
            yield paint(f"add {name}", "green")
            yield from (paint(f"+{line}", "green") for line in clean(change["add"]["content"]).splitlines())
        else:
            update = change["update"]
            moved = f" → {clean(update['move_path'])}" if update.get("move_path") else ""
            yield paint(f"change {name}{moved}", "cyan")
            yield from diff(update["unified_diff"], paint)


def diff(text: str, paint: Paint) -> Iterator[str]:
    for line in clean(text).splitlines():
        yield paint(line, *_STYLES.get(line[:1], ()))
