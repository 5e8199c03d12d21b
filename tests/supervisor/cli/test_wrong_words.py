"""Wrong arguments, of every verb: one line that says what is wrong and what to do, and never a traceback."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from supervisor.cli.kit import exits
from supervisor.cli.verbs import VERBS
from supervisor.cli.verbs.verb_description import Verb
from tests.supervisor.cli.place import Place

WRONG = {
    "empty": "",
    "blank": " ",
    "controls": "\x1b[2J\r\n\x07",
    "not-utf8": "\udcff\udcfe",
    "long": "x" * 20_000,
    "huge-number": "9" * 30,
    "negative": "-1",
    "fraction": "0.5",
    "no-number": "NaN",
    "path": "/proc/nothing/here",
    "words": "two words = and more",
}
# These run until they are told to stop where their arguments are right; `mcp` is asked in a process of its own.
ENDLESS = {"mcp", "top", "demo", "attach"}
# An argument that is any text at all can't be wrong.
FREE = {"prompt", "reason"}
READY = {
    "conversation": "@last",
    "prompt": "say x",
    "approval": "@last",
    "file": "/nothing/here.jsonl",
    "name": "calm",
    "settings": "effort=low",
    "words": "walrus",
}


@pytest.fixture(scope="module", autouse=True)
def calm(place: Place) -> None:
    place.at_rest(place.new("say x", "--name", "calm"))


def _ready(verb: Verb) -> list[str]:
    return [arg.choices[0] if arg.choices else READY[arg.name] for arg in verb.args if arg.many in {"", "+"}]


def _wrong(verb: Verb) -> Iterator[tuple[str, ...]]:
    """Every option and every argument with each of the wrong values, everything else being right."""
    yield ("--no-such-option",)
    yield (*_ready(verb), "--no-such-option")
    yield (*_ready(verb), "too", "many", "words", "--no-such-option")
    if _ready(verb):
        yield ()
    for value in WRONG.values():
        for opt in verb.opts:
            if opt.metavar and opt.name not in FREE:
                yield (*_ready(verb), f"{opt.flags[-1]}={value}" if len(opt.flags[-1]) > 2 else opt.flags[-1] + value)
        for place, arg in enumerate(verb.args):
            if arg.name not in FREE:
                ready = _ready(verb)
                yield (*ready[:place], value, *ready[place + 1 :])


def _judge(words: tuple[str, ...], code: int, told: str) -> None:
    assert "Traceback" not in told, (words, told)
    assert code in exits.MEANINGS, (words, code)
    if code in {exits.USAGE, exits.NO_SUCH}:
        last = told.splitlines()[-1]
        text = json.loads(last)["error"]["message"] if last.startswith("{") else last
        assert last.startswith(("{", "greenroom: ", "greenroom mcp: ")), (words, told)
        assert "; " in text, f"{words}: it says what is wrong, but not what to do: {text}"


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb.name not in ENDLESS], ids=lambda verb: verb.name)
def test_wrong_arguments_are_answered_in_a_line_and_never_by_a_traceback(
    place: Place, quiet: Place, verb: Verb
) -> None:
    here = quiet if verb.name == "down" else place  # whose right arguments would end the daemon of the others
    for words in _wrong(verb):
        if verb.name == "run":
            words = ("-d", *words)  # noqa: PLW2901  # a turn that is not waited for
        if verb.name == "events":
            words = ("-t", "0.01", *words)  # noqa: PLW2901
        done = here.run(verb.name, *words, code=None)
        _judge((verb.name, *words), done.returncode, done.stderr)


@pytest.mark.parametrize("name", sorted(ENDLESS))
def test_wrong_arguments_of_what_runs_on_are_answered_too(place: Place, name: str) -> None:
    """Each runs in a process of its own, which ends because it refuses."""
    more = (["-c", "no-setting"], ["--sandbox", "none"]) if name == "mcp" else (["@nobody"], [""])
    for words in (["--no-such-option"], *more):
        done = subprocess.run(
            [sys.executable, "-m", "supervisor.cli.app", name, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            env=place.env,
            cwd=place.work,
            check=False,
        )
        _judge((name, *words), done.returncode, done.stderr)
        assert done.returncode in {exits.USAGE, exits.NO_SUCH}
