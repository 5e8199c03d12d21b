"""Parts that need no daemon: arguments, words, tables, keys, and the screen with its foot line."""

import io
import itertools
import json
import os
import sys
import time
import tty
from argparse import Namespace
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary import events as ev
from actors.vocabulary.settings import ApprovalPolicy, SandboxMode
from actors.vocabulary.visible_text import is_invisible
from greenroom.scripts import TERMINAL
from supervisor.cli.kit import approval_text, formatting
from supervisor.cli.kit.approval_answers import ApprovalAnswer
from supervisor.cli.kit.arguments import pairs, parse, seconds
from supervisor.cli.kit.client import RequestRefused
from supervisor.cli.kit.exits import exit_code_of_turn
from supervisor.cli.kit.ids import check_name
from supervisor.cli.kit.json_output import json_text
from supervisor.cli.kit.listing import ListLayout, fill_template, present
from supervisor.cli.kit.problems import Problem
from supervisor.cli.kit.table import Column, draw_table
from supervisor.cli.kit.terminal import Paint
from supervisor.cli.kit.turn_outcome import TurnOutcome
from supervisor.cli.show.input_line import (
    CHANGED_NOTICE,
    CLOSED_NOTICE,
    PARTLY_NOTICE,
    PASTED_NOTICE,
    InputLine,
    WatchAction,
    WatchCommand,
    WatchState,
)
from supervisor.cli.show.keys import CTRL_C, CTRL_D, CTRL_U, ENTER, Keyboard, PastedText, _keys
from supervisor.cli.show.markdown import paint_markdown
from supervisor.cli.show.screen import Screen
from supervisor.cli.verbs import VERBS, find, options
from tests.supervisor.cli.emulator import Emulator
from transports.dialects.mcp.protocol import tools

BUSY = WatchState(running=True)
QUESTION = {
    "subject": {"kind": "command", "command": ["make"]},
    "outside_sandbox": False,
    "history_of": "/w",
}
ASKED = WatchState(running=True, approval="q", question=QUESTION)


@pytest.mark.parametrize(("text", "length"), [("30s", 30), ("500ms", 0.5), ("2m", 120), ("1.5h", 5400), ("7", 7)])
def test_a_length_of_time_has_a_unit_or_means_seconds(text: str, length: float) -> None:
    assert seconds(text) == length


@pytest.mark.parametrize("text", ["soon", "", "-3s", "3 s", "1y"])
def test_an_invalid_duration_is_refused_with_examples(text: str) -> None:
    with pytest.raises(Problem, match="write it like"):
        seconds(text)


def test_overrides_are_toml_or_words() -> None:
    found = pairs(["a.b=1", 'c="x"', "d=gpt-5", "e=[1, 2]", "f=true", "g=2026-01-31"])
    assert found == {"a.b": 1, "c": "x", "d": "gpt-5", "e": [1, 2], "f": True, "g": "2026-01-31"}
    with pytest.raises(Problem, match="KEY=VALUE"):
        pairs(["nonsense"])


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_every_verb_has_a_help_with_an_example_that_it_understands(
    verb: object, capsys: pytest.CaptureFixture[str]
) -> None:
    found = find(getattr(verb, "name", ""))
    assert found is not None
    with pytest.raises(SystemExit) as ended:
        parse(found, ["--help"])
    assert ended.value.code == 0
    text = capsys.readouterr().out
    assert found.example in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_no_two_verbs_share_a_name() -> None:
    names = [name for verb in VERBS for name in (verb.name, *verb.aliases)]
    assert len(names) == len(set(names))
    assert {"shutdown", "ps", "fg", "tail", "stop"} <= set(names)


def test_text_of_others_shows_what_a_terminal_would_obey() -> None:
    assert formatting.clean("\ta\x1b[31mb\x07\x9bcd\r\n") == r"    a\x1b[31mb\x07\u009bcd" + "\n"
    assert formatting.one_line(" a\n  b\x1b ") == r"a b\x1b"


