"""Writes the reference of the command line from what help shows, and says when the committed one is out of date.

python -m supervisor.cli.reference [--check] docs/reference/cli.md
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from supervisor.cli.arguments import parser
from supervisor.cli.topics import TOPICS
from supervisor.cli.verbs import GROUPS, shown

HEAD = """# The command line

This page is written from the code by `python -m supervisor.cli.reference docs/reference/cli.md`.

`greenroom VERB [ARGUMENT…]`. Results go to standard output, talk to standard error. Only `up`, `run`, `demo` and
`mcp` start the daemon; no other verb does.
"""


def reference_text() -> str:
    return "\n".join([HEAD, *_verbs(), "## Topics", "", *_topics()])


def _verbs() -> Iterator[str]:
    for group, title in GROUPS.items():
        yield from (f"## {title}", "")
        for verb in shown():
            if verb.group == group:
                yield from (f"### greenroom {verb.name}", "", "```", parser(verb).format_help().rstrip(), "```", "")


def _topics() -> Iterator[str]:
    for name, (summary, text) in TOPICS.items():
        yield from (f"### {name}: {summary}", "", "```", text, "```", "")


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    (target,) = (Path(word) for word in arguments if word != "--check")
    if not check:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(reference_text(), encoding="utf-8")
        return 0
    if target.exists() and target.read_text(encoding="utf-8") == reference_text():
        return 0
    sys.stderr.write(f"{target} does not match the code: run `python -m supervisor.cli.reference {target}`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
