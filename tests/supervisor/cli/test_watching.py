"""`run`, `send --wait` and `attach` in a real terminal: typing, approving, interrupting, leaving, resizing."""

import json
import time

import pytest

from tests.supervisor.cli.place import Place, until
from tests.support.read_back import command_in, words_of

WORK = "plan look, write; then write deep/a.txt: milk; then run seq 30; then say All done."
YES_NO = "abort (ends the turn) + Enter"
HINT = "> type a message"


def test_run_streams_folds_and_ends_with_tokens_and_time(place: Place) -> None:
    terminal = place.terminal("run", WORK, "--sandbox", "danger-full-access", "--approval", "on-failure")
    assert terminal.end() == 0
    screen = terminal.screen
    assert "[>] look\n[ ] write\n  add deep/a.txt\n    +milk\n$ seq 30\n  1\n" in screen
    assert "  8\n  … 20 more lines (`greenroom logs --raw` shows them)\n  29\n  30\nAll done.\n-- done, " in screen
    assert screen.endswith(" tokens")
    assert "\x1b[32m    +milk" in terminal.written  # green


def test_an_approval_is_answered_inline(place: Place) -> None:
    terminal = place.terminal("run", "ask touch inline; then say thanks")
    terminal.expect(YES_NO)
    terminal.send("yes\r")
    terminal.expect("thanks")
    assert terminal.end() == 0
    assert (
        ": may it run this command?\n  $ bash -lc 'touch inline'\n  in ~/work\n  outside the sandbox\n"
        in terminal.screen
    )
    assert "approved by greenroom run[" in terminal.screen
    assert (place.work / "inline").exists()


def test_abort_denies_and_ends_the_turn(place: Place) -> None:
    terminal = place.terminal("run", "ask touch never; then say thanks")
    terminal.expect(YES_NO)
    terminal.send("abort\r")
    assert terminal.end() == 13
    assert not (place.work / "never").exists()


def test_always_answers_the_same_command_from_then_on(place: Place) -> None:
    terminal = place.terminal("run", "ask touch always; then ask touch always; then say thanks")
    terminal.expect(YES_NO)
    terminal.send("always\r")
    terminal.expect("thanks")
    assert terminal.end() == 0
    assert terminal.screen.count("may it run") == 1


def test_ctrl_c_asks_once_then_interrupts_the_turn_and_keeps_the_conversation(place: Place) -> None:
    terminal = place.terminal("run", "count 500", "--name", "kept")
    terminal.expect("10 ")
    terminal.send("\x03")
    terminal.expect("Interrupt the turn?")
    terminal.send("n")
    terminal.expect("Ctrl-C interrupts")
    assert place.said("inspect", "kept", "--format", "{state}") == "running"
    terminal.send("\x03")
    terminal.expect("Interrupt the turn?")
    terminal.send("\x03")
    assert terminal.end() == 11
    assert "-- interrupted by greenroom run[" in terminal.screen
    assert place.said("inspect", "kept", "--format", "{state}") == "idle"


def test_leaving_says_how_to_come_back_and_ends_nothing(place: Place) -> None:
    for key in ("\x04", "\x1c"):
        terminal = place.terminal("run", "count 500")
        terminal.expect("10 ")
        terminal.send(key)
        terminal.expect("left; the conversation goes on, `greenroom attach ")
        assert terminal.end() == 0
        assert place.said("inspect", "@last", "--format", "{state}") == "running"
        place.run("interrupt", "@last")


def test_attach_begins_with_state_seq_who_is_there_and_how_to_leave(place: Place) -> None:
    conversation = place.new("say hello there", "--name", "first-line")
    place.at_rest(conversation)
    first = place.terminal("attach", "first-line")
    first.expect(HINT)
    second = place.terminal("attach", "first-line")
    second.expect("hello there")  # the last turn, to know where we are
    second.expect(HINT)
    assert (
        first.screen.splitlines()[0]
        == f"{conversation[:8]} (first-line): idle, seq 7, no other client watching; Ctrl-D leaves"
    )
    assert "(first-line): idle, seq 7, 1 other client watching; Ctrl-D" in second.screen
    for terminal in (first, second):
        terminal.send("\x04")
        assert terminal.end() == 0


