"""Stop, as an editor says it: `notifications/cancelled` with the id of a call."""

from tests.judges.promise import promise
from tests.judges.promises.client import said
from tests.judges.promises.history import texts, unpaired
from tests.judges.promises.trial import Trial, asleep, runs, shell

CROSSINGS = 12  # of a stop and the end of its turn
QUIET_S = 1.0  # what was not prevented has begun by then


@promise("Stop ends the command and what it started, deaf to TERM or not, before the end of the turn is told")
def stop_ends_what_runs(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(), shell("sleep 4711 & trap '' TERM; (sleep 4712; true) & wait"))
    trial.wait_for("sleep 4711")
    trial.wait_for("sleep 4712")
    client.stopped(call)
    left = trial.processes("sleep 4711", "sleep 4712")
    assert not left, f"it runs on: {', '.join(left.values())}"


@promise("Stop of a command that floods is told once: its end, then turn_aborted, and nothing of the turn after it")
def stop_is_told_once(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(), runs("yes"))
    client.event_of(call, "exec_command_output_delta")
    client.cancel(call)
    client.cancel(call)
    client.event_of(call, "turn_aborted")
    client.replied(client.session(call), "say on")
    kinds = client.kinds_of(call)
    assert client.terminals_of(call) == ["turn_aborted"], f"ends: {client.terminals_of(call)}"
    assert kinds[-1] == "turn_aborted", f"after the end came {kinds[-1]}"
    assert kinds.count("exec_command_end") == 1, "the command's end is missing"


@promise("Stop closes the model's stream")
def stop_closes_the_stream(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(), "slow 20; stream 10000 word")
    trial.model.wait_requests(1)
    client.event_of(call, "task_started")
    client.stopped(call)
    trial.model.wait_closed_early()


@promise("Stop works while the model is silent, and closes its stream")
def stop_in_silence(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(), "stall forever")
    trial.model.wait_requests(1)
    client.stopped(call)
    trial.model.wait_closed_early()


@promise("Stop works in the pause before another attempt")
def stop_in_a_pause(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(retries=4), "status 500 retry-after=60 times=all")
    trial.model.wait_for(lambda: bool(trial.model.requests) and trial.model.requests[0].answered, "no request")
    client.stopped(call)


@promise("After Stop the next reply is answered with its own text")
def the_next_reply(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(), asleep())
    client.event_of(call, "exec_command_begin")
    client.stopped(call)
    session = client.session(call)
    for number in range(3):
        assert client.replied(session, f"say own {number}") == f"own {number}", "another text"
        stopped = client.reply(session, f"say lost {number}; {asleep()}")
        client.event_of(stopped, "exec_command_begin")
        client.stopped(stopped)
    assert client.replied(session, "say at last") == "at last", "another text"


@promise("After Stop the model's next request has each user message once, and one output for each call")
def the_next_request(trial: Trial) -> None:
    client = trial.server()
    first, second = f"{runs('true')}; then; {asleep()}; then; say never", "say after"
    call = client.codex(trial.settings(), first)
    trial.wait_for("sleep 4711")
    client.stopped(call)
    client.replied(client.session(call), second)
    body = trial.model.requests[-1].body
    assert texts(body, "user") == [first, second], f"of the user: {texts(body, 'user')}"
    assert not unpaired(body), unpaired(body)


@promise("A stop right behind its call is not lost, and the session stays usable")
def stop_right_behind(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings())
    client.reply(session, asleep(4711), cancelled=True)
    client.codex(trial.settings(), asleep(4712), cancelled=True)
    assert client.replied(session, "say own") == "own", "another text"
    assert client.opened(trial.settings()), "no new session"
    trial.stays_without("sleep 4711", "sleep 4712", for_s=QUIET_S)


@promise("A stop of a call that is over, or unknown, does nothing to the one that runs")
def stop_of_what_is_over(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings())
    over = client.reply(session, "status 400 no")
    client.answer(over)
    runs_on = client.reply(session, f"{runs('sleep', '0.5')}; then; say finished")
    client.event_of(runs_on, "exec_command_begin")
    for request in (over, 98765, str(runs_on)):
        client.cancel(request)
    assert said(client.answer(runs_on)) == "finished", "another text"


@promise("A stop ends its own session's turn and no other")
def stop_of_one_of_two(trial: Trial) -> None:
    client = trial.server()
    kept = client.codex(trial.settings(), "hold gate; say kept")
    stopped = client.codex(trial.settings(), asleep())
    trial.model.wait_held("gate")
    client.event_of(stopped, "exec_command_begin")
    client.stopped(stopped)
    trial.model.open("gate")
    assert said(client.answer(kept)) == "kept", "another text"


@promise("A stop that crosses the end of its turn leaves one end of it, and a session that works")
def stop_crosses_the_end(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings())
    calls = []
    for number in range(CROSSINGS):
        calls.append(call := client.reply(session, f"say crossing {number}"))
        client.event_of(call, "agent_message" if number % 2 else "task_started")
        client.cancel(call)
        assert client.replied(session, f"say after {number}") == f"after {number}", "another text"
    for call in calls:
        ends = client.terminals_of(call)
        assert len(ends) == 1, f"ends: {ends}"
