"""Writes the pages, and says when the committed ones are out of date.

python -m supervisor.reference [--check] docs/reference
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from supervisor.reference.control import control_page
from supervisor.reference.events import events_page
from supervisor.reference.mcp import mcp_page

PAGES: Mapping[str, Callable[[], str]] = {
    "events.md": events_page,
    "control-api.md": control_page,
    "mcp.md": mcp_page,
}


def main(arguments: list[str]) -> int:
    (folder,) = (Path(word) for word in arguments if word != "--check")
    if "--check" not in arguments:
        folder.mkdir(parents=True, exist_ok=True)
        for name, write in PAGES.items():
            (folder / name).write_text(write(), encoding="utf-8")
        return 0
    stale = [name for name, write in PAGES.items() if not _is(folder / name, write())]
    for name in stale:
        sys.stderr.write(f"{folder / name} does not match the code: run `python -m supervisor.reference {folder}`\n")
    return 1 if stale else 0


def _is(file: Path, text: str) -> bool:
    return file.exists() and file.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