def test_text_of_others_shows_what_would_make_it_look_like_another() -> None:
    assert formatting.clean("rm \u202emr\u202c a\u200bb\U000e0041") == r"rm \u202emr\u202c a\u200bb\U000e0041"
    assert formatting.clean("one\u2028two\xa0three") == "one\ntwo three"


@pytest.mark.parametrize(
    "text",
    [
        "\u0645\u06cc\u200c\u062e",
        "\u26a0\ufe0f",
        "👩\u200d💻",
        "e\u0301",
        "\u2764\ufe0f\u200d🔥",
        "1\ufe0f\u20e3",
        "क्\u200dष",
    ],
)
def test_joiners_that_belong_to_a_script_stay(text: str) -> None:
    assert formatting.clean(text) == formatting.clean_piece(text) == text


HIDDEN = ["\u200c", "\u200d", "\ufe0e", "\ufe0f", "\U000e0100", "\U000e01ef", "\u034f", "\u2062", "\u3164"]


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize(
    "around", [("a", "b"), ("", ""), (" ", " "), ("é", "é"), ("a", ""), ("", "я"), ("🔥", "x"), ("a", "م")]
)
def test_a_hidden_character_is_written_by_its_number(hidden: str, around: tuple[str, str]) -> None:
    before, after = around
    if hidden in "\ufe0e\ufe0f" and before == "🔥":
        return  # the look of the sign before it
    for text in (f"{before}{hidden}{after}", f"{before}{hidden}{hidden}{after}"):
        assert hidden not in formatting.clean(text), ascii(text)
        assert hidden not in formatting.one_line(text)


@given(st.text(alphabet=st.sampled_from([*HIDDEN, "a", "é", "م", "🔥", "क", " ", "1", "\u20e3"]), max_size=12))
def test_no_two_that_are_not_seen_stand_side_by_side(text: str) -> None:
    """But a look and the joiner behind it, as pictures of several parts have them."""
    told = formatting.clean(text)
    for first, second in itertools.pairwise(told):
        assert not (is_invisible(first) and is_invisible(second)) or (
            first in "\ufe0e\ufe0f" and second in "\u200c\u200d"
        )


def test_characters_without_a_cell_are_not_counted() -> None:
    assert formatting.width("e\u0301") == 1
    assert formatting.width("\u0645\u06cc\u200c\u062e") == 3


def test_a_line_that_the_window_breaks_goes_on_below_itself_and_nothing_of_it_is_lost() -> None:
    assert formatting.wrap_text("abcdef", 4) == ["abcd", "  ef"]
    assert formatting.wrap_text("ab cd ef\n\ngh", 7) == ["ab cd ", "  ef", "  ", "  gh"]
    assert formatting.wrap_text("日本語", 5) == ["日本", "  語"]
    assert formatting.wrap_text("", 4) == [""]
    assert formatting.wrap_text("x" * 100, None) == ["x" * 100]


@given(st.text(), st.integers(1, 40))
def test_every_line_but_the_first_begins_with_blanks(text: str, cells: int) -> None:
    first, *more = formatting.wrap_text(text, cells)
    assert all(line.startswith("  ") for line in more)
    assert "".join([first, *(line[2:] for line in more)]) == text.replace("\n", "")


LEAVES = st.text() | st.integers() | st.none()
JSON_VALUES = LEAVES | st.dictionaries(st.text(), LEAVES | st.lists(LEAVES))


