"""Hints about what a command does."""

import pytest

from actors.vocabulary.events import ExecCommandBegin
from actors.vocabulary.quoting import quote_command
from supervisor.work.safety.hints import parsed_command

HINTS: dict[str, tuple[str, dict[str, str | None]]] = {
    "cat src/main.py": ("Read", {"name": "main.py"}),
    "sed -n 1,5p a/b": ("Read", {"name": "b"}),
    "head -n 5 a/b": ("Read", {"name": "b"}),
    "tail -5 b": ("Read", {"name": "b"}),
    "ls": ("ListFiles", {"path": None}),
    "ls -la src": ("ListFiles", {"path": "src"}),
    "ls a b": ("ListFiles", {"path": None}),
    "rg -n TODO": ("Search", {"query": "TODO", "path": None}),
    "grep -rn --hidden x src": ("Search", {"query": "x", "path": "src"}),
    "rg -g x y z": ("Unknown", {}),
    "rg -n": ("Unknown", {}),
    "cat a b": ("Unknown", {}),
    "cat -n": ("Unknown", {}),
    "head a b": ("Unknown", {}),
    "sed -i s/a/b/ f": ("Unknown", {}),
    "make test": ("Unknown", {}),
}


def shown(*argv: str) -> list[dict[str, object]]:
    begin = ExecCommandBegin.model_validate(
        {"call_id": "1", "command": argv, "cwd": "/w", "parsed_cmd": parsed_command(argv)}
    )
    hints: list[dict[str, object]] = begin.model_dump(mode="json")["parsed_cmd"]
    return hints


@pytest.mark.parametrize("command", HINTS)
def test_a_command_is_hinted_at(command: str) -> None:
    kind, members = HINTS[command]
    assert shown(*command.split()) == [{kind: {"cmd": quote_command(command.split()), **members}}]


def test_a_plain_script_has_a_hint_for_each_command() -> None:
    assert shown("bash", "-lc", "cat 'a b' | wc -l") == [
        {"Read": {"cmd": "cat 'a b'", "name": "a b"}},
        {"Unknown": {"cmd": "wc -l"}},
    ]


def test_any_other_script_is_unknown_as_a_whole() -> None:
    assert shown("bash", "-lc", "cat f > g") == [{"Unknown": {"cmd": "bash -lc 'cat f > g'"}}]


def test_no_command_at_all_is_unknown_too() -> None:
    assert shown() == [{"Unknown": {"cmd": ""}}]