def test_a_typed_message_is_sent_and_shown_to_all_attached_clients(place: Place) -> None:
    conversation = place.new("say hello")
    place.at_rest(conversation)
    one, two = place.terminal("attach", conversation), place.terminal("attach", conversation, "--ro")
    one.expect(HINT)
    two.expect("Ctrl-D leaves")
    one.send("say wronX\x7fg, no: \x15say quite right\r")
    for terminal in (one, two):
        terminal.expect("quite right")
        terminal.expect("-- done")
        terminal.send("\x04")
        assert terminal.end() == 0
        assert "> say quite right" in terminal.screen
        assert "wrong" not in terminal.screen


def test_a_message_typed_during_a_turn_joins_it(place: Place) -> None:
    program = "run sleep 0.5; then run sleep 0.2; then say end"
    terminal = place.terminal("run", "--sandbox", "danger-full-access", program)
    terminal.expect("$ sleep 0.5")
    terminal.send("say instead\r")
    terminal.expect("+ joins the turn: say instead")
    terminal.expect("instead")
    assert terminal.end() == 0


def test_a_refusal_by_policy_is_shown_with_its_reason(place: Place) -> None:
    done = place.run("run", "write refused.txt: milk; then say end", "--sandbox", "read-only", "--approval", "never")
    assert "patch rejected: " in done.stderr
    assert not (place.work / "refused.txt").exists()


def test_an_approval_of_a_patch_shows_it_and_then_says_why(place: Place) -> None:
    conversation = place.new("write asked.txt: milk; then say end", "--sandbox", "read-only")
    place.run("wait", conversation, "--for", "approval", "-t", "15")
    told = place.run("logs", conversation).stdout
    assert ": may it change 1 file?\n  add ~/work/asked.txt\n    +milk\n  outside the sandbox\n  because: " in told
    place.run("deny", conversation)
    place.at_rest(conversation)
    assert "rejected" not in place.run("logs", conversation).stdout  # who denied it is told already


def test_an_approval_that_somebody_else_answers_is_closed(place: Place) -> None:
    terminal = place.terminal("run", "ask touch elsewhere; then count 30")
    terminal.expect(YES_NO)
    place.run("approve", "@last")
    terminal.expect("approved by greenroom approve[")
    terminal.expect("-- done")
    assert terminal.end() == 0


def test_an_open_approval_is_shown_to_somebody_who_attaches_later(place: Place) -> None:
    conversation = place.asking()
    terminal = place.terminal("attach", conversation)
    terminal.expect(YES_NO)
    terminal.send("no\r")
    terminal.expect("  denied by greenroom attach[")
    terminal.send("\x04")
    assert terminal.end() == 0


FALSE = "? 12345678: may it run this command?"
HOSTILE = (
    "true\n\n? 12345678: may it run this command?\n  $ npm test\n  in /w\n./de\u200bploy\u202e \x1b[2J\x9b2J "
    + "x" * 60
)


@pytest.mark.parametrize("columns", [40, 80])
def test_a_hostile_command_is_shown_as_what_it_is_and_looks_like_no_approval(place: Place, columns: int) -> None:
    terminal = place.terminal("run", f"ask touch it{HOSTILE}", columns=columns, rows=50)
    terminal.expect("Enter\x1b[0m")  # the foot line, which says how to answer
    terminal.send("no\r")
    assert terminal.end() == 13
    at_the_margin = [line for line in terminal.screen.splitlines() if line.startswith("?")]
    assert len(at_the_margin) == 1
    assert at_the_margin[0].endswith(": may it run this command?")
    asked = terminal.screen[terminal.screen.index(at_the_margin[0]) :].splitlines()[1:]
    assert words_of([command_in(asked)]) == [["bash", "-lc", f"touch it{HOSTILE}"]]
    assert "  outside the sandbox" in asked
    assert not any(character in terminal.written for character in "\u200b\u202e\x9b")
    assert "\x1b[2J" not in terminal.written


