"""An answer of the model with its headings, lists, quotes, code and emphasis painted. Only for terminals.

The words stay in the lines in which they were written; tables and links are legible as they are. The screen wraps.
"""

import re

from supervisor.cli.kit.terminal import Paint

_FENCE = re.compile(r"\s*(`{3,}|~{3,})[^`]*$")
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.+)")
_ITEM = re.compile(r"^(\s*)[-*+](?=\s+\S)")
# Underscores are names of files and functions here more often than emphasis. The bounds keep a hostile line cheap.
_SPAN = re.compile(
    r"(?<!`)(?P<mark>`++)(?P<code>.{1,300}?)(?P=mark)(?!`)"
    r"|\*\*(?=\S)(?P<bold>.{1,300}?)(?<=\S)\*\*"
    r"|(?<![\w*])\*(?=[^\s*])(?P<italic>[^*]{1,300})(?<=\S)\*(?![\w*])"
)


def paint_markdown(text: str, paint: Paint) -> str:
    """Paint a text that is clean, so that it has no escape codes of its own."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        if fence:
            if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
            else:
                lines.append(paint(line, "cyan"))
        elif opened := _FENCE.match(line):
            fence = opened[1]
        elif heading := _HEADING.match(line):
            lines.append(_spans(heading[1], paint, "bold"))
        elif line.lstrip().startswith(">"):
            lines.append(_spans(line, paint, "dim"))
        else:
            lines.append(_spans(_ITEM.sub(r"\1•", line, count=1), paint))
    return "\n".join(lines)


def _spans(text: str, paint: Paint, *styles: str) -> str:
    parts: list[str] = []
    at = 0
    for span in _SPAN.finditer(text):
        parts.append(paint(text[at : span.start()], *styles))
        if (code := span["code"]) is not None:
            parts.append(paint(code.strip() or code, *styles, "cyan"))
        else:
            style = "bold" if span["bold"] else "italic"
            parts.append(_spans(span[style], paint, *styles, style))
        at = span.end()
    return "".join([*parts, paint(text[at:], *styles)])
