"""Writes what commands print into their page: `python -m tests.docs.record [--anew] [PAGE…]`.

Where it no longer fits; with --anew also where it does, so that the ids of one page belong together, but not where
whole lines are left out with `…`.
"""

import sys
from pathlib import Path

from tests.docs.console import TerminalUser, fits, steps
from tests.docs.pages import named, pages


def record(page: Path, *, anew: bool = False) -> int:
    """Replace the outputs that differ, last first so that line numbers stay true. Their number."""
    text = page.read_text(encoding="utf-8")
    lines = text.splitlines()
    with TerminalUser() as person:
        written = [(step, person.types(step.command)) for step in steps(text)]
    replaced = 0
    for step, output in reversed(written):
        expected = "\n".join(step.expected)
        if not fits(expected, output) or (anew and "…" not in step.expected):
            lines[step.start : step.end] = [line.rstrip() for line in output.splitlines()]
            replaced += 1
    if replaced:
        page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return replaced


def main(arguments: list[str]) -> int:
    chosen = [Path(word).resolve() for word in arguments if word != "--anew"]
    for page in chosen or pages():
        print(f"{named(page)}: {record(page, anew='--anew' in arguments)} replaced")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
