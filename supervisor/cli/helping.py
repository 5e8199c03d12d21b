"""`greenroom help`: list all verbs in a screenful, or explain a verb or a topic."""

from argparse import Namespace

from supervisor.cli.kit.arguments import parser
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.suggestions import advice_on_verb
from supervisor.cli.topics import TOPICS
from supervisor.cli.verbs import GROUPS, find


def run(chosen: Namespace) -> int:
    word = chosen.topic
    if word is None:
        print(overview())
    elif word in TOPICS:
        print(TOPICS[word][1])
    elif (verb := find(word)) is not None:
        parser(verb).print_help()
    else:
        advice = advice_on_verb(word, TOPICS) or "`greenroom help` lists verbs and topics"
        raise Problem(f"no verb or topic {word!r}", advice, "usage")
    return 0


def overview() -> str:
    lines = ["usage: greenroom VERB [ARGUMENT…]", "", "A supervisor for coding-agent conversations.", ""]
    for title, verbs in GROUPS.items():
        lines += [f"{title}:", *(f"  {verb.name:11} {verb.summary}" for verb in verbs), ""]
    lines.append(f"`greenroom VERB --help` shows its options. Topics of `greenroom help`: {', '.join(TOPICS)}.")
    return "\n".join(_wrap(lines))


def _wrap(lines: list[str]) -> list[str]:
    import textwrap

    return [
        part
        for line in lines
        for part in (textwrap.wrap(line, 80, subsequent_indent=" " * 14, break_on_hyphens=False) or [""])
    ]
