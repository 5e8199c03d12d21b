"""Markdown of the model, drawn for a terminal. Only this module imports rich."""

import os
import re

from supervisor.cli.words import clean

_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")


def rendered(text: str, columns: int) -> str:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=columns, force_terminal=True, no_color=bool(os.environ.get("NO_COLOR")), highlight=False)
    with console.capture() as captured:
        console.print(Markdown(clean(text), code_theme="ansi_dark", hyperlinks=False))
    # Clean again, because character references (`&#x202e;`) have become characters only now.
    seen = "".join(one if _COLOUR.fullmatch(one) else clean(one) for one in _COLOUR.split(captured.get()))
    return "\n".join(line.rstrip() for line in seen.rstrip("\n").split("\n"))
