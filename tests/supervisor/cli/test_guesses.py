"""Mistyped verbs, options and values: a guess that is right, or none; and never one that destroys."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supervisor.cli.kit.suggestions import DESTROYING_VERBS, VERBS_ELSEWHERE, advice_on_verb
from supervisor.cli.verbs import VERBS, find
from tests.supervisor.cli.place import Place

NAMES = [verb.name for verb in VERBS]
BRIDGES = ("mcp", "acp")
LONG = [
    (verb, flag)
    for verb in VERBS
    for opt in verb.opts
    for flag in opt.flags
    if flag.startswith("--") and verb.name not in BRIDGES
]


def slips(word: str) -> list[str]:
    """The word with a letter left out, doubled, or changed for its neighbour."""
    places = range(2, len(word))
    out = [word[:at] + word[at + 1 :] for at in places]
    doubled = [word[:at] + word[at] + word[at:] for at in places]
    swapped = [word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :] for at in places]
    return [wrong for wrong in (*out, *doubled, *swapped) if wrong != word]


@pytest.mark.parametrize(
    ("word", "verbs"),
    [
        ("resume", ("send", "attach")),
        ("show", ("logs", "inspect")),
        ("kill", ("interrupt",)),
        ("diff", ("logs",)),
        ("list", ("ls",)),
        ("atach", ("attach",)),
        ("interupt", ("interrupt",)),
        ("statsu", ("status",)),
    ],
)
def test_a_word_of_other_programs_and_a_slip_lead_to_the_verb_that_is_meant(
    place: Place, word: str, verbs: tuple[str, ...]
) -> None:
    for words in ((word,), ("help", word)):
        told = place.run(*words, code=2).stderr
        assert all(verb in told for verb in verbs)
        assert not [one for one in ("rename", "shutdown", "skills", "rm`") if one in told]


@pytest.mark.parametrize("word", ["xyzzy", "diffs", "d", "rn", "shut", "dwon", "rmm", "purge"])
def test_a_word_like_no_verb_or_a_destructive_one_is_answered_with_the_list(place: Place, word: str) -> None:
    told = place.run(word, code=2).stderr
    assert "did you mean" not in told or not any(
        f" {one}" in told.partition("did you mean")[2] for one in DESTROYING_VERBS
    )
    assert "`greenroom help` lists all verbs" in told


def test_every_hint_names_verbs_that_there_are() -> None:
    for words in VERBS_ELSEWHERE.values():
        verbs = [part.split("`")[0].split()[0] for part in words.split("`greenroom ")[1:]]
        assert verbs
        assert all(find(verb) for verb in verbs), words
    assert not [word for word in VERBS_ELSEWHERE if find(word)]


@given(st.sampled_from(NAMES).flatmap(lambda name: st.sampled_from(slips(name) or [name])))
def test_a_slip_of_a_verb_is_never_led_to_one_that_destroys(wrong: str) -> None:
    if find(wrong) is None:
        meant = advice_on_verb(wrong).partition("did you mean ")[2].rstrip("?").split(" or ")
        assert not {*meant} & DESTROYING_VERBS


@pytest.mark.parametrize(("verb", "flag"), LONG, ids=lambda one: getattr(one, "name", one))
def test_every_long_option_is_found_again_behind_a_slip(place: Place, verb: object, flag: str) -> None:
    name = getattr(verb, "name", "")
    known = {one for opt in getattr(verb, "opts", ()) for one in opt.flags}
    for wrong in (flag[:-1] + flag[-2:], flag[:4] + flag[5:]):
        if wrong in known or len(flag) < 6:
            continue
        told = place.run(name, wrong, code=2).stderr
        assert f"unknown option {wrong}; did you mean " in told
        assert flag in told


def test_a_slip_with_a_value_and_one_before_other_mistakes_are_found(place: Place) -> None:
    for words in (
        ("run", "--sanbox", "read-only", "hello"),
        ("run", "--sanbox=read-only", "hello"),
        ("run", "hello", "--sanbox"),
        ("run", "--sanbox"),
    ):
        assert "unknown option --sanbox; did you mean --sandbox?" in place.run(*words, code=2).stderr
    assert "did you mean" not in place.run("run", "--zzzzzz", "hello", code=2).stderr
    assert "did you mean" not in place.run("send", "@nope", "--", "--sanbox", code=5).stderr


def test_a_slip_of_a_value_is_answered_with_the_nearest(place: Place) -> None:
    for words, meant in (
        (("run", "--sandbox", "readonly", "x"), "read-only"),
        (("send", "@last", "x", "--if-busy", "enque"), "enqueue"),
        (("queue", "x", "mvoe"), "move"),
        (("config", "chek"), "check"),
    ):
        told = place.run(*words, code=2).stderr
        assert f"did you mean {meant}? write one of " in told
    assert "did you mean" not in place.run("worktree", "remvoe", "x", code=2).stderr


@pytest.mark.parametrize("bridge", BRIDGES)
def test_a_bridge_guesses_as_well(place: Place, bridge: str) -> None:
    program = "import sys; from supervisor.cli.entry import main; sys.exit(main())"
    command = [sys.executable, "-c", program, bridge, "--agnet", "claude"]
    done = subprocess.run(command, env=place.env, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "did you mean --agent?" in done.stderr