@given(JSON_VALUES | st.sampled_from(["\x7f\x9b2J\x90\u202e\u200b\u3164\U000e0041", "\ud800", "漢字 \u2028"]))
def test_json_has_the_same_value_and_nothing_that_a_terminal_obeys_or_hides(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert not any(map(is_invisible, text))
    assert not any(map(is_invisible, json_text(value, 2).replace("\n", "")))


@pytest.mark.parametrize("name", ["", " ", "a\nb", "\x1b[31m", "@last", "-x", "a ", "\u202eb"])
def test_a_name_is_one_that_can_be_seen_and_typed(name: str) -> None:
    with pytest.raises(Problem, match="is not a valid name"):
        check_name(name)
    assert check_name("two words, 日本語") == "two words, 日本語"


def test_a_field_to_sort_by_may_begin_with_a_dash() -> None:
    ls = find("ls")
    assert ls is not None
    assert parse(ls, ["--sort", "-tokens", "-q"]).sort == "-tokens"
    assert parse(ls, ["--sort=-tokens"]).sort == "-tokens"
    with pytest.raises(Problem, match="expected one argument"):
        parse(ls, ["--sort", "--all"])


@pytest.mark.parametrize(
    ("verb", "said", "wanted"),
    [
        ("jobs", "read -f 3f2a", {"what": "read", "follow": True, "job": "3f2a"}),
        ("queue", "work move --first 3f2a", {"what": "move", "first": True, "input": "3f2a"}),
        ("wait", "a -t 3 b", {"conversation": ["a", "b"], "timeout": 3.0}),
        ("set", "a --json name=x", {"conversation": "a", "settings": ["name=x"]}),
        ("queue", "work edit 3f2a -- -x", {"input": "3f2a", "prompt": "-x"}),
    ],
)
def test_options_may_stand_between_any_two_words(verb: str, said: str, wanted: dict[str, object]) -> None:
    found = find(verb)
    assert found is not None
    chosen = vars(parse(found, said.split()))
    assert {name: chosen[name] for name in wanted} == wanted


@pytest.mark.parametrize(
    ("verb", "said", "wrong"),
    [
        ("jobs", "reed", "'reed' is not possible here; did you mean read? write one of list, read, write, wait, end"),
        ("usage", "--by hour", "--by can't be 'hour'; write one of day, model, directory, conversation"),
    ],
)
def test_a_word_that_is_none_of_a_few_is_told_with_the_few_once(verb: str, said: str, wrong: str) -> None:
    found = find(verb)
    assert found is not None
    with pytest.raises(Problem) as told:
        parse(found, said.split())
    assert str(told.value) == wrong


def test_text_is_cut_by_cells_and_not_by_characters() -> None:
    assert formatting.cut_to_width("abcdef", 4) == "abc…"
    assert formatting.cut_to_width("日本語日本語", 6) == "日本…"
    assert formatting.width("日本é") == 5


def test_ages_have_one_unit() -> None:
    assert [formatting.span(each) for each in (0, 59, 60, 7200, 200_000)] == ["0s", "59s", "1m", "2h", "2d"]


def test_a_table_gives_way_where_it_may_and_fits() -> None:
    columns = (Column("ID", lambda row: row["id"]), Column("TEXT", lambda row: row["text"], shrinks=True))
    lines = draw_table(columns, [{"id": "1234", "text": "x" * 100}], 30, Paint(io.StringIO()))
    assert [len(line) for line in lines] == [10, 30]
    assert lines[1].endswith("…")


def test_a_template_reaches_into_what_is_nested_and_names_what_there_is() -> None:
    row = {"id": "1", "settings": {"model": "m"}, "none": None}
    assert fill_template(dict.fromkeys(row, ""), row, "{id}\\t{settings.model}{none}{UNTOUCHED}") == "1\tm{UNTOUCHED}"
    with pytest.raises(Problem, match="write one of model"):
        fill_template(dict.fromkeys(row, ""), row, "{settings.nope}")


@pytest.mark.parametrize(
    ("ending", "denied", "code"),
    [("completed", False, 0), ("completed", True, 13), ("error", True, 10), ("interrupted", False, 11),
     ("interrupted", True, 13), ("lost", False, 10), ("replaced", False, 11), ("failed", False, 10)],
)  # fmt: skip
def test_the_exit_code_of_a_turn(ending: str, denied: bool, code: int) -> None:
    assert exit_code_of_turn(ending, denied=denied) == code


def test_an_ending_is_of_the_last_turn_alone() -> None:
    ending = TurnOutcome()
    for body in (
        {"type": "task_started"},
        {"type": "approval_resolved", "decision": "denied"},
        {"type": "error", "message": ""},
        {"type": "task_complete"},
    ):
        ending.take(body)
    assert (ending.ending, ending.exit) == ("error", 10)
    ending.take({"type": "task_started"})
    assert (ending.ending, ending.is_open, ending.was_denied) == (None, True, False)
    ending.take({"type": "turn_aborted", "reason": "interrupted"})
    assert ending.exit == 11


# --- keys -----------------------------------------------------------------------------------------------------------


def answered(decision: str) -> WatchCommand:
    return WatchCommand(WatchAction.ANSWER, answer=ApprovalAnswer(decision))


def pressed(talk: InputLine, keys: str, scene: WatchState, now: float = 100.0) -> list[WatchCommand]:
    return [command for key in keys if (command := talk.press(key, scene, now)) is not None]


def test_ctrl_c_asks_then_interrupts_then_kills() -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, CTRL_C, BUSY) == []
    assert "Interrupt the turn?" in talk.foot(BUSY, 0, 80)
    assert pressed(talk, CTRL_C * 2, BUSY) == [WatchCommand(WatchAction.INTERRUPT), WatchCommand(WatchAction.KILL)]


