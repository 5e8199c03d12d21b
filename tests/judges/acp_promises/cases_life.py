"""The agent's own life: the end of its input, kill -9 of what is behind it and of itself, and what is known then."""

import subprocess

from tests.judges.acp_promises import processes
from tests.judges.acp_promises.cases_permissions import Asking
from tests.judges.acp_promises.client import ASK, START_S, WAIT_S, Client, kind, text_of
from tests.judges.acp_promises.trial import Trial
from tests.judges.promise import BesideThePoint, promise
from tests.support.line_client import Json

ENDS_S = 5.0
AGAIN_S = 10.0  # until a question is put again


@promise("The end of input ends the agent, and everything that it began, within five seconds")
def end_of_input(trial: Trial) -> None:
    client = trial.agent()
    client.turn(client.new(trial.work), "@@say begun")
    _leaves(trial, client)


@promise("The end of input in a turn: within five seconds the agent is gone, its command too, or within reach again")
def end_of_input_in_a_turn(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.prompt(session, "@@run echo begun; sleep 4711 & echo more; sleep 4712")
    trial.wait_for("sleep 4711", "sleep 4712")
    _leaves(trial, client)
    if trial.running("sleep 471"):
        again = trial.agent()
        trial.reopened(again, session)
        again.cancel(session)
        trial.assert_gone("sleep 471", within_s=ENDS_S)


def _leaves(trial: Trial, client: Client) -> None:
    """End its input. What its service runs may stay, if it has one."""
    client.line.hang_up()
    try:
        client.process.wait(ENDS_S)
    except subprocess.TimeoutExpired:
        raise AssertionError(f"it still runs after {ENDS_S:g} s") from None

    def left() -> list[str]:
        services = trial.services()
        return [line for pid, line in trial.running().items() if not processes.descends(pid, services)]

    trial.until(lambda: not left(), lambda: f"it left {left()}", ENDS_S)


@promise("kill -9 of what runs behind the agent, in a turn: the prompt is answered, and the next one works")
def behind_dies(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.turn(session, "@@say begun")
    behind = trial.behind(client)
    if not behind:
        raise BesideThePoint("it is all in one process")
    _in_a_turn(trial, client, session, behind)


@promise("kill -9 of the service that the agent speaks to, in a turn: the prompt is answered, and the next one works")
def service_dies(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.turn(session, "@@say begun")
    services = trial.services()
    if not services:
        raise BesideThePoint("it has no service")
    _in_a_turn(trial, client, session, services)


def _in_a_turn(trial: Trial, client: Client, session: str, victims: list[int]) -> None:
    mark = client.mark()
    call = client.prompt(session, "@@slow 2000 50 lost")
    client.until_told(session, "agent_message_chunk", after=mark)
    processes.kill(victims)
    client.answer(call)
    said = client.turn(session, "@@say back")
    assert "back" in said, f"it said {said[:80]!r}"
    assert "@@say begun" in trial.model.bodies[-1], "what was before is not in the request"


@promise("kill -9 of all of it in a turn: an agent that is started anew knows the session, and goes on")
def all_dies(trial: Trial) -> None:
    client = trial.offering("load", "resume")
    session = client.new(trial.work)
    client.turn(session, "@@say begun")
    call = client.prompt(session, "@@slow 2000 50 lost")
    client.until_told(session, "agent_message_chunk", after=client.mark())
    processes.kill_all(trial.home)
    assert not client.answers(call), "the prompt was answered"
    again = trial.agent()
    trial.reopened(again, session)
    assert "after" in again.turn(session, "@@say after"), "another text"
    assert "@@say begun" in trial.model.bodies[-1], "what was before is not in the request"


@promise("kill -9 of the agent while a permission waits: started anew, it asks again, or says that it is over")
def dies_asking(trial: Trial) -> None:
    client = trial.offering("load", "resume")
    asking = Asking(trial, client)
    processes.kill([client.process.pid, *processes.below(trial.running(), client.process.pid)])
    _asks_again_or_says_so(trial, asking)


@promise("kill -9 of all of it while a permission waits: started anew, it asks again, or says that it is over")
def all_dies_asking(trial: Trial) -> None:
    asking = Asking(trial, trial.offering("load", "resume"))
    processes.kill_all(trial.home)
    _asks_again_or_says_so(trial, asking)


def _asks_again_or_says_so(trial: Trial, asking: Asking) -> None:
    again = trial.agent()
    again.permits = None
    how = "load" if again.can("load") else "resume"
    params = {"sessionId": asking.session, "cwd": str(trial.work), "mcpServers": []}
    again.result(f"session/{how}", params, limit_s=START_S)

    def is_question(line: Json) -> bool:
        return line.get("method") == ASK

    try:
        question = again.wait(is_question, "a permission request", limit_s=AGAIN_S)
    except AssertionError:
        _says_that_it_is_over(again, asking)
    else:
        again.permits = "allow"  # should it ask for more
        again.decide(question, "allow")
        trial.until(lambda: asking.path.exists() or _has_failed(again, asking), "allowed, it was not run", WAIT_S)
        return
    assert not asking.path.exists(), "it was run"
    assert "still here" in again.turn(asking.session, "@@say still here"), "another text"


def _has_failed(again: Client, asking: Asking) -> bool:
    return any(one.get("status") == "failed" for one in again.updates(asking.session))


def _says_that_it_is_over(again: Client, asking: Asking) -> None:
    """A tool call that ended, or words behind the user's: anything that a person would see."""
    told = again.updates(asking.session)
    user = max((place for place, one in enumerate(told) if kind(one) == "user_message_chunk"), default=None)
    after = (
        [one for one in told[user:] if kind(one) == "agent_message_chunk" and text_of(one)]
        if user is not None
        else []
    )
    assert _has_failed(again, asking) or after, "it neither asked again nor said that it is over"
