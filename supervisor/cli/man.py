"""Man pages, written from what help shows: greenroom(1), and a page for each verb.

python -m supervisor.cli.man DIRECTORY
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from supervisor.cli.arguments import describe, parser
from supervisor.cli.shapes import Opt, Verb
from supervisor.cli.topics import TOPICS
from supervisor.cli.verbs import GROUPS, shown
from supervisor.version import VERSION


def pages() -> Iterator[tuple[str, str]]:
    """The file name and text of each page."""
    yield "greenroom.1", "\n".join(_main())
    for verb in shown():
        yield f"greenroom-{verb.name}.1", "\n".join(_verb(verb))


def _main() -> Iterator[str]:
    yield _title("greenroom")
    yield from (".SH NAME", r"greenroom \- a supervisor for coding-agent conversations")
    yield from (".SH SYNOPSIS", ".B greenroom", r"\fIVERB\fR [\fIARGUMENT\fR...]")
    yield from (
        ".SH DESCRIPTION",
        "One daemon owns the conversations; editors, terminals and MCP clients come and go.",
    )
    for group, title in GROUPS.items():
        yield f".SH {title.upper()}"
        for verb in shown():
            if verb.group == group:
                yield from (".TP", rf"\fB{_safe(verb.name)}\fR", _safe(verb.summary))
    for name, (summary, text) in TOPICS.items():
        yield from (
            f'.SH "{name.upper()}"',
            f"{_safe(summary[0].upper() + summary[1:])}.",
            ".PP",
            ".nf",
            _safe(text),
            ".fi",
        )


def _verb(verb: Verb) -> Iterator[str]:
    yield _title(f"greenroom-{verb.name}")
    yield from (".SH NAME", rf"greenroom\-{_safe(verb.name)} \- {_safe(verb.summary)}")
    yield from (".SH SYNOPSIS", ".nf", _safe(synopsis(verb)), ".fi")
    yield from (".SH DESCRIPTION", _safe(" ".join(describe(verb).split())))
    for arg in verb.args:
        yield from (".TP", rf"\fI{_safe(arg.name.upper())}\fR", _safe(arg.help))
    if verb.opts:
        yield ".SH OPTIONS"
    for opt in verb.opts:
        yield from (".TP", rf"\fB{_safe(', '.join(opt.flags))}\fR {_safe(_value(opt))}".rstrip(), _safe(opt.help))
    yield from (".SH EXAMPLE", ".nf", _safe(verb.example), ".fi")
    yield from (".SH SEE ALSO", r"\fBgreenroom\fR(1)")


def synopsis(verb: Verb) -> str:
    """The usage line, as help prints it."""
    return parser(verb).format_usage().removeprefix("usage: ").rstrip()


def _value(opt: Opt) -> str:
    value = "|".join(opt.choices) or opt.metavar
    return f"[{value}]" if opt.bare is not None else value


def _title(name: str) -> str:
    return f'.TH {name.upper()} 1 "" "Greenroom {VERSION}" "Greenroom"'


def _safe(text: str) -> str:
    """Escape text, so that the formatter takes no line of it for a command."""
    escaped = text.replace("\\", "\\e").replace("-", r"\-")
    return "\n".join(f"\\&{line}" if line[:1] in {".", "'"} else line for line in escaped.splitlines())


def main(arguments: list[str]) -> int:
    (target,) = arguments
    directory = Path(target)
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in pages():
        (directory / name).write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