def test_any_other_key_takes_the_interrupt_back_and_is_not_typed() -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, f"{CTRL_C}x{CTRL_C}y", BUSY) == []
    assert "_" not in talk.foot(BUSY, 0, 80)


def test_ctrl_c_empties_what_was_typed_and_leaves_where_nothing_runs() -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, f"abc{CTRL_C}", BUSY) == []
    assert pressed(talk, CTRL_C, WatchState()) == [WatchCommand(WatchAction.LEAVE)]


@pytest.mark.parametrize(
    ("word", "decision"),
    [
        ("y", "approved"),
        (" Yes ", "approved"),
        ("n", "denied"),
        ("no", "denied"),
        ("abort", "abort"),
        ("always", "approved_for_session"),
    ],
)
def test_an_answer_is_a_word_and_enter(word: str, decision: str) -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, word, ASKED) == []
    assert pressed(talk, ENTER, ASKED) == [answered(decision)]


@pytest.mark.parametrize("said", ["use the other branch", "look at /etc/x first", "https://x.example/1", "/plan"])
def test_a_sentence_is_a_message(said: str) -> None:
    assert pressed(InputLine(Paint(io.StringIO())), f"{said}{ENTER}", ASKED) == [WatchCommand(WatchAction.SAY, said)]


@pytest.mark.parametrize(
    "word",
    ["a", "q", "yes please", "why", "my", "ok", "reject", "allow_always", "yep!", "outside", "no problem", "no,"],
)
def test_a_word_that_answers_nothing_says_so_and_is_not_sent(word: str) -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, f"{word}{ENTER}", ASKED) == []
    told = talk.foot(ASKED, 101.0, 80)
    assert "that answers nothing: yes, no, always, abort; a sentence is a message" in told
    assert len(told) < 80


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("no, because build is still needed", "build is still needed"),
        ("no because build is still needed", "build is still needed"),
        ("No: use git mv", "use git mv"),
        ("n - not on main.", "not on main."),
        ("no, use git mv, please", "use git mv, please"),
        ("no; because: because", "because"),
    ],
)
def test_a_no_with_a_reason_is_a_no_with_that_reason(said: str, reason: str) -> None:
    command = WatchCommand(WatchAction.ANSWER, answer=ApprovalAnswer("denied", reason=reason))
    assert pressed(InputLine(Paint(io.StringIO())), f"{said}{ENTER}", ASKED) == [command]


def test_an_answer_with_a_reason_to_a_question_that_is_gone_is_not_sent() -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, "no, because I say so", ASKED) == pressed(talk, ENTER, BUSY, 103.0) == []
    assert "nothing was sent" in talk.foot(BUSY, 104.0, 100)


