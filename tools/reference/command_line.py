"""The reference of the command line, written from its help texts."""

from collections.abc import Iterator

from supervisor.cli.kit.arguments import parser
from supervisor.cli.topics import TOPICS
from supervisor.cli.verbs import GROUPS

HEAD = """# The command line

This page is written from the code by `make reference`.

`greenroom VERB [ARGUMENT…]`. Results go to standard output, messages to standard error. Only `up`, `run`, `demo`,
`mcp` and `acp` start the daemon; no other verb does.
"""


def command_line_page() -> str:
    return "\n".join([HEAD, *_verbs(), "## Topics", "", *_topics()])


def _verbs() -> Iterator[str]:
    for title, verbs in GROUPS.items():
        yield from (f"## {title}", "")
        for verb in verbs:
            yield from (f"### greenroom {verb.name}", "", "```", parser(verb).format_help().rstrip(), "```", "")


def _topics() -> Iterator[str]:
    for name, (summary, text) in TOPICS.items():
        yield from (f"### {name}: {summary}", "", "```", text, "```", "")
