"""The person's pager, for text that may be longer than the screen."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from io import StringIO

from supervisor.cli.kit.terminal import is_terminal, size


@contextlib.contextmanager
def open_pager() -> Iterator[StringIO | None]:
    """Yield a buffer for the text, or None if text goes straight to standard output."""
    if not is_terminal():
        yield None
        return
    text = StringIO()
    yield text
    _show(text.getvalue())


def _show(text: str) -> None:
    columns, rows = size()
    lines = sum(1 + len(line) // columns for line in text.splitlines())
    command = os.environ.get("PAGER") or "less"
    if lines < rows or command == "cat" or shutil.which(command.split()[0]) is None:
        print(text, end="")
        return
    env = {"LESS": "FRX", **os.environ}
    with contextlib.suppress(KeyboardInterrupt):
        subprocess.run(command, shell=True, input=text.encode(), env=env, check=False)  # noqa: S602  # the person's own
