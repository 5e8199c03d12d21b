"""The output of the verbs, compared with files: on terminals of two widths, in a pipe, and as JSON.

GREENROOM_GOLDEN=write python -m pytest tests/supervisor/cli/test_golden.py   writes the files anew.
"""

import pytest

from tests.supervisor.cli.golden import judge
from tests.supervisor.cli.place import Place, normal

LINES = {
    "ls": ("ls", "--sort", "name"),
    "ls-all": ("ls", "-a", "--sort", "name"),
    "status": ("status", "alpha", "beta"),
    "status-one": ("status", "alpha"),
    "approvals": ("approvals",),
    "logs": ("logs", "alpha"),
    "logs-waiting": ("logs", "beta"),
    "help": ("help",),
    "help-ids": ("help", "ids"),
    "help-interrupt": ("help", "interrupt"),
    "help-exit-codes": ("help", "exit-codes"),
    "error-unknown": ("status", "alpah"),
}
NARROW = ("approvals", "logs", "logs-waiting")
WIDE = ("ls", "status", "approvals", "logs", "logs-waiting")
AS_JSON = {
    "ls": ("ls", "--sort", "name", "--json"),
    "ls-fields": ("ls", "--sort", "name", "--json", "name,state"),
    "approvals": ("approvals", "--json"),
    "clients": ("clients", "--json"),
    "logs": ("logs", "alpha", "--json", "-n", "4"),
    "inspect": ("inspect", "alpha"),
    "error-unknown": ("status", "nothing-like-it", "--json", "id"),
}
WORK = (
    "plan look around, write, read; then write deep/note.txt: remember the milk; "
    "then change deep/note.txt: remember the milk => remember the bread; then run seq 20; then run cat nowhere; "
    "then say **Done.** It is written, with a list:"
)


@pytest.fixture(scope="module")
def lived_in(place: Place) -> Place:
    """Two conversations at rest, one of them archived, and one that waits."""
    place.at_rest(place.new(WORK, "--name", "alpha", "--sandbox", "danger-full-access", "--approval", "on-failure"))
    place.at_rest(place.new("say a rather long first message that is in no table whole " * 3, "--name", "gamma"))
    place.run("archive", "gamma")
    place.asking("--name", "beta")
    return place


@pytest.mark.parametrize(
    ("name", "columns"),
    [*((name, 80) for name in LINES), *((name, 120) for name in WIDE), *((name, 40) for name in NARROW)],
)
def test_on_a_terminal(lived_in: Place, name: str, columns: int) -> None:
    terminal = lived_in.terminal(*LINES[name], columns=columns, rows=200)
    terminal.end()
    assert max((len(line) for line in terminal.screen.splitlines()), default=0) <= columns
    judge(f"{name}-{columns}", normal(terminal.screen, lived_in) + "\n")


@pytest.mark.parametrize("name", LINES)
def test_in_a_pipe(lived_in: Place, name: str) -> None:
    done = lived_in.run(*LINES[name], code=None)
    assert "\x1b" not in done.stdout + done.stderr
    judge(f"{name}-pipe", normal(done.stdout + done.stderr, lived_in))


@pytest.mark.parametrize("name", AS_JSON)
def test_as_json(lived_in: Place, name: str) -> None:
    done = lived_in.run(*AS_JSON[name], code=None)
    judge(f"{name}-json", normal(done.stdout + done.stderr, lived_in))


def test_no_colour_where_it_is_not_wanted(lived_in: Place) -> None:
    lived_in.env["NO_COLOR"] = "1"
    try:
        terminal = lived_in.terminal("ls")
        terminal.end()
    finally:
        del lived_in.env["NO_COLOR"]
    assert "\x1b[" not in terminal.written
    assert "waiting" in terminal.screen