def test_where_nothing_is_asked_yes_is_a_message() -> None:
    assert pressed(InputLine(Paint(io.StringIO())), f"yes{ENTER}", BUSY) == [WatchCommand(WatchAction.SAY, "yes")]


def test_a_word_that_was_begun_before_the_approval_stood_there_is_no_answer() -> None:
    asked = WatchState(running=True, approval="approval-id", asked_at=100.0, question=QUESTION)
    talk = InputLine(Paint(io.StringIO()))
    assert "yes" not in talk.foot(asked, 100.3, 80)
    assert pressed(talk, "y", BUSY, 99.0) == []
    assert pressed(talk, ENTER, asked, 102.0) == []
    assert "the approval appeared while you typed" in talk.foot(asked, 103.0, 100)
    assert pressed(talk, f"also this{ENTER}", asked, 103.0) == [WatchCommand(WatchAction.SAY, "also this")]
    assert pressed(talk, f"y{ENTER}", asked, 103.2) == []  # typed on: nobody has looked up
    assert pressed(talk, CTRL_U, asked, 104.0) == []
    assert "approval: yes, no, always (in this" in talk.foot(asked, 105.0, 80)
    files = {"subject": {"kind": "files", "changes": {}}}
    once = WatchState(running=True, approval="approval-id", asked_at=100.0, question=files)
    assert ["always" in talk.foot(once, 105.0, columns) for columns in (70, 80)] == [False, False]
    assert pressed(talk, f"y{ENTER}", asked, 105.0) == [answered("approved")]


def test_a_word_that_was_erased_and_typed_again_counts_and_what_breaks_out_of_a_paste_does_not() -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, f"yse{CTRL_U}", ASKED) == []
    assert pressed(talk, f"no{ENTER}", ASKED, 100.2) == [answered("denied")]
    talk = InputLine(Paint(io.StringIO()))
    assert talk.press(PastedText("x"), ASKED, 100.0) is None
    assert pressed(talk, f"{CTRL_U}yes{ENTER}", ASKED, 100.1) == []
    assert "not answered: " in talk.foot(ASKED, 101.0, 80)


def test_the_foot_line_of_a_question_fits_eighty_columns() -> None:
    assert max(map(len, (CHANGED_NOTICE, PASTED_NOTICE, CLOSED_NOTICE, PARTLY_NOTICE))) < 80


def test_a_word_for_one_approval_does_not_answer_the_next_and_is_not_sent() -> None:
    first, second = (WatchState(running=True, approval=one, asked_at=0.0) for one in ("first", "second"))
    first.question = second.question = QUESTION
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, "yes", first) == pressed(talk, ENTER, second, 101.0) == []
    assert pressed(talk, "yes", first, 102.0) == pressed(talk, ENTER, BUSY, 103.0) == []
    assert "nothing was sent" in talk.foot(BUSY, 104.0, 100)


@pytest.mark.parametrize("pasted", ["y", "yes\n", "y\ny\n", "\ny"])
def test_a_paste_is_one_draft_and_never_an_answer(pasted: str) -> None:
    talk = InputLine(Paint(io.StringIO()))
    assert talk.press(PastedText(pasted), ASKED, 100.0) is None
    assert talk.foot(ASKED, 101.0, 80).startswith("> ")
    command = talk.press(ENTER, ASKED, 101.0)
    assert command in (None, WatchCommand(WatchAction.SAY, pasted.strip()))
    assert talk.press(PastedText("e"), ASKED, 102.0) is None
    assert pressed(talk, "\x7f", ASKED, 103.0) == []
    # Now all of it is typed.
    assert pressed(talk, f"yes{ENTER}", ASKED, 104.0) == [answered("approved")]


