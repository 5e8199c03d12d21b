"""The bell and the window's title: a question is heard by somebody who looks elsewhere, and seen in the title."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from supervisor.cli.show.attention import LONG_S, THERE_S, Attention
from tests.supervisor.cli.emulator import Emulator
from tests.supervisor.cli.place import Place, Terminal

YES_NO = "abort (ends the turn) + Enter"
HINT = "type to join in"
LOOKS_AWAY, LOOKS_BACK = "\x1b[O", "\x1b[I"


class Window:
    """A terminal that was told things."""

    def __init__(self, capsys: pytest.CaptureFixture[str], focused: bool | None) -> None:
        self.has_focus = focused
        self._capsys = capsys
        self._emulator = Emulator(80)

    @property
    def seen(self) -> Emulator:
        return self._emulator.feed(self._capsys.readouterr().out)


@contextmanager
def attended(window: Window, now: float = 0.0) -> Iterator[Attention]:
    with Attention(window, "fix \x1b]0;tests\x07", now) as attention:
        yield attention


@pytest.mark.parametrize(
    ("focused", "since_a_key_s", "rings"),
    [
        (True, 1000.0, False),
        (False, 0.0, True),
        (None, THERE_S - 1, False),
        (None, THERE_S + 1, True),
    ],
)
def test_the_bell_rings_once_for_each_question_unless_somebody_is_there(
    capsys: pytest.CaptureFixture[str], focused: bool | None, since_a_key_s: float, *, rings: bool
) -> None:
    window = Window(capsys, focused)
    with attended(window) as attention:
        for open_ in (["a"], ["a"], ["a", "b"], ["b"], [], ["c"]):
            attention.show_open_approvals(open_, since_a_key_s)
        assert window.seen.bells == (3 if rings else 0)


def test_the_end_of_a_turn_that_took_long_rings(capsys: pytest.CaptureFixture[str]) -> None:
    window = Window(capsys, focused=False)
    with attended(window) as attention:
        attention.note_turn_end(100.0, 99.0 + LONG_S, 100.0 + LONG_S)  # who waits for this one looks on
        attention.note_turn_end(100.0, 200.0, 100_000.0)  # one of long ago
        assert window.seen.bells == 0
        attention.note_turn_end(100.0, 100.0 + LONG_S, 100.0 + LONG_S)
        assert window.seen.bells == 1


def test_the_title_says_whether_it_asks_and_is_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    window = Window(capsys, None)
    window.seen.feed("\x1b]0;a shell\x1b\\")
    with attended(window) as attention:
        assert window.seen.title == r"fix \x1b]0;tests\x07 (greenroom)"
        attention.show_open_approvals(["a"], 0.0)
        assert window.seen.title == r"? fix \x1b]0;tests\x07 asks (greenroom)"
        attention.show_open_approvals([], 0.0)
        assert window.seen.title == r"fix \x1b]0;tests\x07 (greenroom)"
    assert window.seen.title == "a shell"


def turn_to(terminal: Terminal, focus: str) -> None:
    """Tell the program where the person looks; return when it has read that."""
    terminal.send(f"{focus}x")
    terminal.expect("> x")
    terminal.send("\x7f")
    terminal.expect(HINT)


@contextmanager
def held(place: Place, *gates: str) -> Iterator[None]:
    """Pipes that `run cat` waits for."""
    for gate in gates:
        os.mkfifo(place.work / gate)
    try:
        yield
    finally:
        for gate in gates:
            (place.work / gate).unlink()


def let_go(place: Place, gate: str) -> None:
    (place.work / gate).write_text("")


@pytest.mark.parametrize(
    ("one", "two", "sandbox"),
    [
        ("ask touch one", "ask touch two", "workspace-write"),
        ("write one.txt: milk", "write two.txt: milk", "read-only"),
    ],
)
def test_a_question_rings_and_shows_in_the_title_until_it_is_answered(
    place: Place, one: str, two: str, sandbox: str
) -> None:
    script = f"run cat first; then {one}; then run cat second; then {two}; then say thanks"
    with held(place, "first", "second"):
        terminal = place.terminal("run", script, "--sandbox", sandbox, "--name", f"ring-{sandbox}")
        terminal.expect("$ cat first")
        turn_to(terminal, LOOKS_AWAY)
        for count, gate, answer in ((1, "first", "yes"), (2, "second", f"{LOOKS_BACK}no")):
            let_go(place, gate)
            terminal.expect(YES_NO)
            assert terminal.bells == count
            assert terminal.title == f"? ring-{sandbox} asks (greenroom)"
            terminal.send(f"{answer}\r")
            terminal.expect("\x1b]0;ring")
        assert terminal.end() == 13
    assert terminal.bells == 2
    assert terminal.title == ""


def test_somebody_who_looks_at_the_window_hears_nothing(place: Place) -> None:
    with held(place, "first"):
        terminal = place.terminal("run", "run cat first; then ask touch bell; then say thanks")
        terminal.expect("$ cat first")
        turn_to(terminal, LOOKS_BACK)
        let_go(place, "first")
        terminal.expect(YES_NO)
        terminal.send("no\r")
        assert terminal.end() == 13
    assert terminal.bells == 0
    assert "\x1b[I" not in terminal.screen


def test_top_rings_for_a_question_of_any_conversation(place: Place) -> None:
    terminal = place.terminal("top")
    terminal.expect("q quit")
    terminal.send(LOOKS_AWAY)
    place.asking("--name", "asks-in-top")
    terminal.expect("\a")
    terminal.expect("? top asks")
    terminal.send("q")
    assert terminal.end() == 0
    place.run("deny", "asks-in-top")
