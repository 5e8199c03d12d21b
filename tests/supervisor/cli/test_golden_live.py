"""`clients` and `top` while somebody watches, compared with files: on terminals of two widths and in a pipe.

GREENROOM_GOLDEN=write python -m pytest tests/supervisor/cli/test_golden_live.py   writes the files anew.
"""

import re
from collections.abc import Iterator

import pytest

from tests.supervisor.cli.golden import judge
from tests.supervisor.cli.place import Place, normal
from tests.supervisor.cli.test_top import HELP

PROCESS = re.compile(r" *\b(PID|\d{2,7})(?=[ \t])")  # its column is as wide as the number is long


@pytest.fixture(scope="module")
def watched(place: Place) -> Iterator[Place]:
    """One conversation that waits and is watched, one at rest that a reader only reads."""
    place.at_rest(place.new("say a rather long first message that is in no table whole " * 3, "--name", "rest"))
    place.asking("--name", "asks")
    clients = [place.terminal("attach", "asks"), place.terminal("attach", "rest", "--ro")]
    clients[0].expect("abort (ends the turn) + Enter")
    clients[1].expect("Ctrl-D leaves")
    yield place
    for client in clients:
        client.send("\x04")
        client.end()


def without_processes(text: str, place: Place) -> str:
    return PROCESS.sub(" PID", normal(text, place))


@pytest.mark.parametrize("columns", [80, 120])
def test_clients_on_a_terminal(watched: Place, columns: int) -> None:
    terminal = watched.terminal("clients", columns=columns)
    terminal.end()
    judge(f"clients-{columns}", without_processes(terminal.screen, watched) + "\n")


def test_clients_in_a_pipe_and_with_chosen_fields(watched: Place) -> None:
    judge("clients-pipe", without_processes(watched.run("clients").stdout, watched))
    names = watched.json("clients", "--json", "name,you")
    assert [(one["name"], one["you"]) for one in names] == [
        ("greenroom attach", False),
        ("greenroom attach", False),
        ("greenroom clients", True),
    ]


@pytest.mark.parametrize("columns", [80, 120])
def test_top_on_a_terminal(watched: Place, columns: int) -> None:
    terminal = watched.terminal("top", columns=columns, rows=12)
    terminal.expect(HELP)
    screen = terminal.screen
    assert max(len(line) for line in screen.splitlines()) < columns
    terminal.send("q")
    assert terminal.end() == 0
    judge(f"top-{columns}", normal(screen, watched) + "\n")


def test_top_in_a_pipe(watched: Place) -> None:
    judge("top-pipe", normal(watched.run("top").stdout, watched))
