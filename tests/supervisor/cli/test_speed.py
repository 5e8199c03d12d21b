"""The everyday verbs stay light: what they import is looked at in a process of its own. bench/cli.py measures."""

import json
import subprocess
import sys

import pytest

from tests.supervisor.cli.place import Place

HEAVY = {
    "pydantic",
    "httpx",
    "structlog",
    "asyncio",
    "tree_sitter",
    "pathlib",
    "pykka",
    "msgspec",
    "dataclasses",
}
LIGHT = {
    "actors",
    "actors.vocabulary",
    "actors.vocabulary.brief",
    "actors.vocabulary.errors",
    "actors.vocabulary.visible_text",
    "transports",
    "transports.question_text",
    "transports.waiting_words",
    "greenroom",
    *("greenroom.answers", "greenroom.connection", "greenroom.errors", "greenroom.following", "greenroom.method"),
    *("greenroom.methods", "greenroom.record", "greenroom.scripts", "greenroom.turns", "greenroom.unfinished"),
    "greenroom.wire",
}
LOOK = """
import json, sys
from supervisor.cli.app import main
before = sys.stdout
sys.stdout = sys.stderr
main(sys.argv[1:])
OURS = {name for name in sys.modules if name.startswith(("actors.", "transports.", "greenroom."))}
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules} | OURS)), file=before)
"""


@pytest.mark.parametrize(
    "words", [("ls",), ("status",), ("interrupt", "here"), ("approve", "nothing"), ("approvals",), ("pid",)]
)
def test_a_fast_verb_imports_nothing_heavy(place: Place, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *words],
        env=place.env,
        cwd=place.work,
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    loaded = set(json.loads(done.stdout))
    assert not HEAVY & loaded
    assert {one for one in loaded if one.startswith(("actors", "transports", "greenroom"))} <= LIGHT
