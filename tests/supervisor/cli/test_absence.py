"""A daemon that is killed and comes back, or does not answer, while somebody looks on."""

import json
import os
import pty
import shutil
import signal
import sys
import termios
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.supervisor.cli.place import Place, Terminal, until

pytestmark = pytest.mark.long(takes_s=30)

AWAY = "the daemon went away; waiting for it: `greenroom up` starts it"
BACK = "the daemon is back"
HINT = "> type a message"
YES_NO = "abort (ends the turn) + Enter"
# The same command line with other limits.
QUICK = """
import sys
from supervisor.cli import app
from supervisor.cli.kit import reconnecting
reconnecting.RETURN_S, reconnecting.SILENT_S, reconnecting.SLOW_S = 0.5, 0.2, 0.5
sys.exit(app.main())
"""
# One that kills the daemon when the conversation is made and its message is not yet sent.
KILLING = """
import os, signal, sys
from supervisor.cli import app
from supervisor.cli.show.watch import Watch
attach = Watch.attach
def kill_first(watch, after):
    os.kill(int(os.environ["DAEMON"]), signal.SIGKILL)
    return attach(watch, after)
Watch.attach = kill_first
sys.exit(app.main())
"""
KILLING_PROGRAM = (sys.executable, "-P", "-c", KILLING)
QUICK_PROGRAM = (sys.executable, "-P", "-c", QUICK)


@pytest.fixture
def up(quiet: Place) -> Place:
    quiet.run("up")
    return quiet


def kill(place: Place) -> None:
    os.kill(place.pid(), signal.SIGKILL)


def said(place: Place, conversation: str) -> list[str]:
    """The messages of people in a conversation."""
    lines = map(json.loads, place.said("logs", conversation, "--json", "--since", "0").splitlines())
    return [line["message"] for line in lines if line["type"] == "user_message" and line["kind"] == "plain"]


def test_attach_goes_on_where_it_was_and_keeps_what_was_typed_meanwhile(up: Place) -> None:
    conversation = up.new("count 500", "--name", "watched")
    terminal = up.terminal("attach", "watched", columns=120, rows=50)
    terminal.expect("20 ")
    kill(up)
    terminal.expect(f"({AWAY})")
    terminal.send("say welcome back\r")
    terminal.expect("Enter sends this when it is back, Ctrl-C leaves")
    up.run("up")
    terminal.expect(f"({BACK})")
    terminal.expect("-- lost: the daemon was stopped while the turn ran")
    terminal.expect("> say welcome back_")
    terminal.send("\r")
    terminal.expect("-- done")
    terminal.send("\x04")
    assert terminal.end() == 0
    words = terminal.screen.split()
    assert Counter(words)["20"] == 1  # no word of the turn is said again
    assert said(up, conversation) == ["count 500", "say welcome back"]


def test_a_message_that_was_on_its_way_is_sent_once(up: Place) -> None:
    """The daemon is stopped when it is sent, so nobody knows whether it has arrived; then it is killed."""
    conversation = up.new("say hello", "--name", "watched")
    up.at_rest(conversation)
    terminal = up.terminal("attach", "watched")
    terminal.expect(HINT)
    pid = up.pid()
    os.kill(pid, signal.SIGSTOP)
    terminal.send("say on its way")
    terminal.expect("> say on its way_")
    terminal.send("\r")
    terminal.expect(HINT)  # it is sent
    os.kill(pid, signal.SIGKILL)
    terminal.expect(AWAY)
    up.run("up")
    terminal.expect("-- done")
    terminal.send("\x04")
    assert terminal.end() == 0
    assert said(up, conversation) == ["say hello", "say on its way"]


def test_one_attach_outlives_many_daemons_and_says_everything_once(up: Place) -> None:
    conversation = up.new("say hello", "--name", "watched")
    up.at_rest(conversation)
    terminal = up.terminal("attach", "watched", rows=50)
    terminal.expect(HINT)
    for number in range(3):
        kill(up)
        terminal.expect(f"({AWAY})")
        up.run("up")
        terminal.expect(f"({BACK})")
        terminal.send(f"say round {number}\r")
        terminal.expect("-- done")
    terminal.send("\x04")
    assert terminal.end() == 0
    assert said(up, conversation) == ["say hello", *(f"say round {number}" for number in range(3))]
    lines = Counter(terminal.screen.splitlines())
    assert [lines[f"round {number}"] for number in range(3)] == [1, 1, 1]
    assert lines["hello"] == 1


