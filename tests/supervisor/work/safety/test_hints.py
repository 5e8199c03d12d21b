"""Hints about what a command does."""

import pytest

from actors.vocabulary.quoting import quote_command
from actors.vocabulary.subjects import CommandHint, Purpose
from supervisor.work.safety.hints import command_hints

HINTS: dict[str, tuple[Purpose, dict[str, str | None]]] = {
    "cat src/main.py": ("reads", {"name": "main.py"}),
    "sed -n 1,5p a/b": ("reads", {"name": "b"}),
    "head -n 5 a/b": ("reads", {"name": "b"}),
    "tail -5 b": ("reads", {"name": "b"}),
    "ls": ("lists", {"path": None}),
    "ls -la src": ("lists", {"path": "src"}),
    "ls a b": ("lists", {"path": None}),
    "rg -n TODO": ("searches", {"query": "TODO", "path": None}),
    "grep -rn --hidden x src": ("searches", {"query": "x", "path": "src"}),
    "rg -g x y z": ("unknown", {}),
    "rg -n": ("unknown", {}),
    "cat a b": ("unknown", {}),
    "cat -n": ("unknown", {}),
    "head a b": ("unknown", {}),
    "sed -i s/a/b/ f": ("unknown", {}),
    "make test": ("unknown", {}),
}


@pytest.mark.parametrize("command", HINTS)
def test_a_command_is_hinted_at(command: str) -> None:
    purpose, members = HINTS[command]
    hint = CommandHint.model_validate({"cmd": quote_command(command.split()), "purpose": purpose, **members})
    assert command_hints(command.split()) == (hint,)


def test_a_plain_script_has_a_hint_for_each_command() -> None:
    assert command_hints(["bash", "-lc", "cat 'a b' | wc -l"]) == (
        CommandHint(cmd="cat 'a b'", purpose="reads", name="a b"),
        CommandHint(cmd="wc -l"),
    )


def test_any_other_script_is_unknown_as_a_whole() -> None:
    assert command_hints(["bash", "-lc", "cat f > g"]) == (CommandHint(cmd="bash -lc 'cat f > g'"),)


def test_no_command_at_all_is_unknown_too() -> None:
    assert command_hints([]) == (CommandHint(cmd=""),)
