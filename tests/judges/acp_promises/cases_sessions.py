"""Sessions: two side by side, those of before, and what an agent that is started anew knows of them."""

from tests.judges.acp_promises.client import START_S, TELLING, Client, kind, text_of
from tests.judges.acp_promises.trial import Trial
from tests.judges.promise import promise

SPOKEN = {"user_message_chunk": "user", "agent_message_chunk": "agent"}


@promise("Two sessions side by side do not mix: each update names its session, and has its words")
def side_by_side(trial: Trial) -> None:
    client = trial.agent()
    names = ("left", "right")
    sessions = {name: client.new(trial.work) for name in names}
    for name, session in sessions.items():
        client.turn(session, f"@@say {name} begun")
    calls = [client.prompt(session, f"@@slow 40 30 {name}") for name, session in sessions.items()]
    for call in calls:
        client.ended(call)
    for name, other in (names, names[::-1]):
        said = client.words(sessions[name])
        assert f"{name}39" in said, f"{name} has not said all"
        assert other not in said, f"words of {other} are in {name}"


def _talk(client: Client, trial: Trial) -> str:
    session = client.new(trial.work)
    for number in range(3):
        client.turn(session, f"@@say reply {number}")
    return session


def _reload(client: Client, trial: Trial, session: str, how: str) -> int:
    """Open it again; how many lines were there when it was answered."""
    call = client.begin(f"session/{how}", {"sessionId": session, "cwd": str(trial.work), "mcpServers": []})
    answer = client.answer(call, limit_s=START_S)
    assert "result" in answer, f"session/{how} was answered with {answer['error']}"
    return client.answers(call)[0]


@promise("`session/load` in a new process replays the words of both sides, in order, before its answer")
def load_replays(trial: Trial) -> None:
    before = trial.offering("load")
    session = _talk(before, trial)
    before.line.hang_up()
    client = trial.agent()
    answered = _reload(client, trial, session, "load")
    told = [
        (SPOKEN[kind(one)], f"reply {number}")
        for one in client.updates(session, before=answered)
        if kind(one) in SPOKEN
        for number in range(3)
        if f"reply {number}" in text_of(one)
    ]
    wanted = [(side, f"reply {number}") for number in range(3) for side in ("user", "agent")]
    assert told == wanted, f"it replayed {told}"


@promise("`session/resume` in a new process replays nothing")
def resume_replays_nothing(trial: Trial) -> None:
    before = trial.offering("resume")
    session = _talk(before, trial)
    before.line.hang_up()
    client = trial.agent()
    _reload(client, trial, session, "resume")
    assert "next" in client.turn(session, "@@say next"), "another text"
    told = [kind(one) for one in client.updates(session) if "reply" in text_of(one) and kind(one) in TELLING]
    assert not told, f"it replayed {told}"


@promise("A session that is loaded or resumed by a new process goes on: the model is given the words of before")
def memory(trial: Trial) -> None:
    before = trial.offering("load", "resume")
    session = _talk(before, trial)
    before.line.hang_up()
    client = trial.agent()
    trial.reopened(client, session)
    assert "after" in client.turn(session, "@@say after"), "another text"
    missing = [number for number in range(3) if f"reply {number}" not in trial.model.bodies[-1]]
    assert not missing, f"replies {missing} are not in the request"


@promise("`session/list` has what was made, by directory, also in a new process")
def listed(trial: Trial) -> None:
    before = trial.offering("list")
    elsewhere = trial.home / "elsewhere"
    elsewhere.mkdir()
    session = _talk(before, trial)
    before.line.hang_up()
    client = trial.agent()
    here = client.result("session/list", {"cwd": str(trial.work)})["sessions"]
    assert session in [one["sessionId"] for one in here], f"it lists {len(here)} sessions, without this one"
    assert all(one["cwd"] == str(trial.work) for one in here), f"it lists {here}"
    there = client.result("session/list", {"cwd": str(elsewhere)})["sessions"]
    assert session not in [one["sessionId"] for one in there], "it is listed in another directory"


@promise("To load or resume a session that nobody knows is an error, and the agent goes on")
def unknown(trial: Trial) -> None:
    client = trial.offering("load", "resume")
    how = "load" if client.can("load") else "resume"
    params = {"sessionId": "00000000-0000-4000-8000-000000000000", "cwd": str(trial.work), "mcpServers": []}
    assert "error" in client.ask(f"session/{how}", params, limit_s=START_S), "it went well"
    assert "yes" in client.turn(client.new(trial.work), "@@say yes"), "another text"
