"""Texts that people read are plain English: none of the quaint constructions, and help that begins with a verb."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.cli.topics import TOPICS
from supervisor.cli.verbs import VERBS
from supervisor.cli.verbs.verb_description import Verb

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("actors", "supervisor", "transports")
QUAINT = re.compile(
    r"\b(is|are) no (number|name|time|length|filter|file|override|prefix|text)\b|\bis no [A-Za-z]+$|\bis no [a-z]+;|"
    r"^(Who|Whoever) [a-z]+ |\bit asks\b|"
    r"\bthe time is up\b|\bof ours\b|\bturns? it round\b|\blooks (further|why|at the rest)\b|\bfor so long\b|"
    r"\bafter so long\b|\bat most so many\b|\bhow we look\b|\bwhich is fine\b|\bpass by\b|\bwithout a word\b|"
    r"\bsaid nothing\b|\btakes? it away\b|\bgoes by\b|\ba bug of ours\b|\bother keys: later\b|"
    r"\bwhich none is\b|\bparts, which none has\b|\bmeans nothing here\b|\bthat can be told\b|\bis here already\b|"
    r"\bdoes what it is told\b|\bnone of our business\b|\bis fine too\b|\bmakes? no sense\b|\bstart .* anew$|"
    r"\bone that exists\b|\bwhy is not known\b|\bwaited for\.$|\bruns? wild\b|\bhas it whole\b|\blooks? at where\b",
    re.IGNORECASE,
)
ASKED = re.compile(r"\bquestions?\b", re.IGNORECASE)  # the word for what a person is asked is approval


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """String literals of more than one word which are not docstrings; what an f-string fills in is left out."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(node) if part is not node}
            yield node.lineno, "".join(str(p.value) if isinstance(p, ast.Constant) else "{}" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield node.lineno, node.value


@pytest.mark.parametrize("package", PACKAGES)
def test_no_text_of_the_program_is_quaint(package: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {match[0]!r} in {text!r}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for line, text in texts(file)
        if " " in text and (match := QUAINT.search(text)) is not None
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    "text",
    [
        "'-1' is no number of events; it is a whole number",
        "tests: it asks (`greenroom approvals`)",
        "the time is up",
        "`greenroom doctor` looks further",
        "By this field; -FIELD turns it round.",
        "the space that files of ours take",
        "y approve  n deny  other keys: later?",
        "no file, which is fine",
        "'seq=1' is no filter; write type=…",
        "override key 'a'… is longer than 4096 characters, which none is",
        "what is pasted means nothing here",
        "lost 3 events and 0 conversations that can be told",
        "conversation 3f2a is here already; import it under a new id",
        "see to its disk, or start the machine anew",
        "no directory 'x'; -C takes one that exists",
        "How long that body is waited for.",
        "No file at all is fine too.",
    ],
)
def test_a_quaint_text_is_found(text: str) -> None:
    assert QUAINT.search(text)


@pytest.mark.parametrize("folder", ["cli", "config", "journal"])
def test_a_question_to_a_person_is_called_an_approval(folder: str) -> None:
    found = [
        f"{file.relative_to(ROOT)}:{line}: {text!r}"
        for file in sorted((ROOT / "supervisor" / folder).rglob("*.py"))
        for line, text in texts(file)
        if ASKED.search(text)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_the_help_of_a_verb_says_what_to_do_with_it(verb: Verb) -> None:
    """An imperative in the summary; sentences in the help of its arguments, none of them about a person unnamed."""
    first = verb.summary.split()[0]
    assert first not in {"a", "an", "the", "what", "who", "where", "how", "about", "until", "everything"}, (
        verb.summary
    )
    for text in (*(arg.help for arg in verb.args), *(opt.help for opt in verb.opts)):
        assert text.endswith("."), text
        assert not re.match(r"(Who|Whoever|By|As) ", text), text


@pytest.mark.parametrize("topic", TOPICS)
def test_a_topic_fits_a_terminal(topic: str) -> None:
    assert max(map(len, TOPICS[topic][1].splitlines())) <= 80
