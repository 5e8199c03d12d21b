"""Several sessions, and several calls on one."""

import time

from tests.judges.promise import promise
from tests.judges.promises.client import said
from tests.judges.promises.history import texts
from tests.judges.promises.trial import Trial, asleep, runs

SOON_S = 3.0  # for a turn of one word, on a machine that is busy


@promise("Two calls on one session at once are both answered, and both prompts reach the model once")
def two_calls_on_one_session(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings())
    first = client.reply(session, "say held; hold gate; finish")
    trial.model.wait_held("gate")
    second = client.reply(session, "say second")
    client.ping()
    trial.model.open("gate")
    said(client.answer(first))
    assert said(client.answer(second)) == "second", "the second got another text"
    users = texts(trial.model.requests[-1].body, "user")
    assert users == ["say begun", "say held; hold gate; finish", "say second"], f"of the users: {users}"


@promise("Sessions don't delay each other: one runs a command, one waits for its model, one asks, one is answered")
def sessions_are_independent(trial: Trial) -> None:
    client = trial.server()
    runs_on, waits = client.codex(trial.settings(), asleep()), client.codex(trial.settings(), "stall forever")
    client.codex(trial.settings("untrusted"), runs("touch", "made"))
    client.event_of(runs_on, "exec_command_begin")
    client.event_of(waits, "task_started")
    client.asked()
    began = time.monotonic()
    session = client.opened(trial.settings())
    assert client.replied(session, "say quick") == "quick", "another text"
    took = time.monotonic() - began
    assert took < SOON_S, f"it took {took:.1f} s"


@promise("Many sessions at once get each its own answer, and events under its own id")
def many_sessions(trial: Trial) -> None:
    client = trial.server()
    calls = {client.codex(trial.settings(), f"hold gate; say number {number}"): number for number in range(8)}
    trial.model.wait_requests(8)
    trial.model.open("gate")
    for call, number in calls.items():
        assert said(client.answer(call)) == f"number {number}", "another's text"
        spoken = [one["message"] for one in client.events_of(call) if one["type"] == "agent_message"]
        assert spoken == [f"number {number}"], f"its events say {spoken}"
    assert len({client.session(call) for call in calls}) == 8, "sessions share an id"