def test_lines_that_come_all_at_once_answer_nothing() -> None:
    """A terminal that does not mark a paste sends all of it at once."""
    talk = InputLine(Paint(io.StringIO()))
    assert talk.press("y", ASKED, 100.0, more=True) is None
    assert talk.press(ENTER, ASKED, 100.0, more=True) is None
    assert "paste" in talk.foot(ASKED, 101.0, 80)


def test_a_question_that_is_not_shown_whole_is_not_approved() -> None:
    scene = WatchState(running=True, approval="long", is_partly_shown=True, question=QUESTION)
    talk = InputLine(Paint(io.StringIO()))
    assert "show (all of it), no" in talk.foot(scene, 100.0, 80)
    assert pressed(talk, f"always{ENTER}", scene) == []
    assert "not all of it" in talk.foot(scene, 101.0, 80)
    assert pressed(talk, f"show{ENTER}", scene, 102.0) == [WatchCommand(WatchAction.SHOW)]
    assert pressed(talk, f"no{ENTER}", scene, 103.0) == [answered("denied")]


@pytest.mark.parametrize("columns", [40, 60, 79, 80, 120])
def test_the_words_of_an_approval_fit_in_the_foot_line(columns: int) -> None:
    for partly in (False, True):
        question = {**QUESTION, "outside_sandbox": False, "inside_or_outside": True}
        scene = WatchState(
            running=True, approval="0123456789ab@conversation", is_partly_shown=partly, question=question
        )
        assert len(InputLine(Paint(io.StringIO())).foot(scene, 100.0, columns)) < max(columns, 55 * partly)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 100])
def test_a_paste_is_one_key_however_it_comes(step: int) -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "rb") as terminal, patch.object(sys, "stdin", terminal):
        keyboard = Keyboard()
        written = "a\x1b[200~y\r\nrm \x1b[31m-rf\x1b[A\ry\x1b[201~b\x1b[A\r"
        found = [key for at in range(0, len(written), step) for key in keyboard.parse_keys(written[at : at + step])]
    os.close(ours)
    assert found == ["a", "y\nrm [31m-rf[A\ny", "b", "\x1b[A", ENTER]
    assert [isinstance(key, PastedText) for key in found] == [False, True, False, False, False]


def test_a_paste_whose_end_was_lost_holds_nobody() -> None:
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "rb") as terminal, patch.object(sys, "stdin", terminal):
        keyboard = Keyboard()
        tty.setraw(keyboard.fd)
        for written, read in (("\x1b[200~x", []), ("y", []), (CTRL_C, [CTRL_C]), ("z", ["z"])):
            os.write(ours, written.encode())
            assert keyboard.read() == read
    os.close(ours)


def test_a_read_only_watcher_can_only_leave() -> None:
    talk = InputLine(Paint(io.StringIO()), read_only=True)
    assert pressed(talk, f"yhello{ENTER}", ASKED) == []
    assert pressed(talk, CTRL_C, BUSY) == pressed(talk, CTRL_D, BUSY) == [WatchCommand(WatchAction.LEAVE)]


def test_arrows_come_whole_and_are_not_typed() -> None:
    assert _keys("a\x1b[A\x1bOB\x1b[3~é") == ["a", "\x1b[A", "\x1b[B", "\x1b[3~", "é"]
    talk = InputLine(Paint(io.StringIO()))
    assert pressed(talk, "".join(_keys("a")), BUSY) == []
    assert talk.press("\x1b[A", BUSY, 100.0) is None
    assert talk.foot(BUSY, 0, 80) == "> a_"


# --- the screen -----------------------------------------------------------------------------------------------------


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    columns = [40]
    monkeypatch.setattr("supervisor.cli.kit.terminal.size", lambda: (columns[0], 24))
    return columns


def seen(stream: io.StringIO, wide: list[int]) -> str:
    """The screen after the output, with line ends as a terminal's driver writes them."""
    return Emulator(wide[0]).feed(stream.getvalue().replace("\n", "\r\n")).text