def test_a_question_is_asked_once_and_answered_after_the_daemon_is_back(up: Place) -> None:
    conversation = up.asking("--name", "watched")
    terminal = up.terminal("attach", "watched")
    terminal.expect(YES_NO)
    kill(up)
    terminal.expect(f"({AWAY})")
    terminal.send("yes\r")
    terminal.expect("Enter sends this when it is back")
    up.run("up")
    terminal.expect(f"({BACK})")
    terminal.send("\x7f" * len("yes"))
    terminal.expect(YES_NO)  # what was typed before it was asked again may not count
    terminal.send("yes\r")
    terminal.expect("-- done")
    terminal.send("\x04")
    assert terminal.end() == 0
    assert terminal.screen.count("may it run this command?") == 1
    assert (up.work / "asked").exists()
    assert said(up, conversation) == ["ask touch asked; then say thanks"]


@pytest.mark.parametrize("words", [("run", "--name", "one", "count 500"), ("send", "one", "count 500", "--wait")])
def test_a_turn_that_is_waited_for_ends_as_lost_and_is_sent_once(up: Place, words: tuple[str, ...]) -> None:
    before = []
    if words[0] == "send":
        up.at_rest(up.new("say hello", "--name", "one"))
        before = ["say hello"]
    watching = up.begin(*words)
    assert watching.stdout is not None
    assert watching.stdout.read(6) == "1 2 3 "
    kill(up)
    assert watching.stderr is not None
    assert any(AWAY in line for line in watching.stderr)
    up.run("up")
    out, err = watching.communicate(timeout=20)
    assert watching.returncode == 10
    assert BACK in err
    assert "-- lost: the daemon was stopped while the turn ran" in err
    assert out.split() == [str(number) for number in range(4, 4 + len(out.split()))]
    assert said(up, "one") == [*before, "count 500"]


def test_a_first_message_is_sent_though_the_daemon_went_before_it_was(up: Place) -> None:
    up.env["DAEMON"] = str(up.pid())
    running = up.begin("run", "--name", "one", "say hello", program=KILLING_PROGRAM)
    assert running.stderr is not None
    assert any(AWAY in line for line in running.stderr)
    up.run("up")
    out, _ = running.communicate(timeout=20)
    assert (running.returncode, out) == (0, "hello\n")
    assert said(up, "one") == ["say hello"]


def test_every_event_is_followed_once(up: Place) -> None:
    conversation = up.new("count 500", "--name", "watched")
    followers = [
        up.begin("logs", "watched", "-f", "--json", "--since", "0"),
        up.begin("events", "watched", "--since", "1h", "--filter", "type=turn_aborted,task_started,task_complete"),
    ]
    waiting = [up.begin("wait", "watched"), up.begin("wait", "watched", "--for", "idle")]
    until(lambda: up.said("clients").count("greenroom wait") == 2)
    for one in followers:
        assert one.stdout is not None
        assert one.stdout.readline()
    kill(up)
    for client in (*followers, *waiting):
        assert client.stderr is not None
        assert AWAY in client.stderr.readline()
    up.run("up")
    assert [(one.wait(20), one.communicate()[0]) for one in waiting] == [
        (10, "watched: lost\n"),
        (0, "watched: idle\n"),
    ]
    up.run("send", "watched", "say the end", "--wait")
    last = len(up.said("logs", conversation, "--json", "--since", "0").splitlines())
    logs, events = followers
    assert logs.stdout is not None
    seqs = [1]
    while seqs[-1] < last:
        seq = json.loads(logs.stdout.readline())["seq"]
        seqs += [] if seq is None else [seq]
    assert seqs == list(range(1, last + 1))
    assert events.stdout is not None
    kinds = [json.loads(events.stdout.readline())["type"] for _ in range(3)]
    assert kinds == ["turn_aborted", "task_started", "task_complete"]
    for client in followers:
        client.send_signal(signal.SIGINT)
        client.communicate(timeout=20)
        assert client.returncode == 130


