"""The server's own life: how it ends, what a sudden end leaves, and what the next one knows."""

import os
import signal
import subprocess
from pathlib import Path

from tests.judges.promise import BesideThePoint, promise
from tests.judges.promises.client import Client, is_error, said
from tests.judges.promises.history import texts, unpaired
from tests.judges.promises.trial import Trial, asleep, runs, shell

LEAVES_S = 3.0  # two seconds, and one for a machine that is busy
ENDED_S = 5.0  # until what a server left is ended


@promise("Closing its input ends the server within two seconds")
def closing_ends_it(trial: Trial) -> None:
    client = trial.server()
    client.opened(trial.settings())
    _leaves(client)


@promise("Closing its input ends the server within two seconds, also while a turn runs and a question is open")
def closing_ends_it_in_a_turn(trial: Trial) -> None:
    client = trial.server()
    running = client.codex(trial.settings(), asleep())
    client.codex(trial.settings("untrusted"), runs("touch", "made"))
    client.event_of(running, "exec_command_begin")
    client.asked()
    _leaves(client)


def _leaves(client: Client) -> None:
    client.line.hang_up()
    try:
        client.process.wait(LEAVES_S)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"it still runs after {LEAVES_S:g} s") from None


@promise("kill -9 of the server, all of it, leaves no command running after a few seconds")
def kill_leaves_no_command(trial: Trial) -> None:
    client = trial.server()
    client.opened(trial.settings())
    server = list(trial.processes())  # what runs before there has been any command
    client.codex(trial.settings(), shell("sleep 4711 & sleep 4712"))
    trial.wait_for("sleep 4712")
    for pid in server:
        os.kill(pid, signal.SIGKILL)
    trial.wait_without("sleep 471", ENDED_S)


@promise("A server that was killed in a turn and started anew knows the session, and goes on with its history")
def the_next_life(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings(), "say before")
    running = client.reply(session, asleep())
    client.event_of(running, "exec_command_begin")
    trial.kill_all()
    after = trial.server()
    assert after.replied(session, "say after") == "after", "another text"
    body = trial.model.requests[-1].body
    assert texts(body, "user") == ["say before", asleep(), "say after"], f"of the user: {texts(body, 'user')}"
    assert not unpaired(body), unpaired(body)


@promise("When only what is behind the client's own server dies, open calls are errors and the next one works")
def the_rest_of_it_dies(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings())
    behind = [pid for pid in trial.processes() if not _descends(pid, client.process.pid)]
    if not behind:
        raise BesideThePoint("it is all in one place")
    running = client.reply(session, asleep())
    client.event_of(running, "exec_command_begin")
    for pid in behind:
        os.kill(pid, signal.SIGKILL)
    assert is_error(client.answer(running)), "the open call went well"
    assert said(client.answer(client.reply(session, "say back"))) == "back", "another text"
    trial.wait_without("sleep 4711", ENDED_S)


def _descends(pid: int, ancestor: int) -> bool:
    while pid > 1 and pid != ancestor:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])
        except OSError:
            return True  # gone meanwhile
    return pid == ancestor