def test_a_foot_line_stays_below_text_that_flows(wide: list[int]) -> None:
    stream = io.StringIO()
    screen = Screen(stream, live=True)
    for number in range(30):
        screen.foot(f"foot {number}")
        screen.write(f"word{number} ")
    shown = seen(stream, wide)
    assert shown.split() == [*(f"word{number}" for number in range(30)), "foot", "29"]
    assert shown.splitlines()[-1] == "foot 29"
    screen.close()
    assert "foot" not in seen(stream, wide)


def test_a_watched_list_says_once_that_it_is_empty(
    wide: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("supervisor.cli.kit.terminal.is_terminal", lambda _=None: True)
    monkeypatch.setattr("time.sleep", lambda _: None)
    answers: list[list[dict[str, str]]] = [[], [], [], [{"id": "one"}], []]

    def fetch() -> list[dict[str, str]]:
        if not answers:
            raise KeyboardInterrupt
        return answers.pop(0)

    listing = ListLayout({"id": "Which."}, (Column("ID", lambda row: row["id"]),), "nothing yet")
    chosen = Namespace(json=None, format=None, quiet=False, watch=True)
    with pytest.raises(KeyboardInterrupt):
        present(listing, fetch, chosen)
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("nothing yet") == 2  # before there was one, and after
    assert Emulator(wide[0]).feed(out.replace("\n", "\r\n")).text == "nothing yet"


def test_the_emulator_of_these_tests_takes_a_sequence_in_two_reads() -> None:
    emulator = Emulator(40)
    for piece in ("a\x1b", "[3", "2mb\x1b[", "0m"):
        emulator.feed(piece)
    assert emulator.text == "ab"


def test_words_are_kept_whole_and_long_ones_are_broken(wide: list[int]) -> None:
    stream = io.StringIO()
    screen = Screen(stream, live=True)
    screen.write("some words that fill the line and then more " + "x" * 90)
    lines = seen(stream, wide).splitlines()
    assert lines[0] == "some words that fill the line and then"
    assert lines[1] == "more " + "x" * 34
    assert max(len(line) for line in lines) < wide[0]
    assert "".join(lines).count("x") == 90


@pytest.mark.parametrize("before", ["", "\u200d", "\ufe0f\u0301", "x" * 39, "x" * 78, "\u6f22" * 19 + "x"])
@pytest.mark.parametrize("mark", ["?", "\uff1f", "\u0294"])
def test_only_an_approval_begins_a_line_as_approvals_do(wide: list[int], before: str, mark: str) -> None:
    for columns in range(8, 90):
        wide[0] = columns
        stream = io.StringIO()
        Screen(stream, live=True).write(f"{before}{mark}{mark} 12345678: may it run?\n")
        for line in stream.getvalue().split("\n"):
            assert not line.lstrip("\u200d\ufe0f\u0301").startswith(mark)


MARKDOWN = """# The *one* title
Some **bold `x` words** and *em*, `code` and ``a ` b``.
Not 2 * 3 * 4, a*b*c, `alone and __init__.py.
- one
  * nested - not this
1. first
> a quote
~~~python
# no title, **not bold**
```
~~~~
| a | b |"""
PAINTED = """<bold>The </><bold;italic>one</><bold> title</>
Some <bold>bold </><bold;cyan>x</><bold> words</> and <italic>em</>, <cyan>code</> and <cyan>a ` b</>.
Not 2 * 3 * 4, a*b*c, `alone and __init__.py.
• one
  • nested - not this
1. first
<dim>> a quote</>
<cyan># no title, **not bold**</>
<cyan>```</>
| a | b |"""


def test_an_answer_in_markdown_is_painted_and_keeps_its_lines() -> None:
    assert paint_markdown(MARKDOWN, Named()) == PAINTED


def test_code_that_never_ends_is_code_to_the_end() -> None:
    assert paint_markdown("```\n**a**\n# b", Named()) == "<cyan>**a**</>\n<cyan># b</>"


def test_markdown_that_opens_much_and_closes_nothing_is_painted_at_once() -> None:
    for hostile in ("**a ", "*a ", "`a``", "`", "*", " ", "# ", "> *", "- ", "~~~\n"):
        began = time.process_time()
        paint_markdown(hostile * 100_000, Paint())
        assert time.process_time() - began < 5.0  # on any machine; what is quadratic takes minutes


def test_an_answer_in_markdown_brings_no_hidden_characters_in_by_their_names() -> None:
    text = "a&#x202e;b &ZeroWidthSpace; [x&#x200b;y](http://e/) &#27;[2J\n\n| &#x202e; | b |\n|---|---|\n| 1 | 2 |"
    shown = paint_markdown(text, Named())
    assert shown == text
    assert not [one for one in shown if is_invisible(one) and one != "\n"]


class Named(Paint):
    """Says a style instead of switching to it."""

    def __call__(self, text: str, *styles: str) -> str:
        return f"<{';'.join(styles)}>{text}</>" if text and styles else text


def test_wide_characters_take_two_cells_each(wide: list[int]) -> None:
    stream = io.StringIO()
    screen = Screen(stream, live=True)
    for _ in range(12):
        screen.foot("foot")
        screen.write("日本語 ")
        screen.foot("other")
    screen.close()
    lines = seen(stream, wide).splitlines()
    assert [line.split() for line in lines] == [["日本語"] * 5, ["日本語"] * 5, ["日本語"] * 2]


def test_a_line_of_its_own_does_not_split_a_stream_of_words(wide: list[int]) -> None:
    stream = io.StringIO()
    screen = Screen(stream, live=True)
    screen.write("streaming")
    screen.foot("foot")
    screen.line("a note")
    screen.write("again")
    screen.close()
    assert seen(stream, wide) == "streaming\na note\nagain"


def test_a_foot_line_longer_than_the_screen_is_cut(wide: list[int]) -> None:
    stream = io.StringIO()
    Screen(stream, live=True).foot("long " * 30)
    shown = seen(stream, wide)
    assert len(shown.splitlines()) == 1
    assert shown.endswith("…")


@pytest.mark.usefixtures("wide")
def test_without_a_terminal_text_goes_out_as_it_is() -> None:
    stream = io.StringIO()
    screen = Screen(stream, live=False)
    screen.foot("never seen")
    screen.write("x" * 100 + " y")
    screen.close()
    assert stream.getvalue() == "x" * 100 + " y\n"


def test_a_full_disk_is_not_said_to_pass_by_itself() -> None:
    refused = RequestRefused({"message": "disk is full", "data": {"code": "storage_full", "retryable": True}})
    assert str(refused) == "disk is full; free some disk space; `greenroom df` shows what Greenroom uses"
    assert str(RequestRefused({"message": "full", "data": {"retryable": True}})) == "full; try again in a moment"


def test_a_word_of_any_length_is_cut_and_broken_in_linear_time(wide: list[int]) -> None:
    """Chinese has no blanks: an answer may be one word. In quadratic time each of these takes minutes."""
    word, began = "漢" * 200_000, time.process_time()
    stream = io.StringIO()
    Screen(stream, live=True).write(word)
    assert stream.getvalue().replace("\n", "") == word
    assert max(map(len, stream.getvalue().splitlines())) == (wide[0] - 1) // 2
    assert formatting.cut_to_width(word, 10) == "漢漢漢漢…"
    assert time.process_time() - began < 20


def test_the_command_line_knows_the_types_that_it_does_not_import() -> None:
    assert TERMINAL == ev.TERMINAL
    assert approval_text.QUESTION == ev.APPROVAL_REQUESTED


def test_the_policies_that_a_door_offers_are_those_that_there_are() -> None:
    policies, modes = list(ApprovalPolicy), list(SandboxMode)
    taken = tools.BY_NAME["codex"]["inputSchema"]["properties"]
    assert list(options.APPROVALS) == taken["approval-policy"]["enum"] == policies
    assert list(options.SANDBOXES) == taken["sandbox"]["enum"] == modes
