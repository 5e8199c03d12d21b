"""The first words of docstrings: a noun or an imperative, never a word like `Who` or `What`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("actors", "transports", "supervisor", "greenroom", "examples", "bench", "tools", "tests")
NOT_FIRST = {"who", "whoever", "whom", "whose", "what", "whatever", "where", "which", "when", "how"}
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def ours(folder: str) -> list[Path]:
    """The files of a folder, without what `make judges` installs there."""
    paths = sorted((ROOT / folder).rglob("*.py"))
    installed = {".venv", ".venv-langchain", "node_modules"}
    return [path for path in paths if not installed & set(path.parts[len(ROOT.parts) :])]


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            yield node.body[0].lineno, text


def first_word(text: str) -> str:
    return text.split(maxsplit=1)[0].strip("`*\"',;:.").lower()


@pytest.mark.parametrize("folder", CHECKED)
def test_no_docstring_begins_with_a_question_word(folder: str) -> None:
    found = [(path, line, text) for path in ours(folder) for line, text in docstrings(path)]
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path, line, text in found
        if first_word(text) in NOT_FIRST
    ]
    assert found, f"{folder} has no docstrings: was it moved?"
    assert not wrong, "\n".join(wrong)
