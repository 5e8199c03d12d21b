"""Write every page and module that is made from the code, or name the committed ones that are out of date.

python -m tools.reference [--check] docs
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.reference.command_line import command_line_page
from tools.reference.configuration import with_keys
from tools.reference.control import control_page
from tools.reference.errors import with_errors
from tools.reference.events import events_page
from tools.reference.mcp import mcp_page, mcp_table
from tools.reference.project_settings import project_settings_page
from tools.reference.python import answers_module, events_module

# Each writer is given the file's text, because only a table of some pages is made from the code.
WRITERS: Mapping[str, Callable[[str], str]] = {
    "config.md": with_keys,
    "control-api.md": with_errors,
    "reference/cli.md": lambda _: command_line_page(),
    "reference/control-api.md": lambda _: control_page(),
    "reference/events.md": lambda _: events_page(),
    "reference/mcp.md": lambda _: mcp_page(),
    "reference/project-settings.md": lambda _: project_settings_page(),
    "../transports/dialects/mcp/protocol/table.json": lambda _: mcp_table(),
    "../greenroom/answers.py": lambda _: answers_module(),
    "../greenroom/events.py": lambda _: events_module(),
}


def main(arguments: list[str]) -> int:
    (docs,) = (Path(word) for word in arguments if word != "--check")
    stale = {file: text for file, text in _pages(docs) if _text_of(file) != text}
    if "--check" in arguments:
        for file in stale:
            sys.stderr.write(f"{file} does not match the code: run `make reference` and commit the result\n")
        return 1 if stale else 0
    for file, text in stale.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return 0


def _pages(docs: Path) -> list[tuple[Path, str]]:
    return [(docs / name, write(_text_of(docs / name))) for name, write in WRITERS.items()]


def _text_of(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.exists() else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
