"""An answer of the model as a person likes to read it. The one place that knows rich; only for terminals."""

import os

from supervisor.cli.words import clean


def rendered(text: str, columns: int) -> str:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(width=columns, force_terminal=True, no_color=bool(os.environ.get("NO_COLOR")), highlight=False)
    with console.capture() as captured:
        console.print(Markdown(clean(text), code_theme="ansi_dark", hyperlinks=False))
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").splitlines())