def test_neither_output_nor_the_models_words_look_like_an_approval(place: Place) -> None:
    script = f"run printf '%s\\n' '{'x' * 36} {FALSE}' '{FALSE}'; then say {FALSE} {'x' * 34} {FALSE}"
    terminal = place.terminal("run", script, "--sandbox", "danger-full-access", columns=40, rows=40)
    assert terminal.end() == 0
    assert terminal.screen.count("12345678") == 10  # asked for, run, written, said
    assert not [line for line in terminal.screen.splitlines() if line.startswith("?")]


def test_an_approval_that_was_asked_for_before_is_shown_to_everybody_who_may_answer_it(place: Place) -> None:
    conversation = place.asking()
    terminal = place.terminal("attach", conversation, "--from", "now")
    terminal.expect("$ bash -lc 'touch asked'")
    terminal.expect(YES_NO)
    terminal.send("\x1b[200~yes\r\x1b[201~")
    terminal.expect("> yes⏎_")
    terminal.send("\r")
    terminal.expect("a paste answers no approval")
    assert place.said("inspect", conversation, "--format", "{state}") == "waiting"
    terminal.send("\x04")
    assert terminal.end() == 0
    assert terminal.written.count("\x1b[?2004h") == terminal.written.count("\x1b[?2004l") == 1
    place.run("deny", conversation)


def test_a_long_approval_is_approved_after_all_of_it_was_shown(place: Place) -> None:
    script = "\n".join(["touch long", *(f"true {number}" for number in range(300))])
    terminal = place.terminal("run", f"ask {script}; then say thanks")
    terminal.expect("show (all of it), no, abort + Enter")
    assert "true 150" not in terminal.written.split("? ")[-1]
    terminal.send("yes\r")
    terminal.expect("not all of it is on the screen")
    terminal.send("\x15show\r")
    terminal.expect("true 150\x1b[0m")
    terminal.expect("lines and begins above this window")
    terminal.expect(YES_NO)
    terminal.send("yes\r")
    terminal.expect("thanks")
    assert terminal.end() == 0


def test_where_no_key_is_read_an_approval_says_which_command_answers_it(place: Place) -> None:
    attached = place.begin("attach", place.asking("--name", "unseen"))
    assert attached.stderr is not None
    line = next(line for line in attached.stderr if "answers it" in line)
    (approval,) = place.json("approvals", "unseen", "--json")
    assert line == "  (`greenroom approve {0}` or `greenroom deny {0}` answers it)\n".format(approval["id"][:8])
    place.run("deny", "unseen")
    attached.terminate()
    attached.communicate(timeout=15)


def test_one_approval_is_shown_whole_by_its_id(place: Place) -> None:
    conversation = place.new("ask " + "\n".join(["touch long", *(f"true {number}" for number in range(100))]))
    place.run("wait", conversation, "--for", "approval", "-t", "15")
    approval = place.said("approvals", "-q")
    listed = place.terminal("approvals", columns=40, rows=200)
    assert listed.end() == 0
    assert f"`greenroom approvals {approval[:8]}`" in listed.screen.replace("→\n    ", "")
    assert "true 50" not in listed.screen
    for reference in (approval, approval[:6]):
        assert "\n  > true 50\n" in place.run("approvals", reference).stdout
    assert place.json("approvals", approval[:6], "--json", "outside,command") == [
        {"outside": True, "command": ["bash", "-lc", place.json("approvals", "--json", "command")[0]["command"][2]]}
    ]
    approved = place.terminal("approve", conversation)
    assert approved.end() == 0
    assert "approved\n  $ bash -lc 'touch long\n" in approved.screen