def test_lists_and_top_go_on(up: Place) -> None:
    up.at_rest(up.new("say hello", "--name", "first"))
    lists = [up.terminal(*words, columns=120) for words in (("ls", "-w"), ("status", "-w"), ("top",))]
    for one in lists:
        one.expect("first")
    idle = up.terminal("approvals", "--watch")
    idle.expect("no open approvals")
    kill(up)
    for terminal in (*lists, idle):
        terminal.expect("the daemon went away")
    up.run("up")
    for terminal in (lists[0], lists[1], idle):
        terminal.expect(BACK)
    up.at_rest(up.new("say hello", "--name", "second"))
    for one in lists:
        one.expect("second")
        assert "went away" not in one.screen
    for terminal in (*lists, idle):
        terminal.send("\x03")
        assert terminal.end() == (0 if terminal is lists[2] else 130)


def test_ctrl_c_leaves_a_daemon_that_is_away_at_once_and_ctrl_d_says_that_it_is(up: Place) -> None:
    up.new("count 500", "--name", "watched")
    verbs = [
        up.terminal(*words) for words in (("attach", "watched"), ("run", "count 500"), ("logs", "watched", "-f"))
    ]
    for terminal in verbs:
        terminal.expect("10 ")
    other = up.terminal("attach", "watched")
    other.expect("10 ")
    kill(up)
    for terminal in (*verbs, other):
        terminal.expect(AWAY)
    for terminal in verbs:
        terminal.send("\x03")
        assert terminal.end() == 130
    other.send("\x04")
    assert other.end() == 7
    assert (
        "the daemon went away; the conversation is kept; `greenroom up`, then `greenroom attach "
        in other.screen.replace("\n", " ").replace("  ", " ")
    )


@pytest.mark.parametrize("leave", ["\x03", "\x04"])
def test_a_shell_is_handed_nothing_of_what_was_typed_meanwhile(up: Place, leave: str) -> None:
    up.at_rest(up.new("say hello", "--name", "watched"))
    script = f'"{sys.executable}" -m supervisor.cli.app attach watched; echo "the shell goes on"; exec cat'
    shell = up.terminal("-c", script, program=("sh",), columns=120)
    shell.expect(HINT)
    kill(up)
    shell.expect(AWAY)
    shell.send("touch handed-over\r")
    shell.expect("Enter sends this when it is back")
    shell.send(f" and more{leave}")
    shell.expect("(typed and not sent: touch handed-over and more)")
    shell.expect("the shell goes on")
    until(shell.local_echo)
    shell.send("the end\r")
    shell.expect("the end\r\nthe end\r\n")  # the echo, and what cat was given: nothing else
    shell.send("\x04")
    assert shell.end() == 0
    assert shell.written.count("handed-over") == shell.written.split("the shell goes on")[0].count("handed-over")


def test_in_a_pipe_the_wait_has_an_end(up: Place) -> None:
    up.at_rest(up.new("say hello", "--name", "watched"))
    watching = {
        words: up.begin(*words, program=QUICK_PROGRAM)
        for words in (("attach", "watched"), ("logs", "watched", "-f"), ("ls", "-w"), ("events",))
    }
    until(lambda: sum(bool(row["attached"]) for row in up.json("clients", "--json")) == 2)
    until(lambda: {"greenroom ls", "greenroom events"} <= {row["name"] for row in up.json("clients", "--json")})
    kill(up)
    for words, client in watching.items():
        _, err = client.communicate(timeout=20)
        assert client.returncode == 7, words
        assert AWAY in err
        assert "`greenroom up`" in err.splitlines()[-1]


def test_a_client_that_was_sent_away_stays_away(up: Place) -> None:
    up.at_rest(up.new("say hello", "--name", "watched"))
    terminal = up.terminal("attach", "watched")
    terminal.expect(HINT)
    (one,) = [row for row in up.json("clients", "--json") if row["attached"]]
    up.run("clients", "--kill", one["id"][:6])
    terminal.expect("the daemon ended this connection")
    assert terminal.end() == 7


def test_the_wait_ends_when_the_home_is_gone(up: Place) -> None:
    up.at_rest(up.new("say hello", "--name", "watched"))
    terminal = up.terminal("attach", "watched")
    terminal.expect(HINT)
    kill(up)
    terminal.expect(AWAY)
    shutil.rmtree(up.home / "state")
    terminal.expect("its home is gone")
    until(lambda: ended(terminal))
    assert terminal.settings()[:4] == fresh_settings()
    assert terminal.end() == 7


