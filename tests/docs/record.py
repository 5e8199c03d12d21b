"""Writes what commands print into their page, where it no longer fits: `python -m tests.docs.record [PAGE…]`."""

import sys
from pathlib import Path

from tests.docs.console import Newcomer, fits, steps
from tests.docs.pages import named, pages


def record(page: Path) -> int:
    """How many outputs were replaced. From the last to the first, so that line numbers stay true."""
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    with Newcomer() as person:
        written = [(step, person.types(step.command)) for step in steps(text)]
    replaced = 0
    for step, output in reversed(written):
        if not fits("\n".join(step.expected), output):
            lines[step.start : step.end] = [line.rstrip() for line in output.splitlines()]
            replaced += 1
    if replaced:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return replaced


def main(arguments: list[str]) -> int:
    for page in [Path(word).resolve() for word in arguments] or pages():
        print(f"{named(page)}: {record(page)} replaced")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