def test_a_name_of_an_earlier_journal_is_shown_without_being_obeyed(place: Place) -> None:
    conversation = place.new("say old", "--name", "plain-name")
    place.at_rest(conversation)
    file = place.work / "old.jsonl"
    place.run("export", conversation, str(file))
    place.run("rm", "-f", conversation)
    lines = file.read_text(encoding="utf-8").replace("plain-name", "ev\\u001b[2Jil\\u200b")
    file.write_text(lines, encoding="utf-8")
    assert "import it under a new id" in place.run("import", str(file), code=None).stderr
    renamed = json.loads(lines.splitlines()[-1])
    event = {"type": "conversation_renamed", "name": "fine"}
    renamed |= {"seq": renamed["seq"] + 1, "turn": None, "type": event["type"], "body": event}
    head, *events = lines.splitlines()
    first = json.loads(head)
    first["head"].update(name="fine", last_seq=renamed["seq"])
    file.write_text("\n".join([json.dumps(first), *events, json.dumps(renamed)]) + "\n", encoding="utf-8")
    place.run("import", str(file))
    for words in (("logs", "fine"), ("logs", "fine", "--json"), ("events", "--since", "1h", "--count", "1")):
        terminal = place.terminal(*words)
        assert terminal.end() == 0
        assert "\x1b[2J" not in terminal.written
        assert "\u200b" not in terminal.written


def test_a_narrower_window_leaves_no_rubbish(place: Place) -> None:
    terminal = place.terminal("run", "count 60", columns=80)
    terminal.expect("10 ")
    terminal.resize(60, 20)
    assert terminal.end() == 0
    shown = terminal.screen
    assert "Ctrl-C interrupts" not in shown
    assert shown.split("\n", 2)[2].split("\n-- done")[0].split() == [str(number) for number in range(1, 61)]


def test_the_terminal_is_put_back_however_it_ends(place: Place) -> None:
    import signal

    terminal = place.terminal("run", "count 500")
    terminal.expect("10 ")
    assert not terminal.local_echo()
    terminal.process.send_signal(signal.SIGTERM)
    until(lambda: terminal.process.poll() is not None)
    assert terminal.local_echo()
    terminal.expect("the conversation goes on")
    assert terminal.end() == 143
    place.run("interrupt", "@last")


def test_words_of_a_model_can_not_command_the_terminal(place: Place) -> None:
    terminal = place.terminal("run", "say \x1b[2Jnothing \x07is \x9b31mcleared")
    assert terminal.end() == 0
    assert "\x1b[2J" not in terminal.written
    assert "\x07" not in terminal.written
    assert r"\x1b[2Jnothing \x07is \u009b31mcleared" in terminal.screen


def test_a_pipe_gets_the_answer_alone_and_the_rest_is_talk(place: Place) -> None:
    done = place.run("run", "run echo side; then say The answer.", "--sandbox", "danger-full-access")
    assert done.stdout == "The answer.\n"
    assert "$ echo side\n  side\n" in done.stderr
    assert "-- done" in done.stderr


def test_a_stream_of_json_has_its_four_members_in_every_line(place: Place) -> None:
    lines = [json.loads(line) for line in place.run("run", "say one two", "--json").stdout.splitlines()]
    assert all({"seq", "ts", "conversation", "type"} <= set(line) for line in lines)
    assert [line["seq"] for line in lines if line["seq"]] == list(range(1, 8))
    assert [line["delta"] for line in lines if line["type"] == "agent_message_delta"]


def test_attach_in_a_pipe_shows_what_is_there_and_leaves_at_ctrl_c(place: Place) -> None:
    import signal

    conversation = place.new("say piped")
    place.at_rest(conversation)
    client = place.begin("attach", conversation, "--from", "all")
    assert client.stdout is not None
    assert client.stdout.readline() == "piped\n"
    client.send_signal(signal.SIGINT)
    _, told = client.communicate(timeout=20)
    assert client.returncode == 130
    assert "Ctrl-C leaves" in told
    assert "`greenroom attach " in told


def test_nothing_is_redrawn_while_nothing_happens(place: Place) -> None:
    conversation = place.new("say quiet")
    place.at_rest(conversation)
    terminal = place.terminal("attach", conversation)
    terminal.expect("-- done")  # its history is shown
    terminal.expect(HINT)
    length = len(terminal.written)
    time.sleep(0.4)  # four ticks of a spinner, if there were one
    terminal.send("x")
    terminal.expect("> x_")
    assert len(terminal.written) - length < 60
    terminal.send("\x15\x04")
    assert terminal.end() == 0