# --- a daemon that does not answer ---------------------------------------------------------------------------------


@pytest.fixture
def stopped(up: Place) -> Iterator[list[int]]:  # noqa: ARG001  # it ends later
    pids: list[int] = []
    yield pids
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("words", [("attach", "watched"), ("logs", "watched", "-f"), ("top",), ("ls", "-w")])
def test_a_daemon_that_does_not_answer_is_said_until_it_does(
    up: Place, stopped: list[int], words: tuple[str, ...]
) -> None:
    up.at_rest(up.new("say hello", "--name", "watched"))
    terminal = up.terminal(*words, program=QUICK_PROGRAM, columns=120)
    terminal.expect("hello" if words[0] == "logs" else "watched")
    stopped.append(up.pid())
    os.kill(stopped[0], signal.SIGSTOP)
    terminal.expect("the daemon has not answered for 5 s; `greenroom up --force` replaces it")
    os.kill(stopped[0], signal.SIGCONT)
    until(lambda: is_gone(terminal, "has not answered"))
    terminal.send("\x03")
    assert terminal.end() == (0 if words[0] in {"attach", "top"} else 130)


def is_gone(terminal: Terminal, text: str) -> bool:
    terminal.read()
    return text not in terminal.screen


@pytest.mark.parametrize("key", ["q", "\x03", "\x04"])
def test_keys_are_heard_by_top_while_the_daemon_does_not_answer(up: Place, stopped: list[int], key: str) -> None:
    terminal = up.terminal("top", program=QUICK_PROGRAM)
    terminal.expect("q quit")
    stopped.append(up.pid())
    os.kill(stopped[0], signal.SIGSTOP)
    terminal.expect("has not answered")
    terminal.send(key)
    assert terminal.end() == 0


# --- the terminal --------------------------------------------------------------------------------------------------

WATCHING = {
    ("attach", "watched"): "10 ",
    ("run", "count 500"): "10 ",
    ("attach", "watched", "--ro"): "10 ",
    ("top",): "q quit",
    ("ls", "-w"): "watched",
}
MODES = {"\x1b[?2004h": "\x1b[?2004l", "\x1b[?1004h": "\x1b[?1004l", "\x1b[?1049h": "\x1b[?1049l"}
MODES |= {"\x1b[?25l": "\x1b[?25h", "\x1b[22;0t": "\x1b[23;0t"}


def hang_up(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGHUP)


def terminate(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGTERM)


def interrupt(terminal: Terminal) -> None:
    terminal.process.send_signal(signal.SIGINT)


def press_ctrl_d(terminal: Terminal) -> None:
    terminal.send("\x04")
    if "\x1b[?2004h" not in terminal.written:  # it reads no keys
        terminal.send("\x03")


def lose_the_daemon(terminal: Terminal) -> None:
    terminal.expect("the daemon went away")
    terminal.send("\x03")


@pytest.mark.parametrize("leave", [hang_up, terminate, interrupt, press_ctrl_d, lose_the_daemon])
def test_the_terminal_is_as_it_was_whatever_ends_the_program(up: Place, leave: Callable[[Terminal], None]) -> None:
    up.new("count 500", "--name", "watched")
    terminals = {words: up.terminal(*words, columns=120) for words in WATCHING}
    for words, sign in WATCHING.items():
        terminals[words].expect(sign)
    if leave is lose_the_daemon:
        kill(up)
    for words, terminal in terminals.items():
        leave(terminal)
        until(lambda one=terminal: ended(one))  # type: ignore[misc]
        assert terminal.local_echo(), words
        assert terminal.settings()[:4] == fresh_settings(), words
        terminal.end()
        assert "Traceback" not in terminal.written
        for on, off in MODES.items():
            assert terminal.written.count(on) == terminal.written.count(off), (words, on)


def ended(terminal: Terminal) -> bool:
    terminal.read()
    return terminal.process.poll() is not None


def fresh_settings() -> list[int]:
    ours, theirs = pty.openpty()
    found = termios.tcgetattr(ours)[:4]
    os.close(ours)
    os.close(theirs)
    return found
