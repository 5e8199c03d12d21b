"""Permissions: how they are asked for, what an answer does, and what a cancel makes of them."""

from tests.judges.acp_promises.client import Client
from tests.judges.acp_promises.trial import Trial
from tests.judges.promise import BesideThePoint, promise
from tests.support.line_client import Json

QUIET_S = 2.0  # what was not prevented has run by then
STOPPED_S = 15.0


class Asking:
    """A turn that has asked whether it may make a file."""

    def __init__(self, trial: Trial, client: Client, name: str = "made") -> None:
        self.trial, self.client = trial, client
        client.permits = None
        self.session = trial.careful(client)
        self.path = trial.work / name
        mark = client.mark()
        self.call = client.prompt(self.session, f"{trial.asks(f'touch {name}')}\n@@say went on")
        self.question = asked(client, self.session, self.call, mark)
        assert not self.path.exists(), "it ran before it was allowed"

    def runs_nothing(self) -> None:
        self.trial.stays(lambda: not self.path.exists(), "it was run", QUIET_S)


def asked(client: Client, session: str, call: int | str, after: int = 0) -> Json:
    """The question of a prompt. An agent that never asks anything is not judged by its answers."""

    def is_it(line: Json) -> bool:
        is_question = line.get("method") == "session/request_permission" and line["params"]["sessionId"] == session
        return is_question or ("method" not in line and line.get("id") == call)

    line = client.wait(is_it, "a permission request", after=after)
    if "method" not in line:
        raise BesideThePoint("it asks for no permission here")
    return line


@promise("A permission is asked for before the command runs; allowed once, it runs")
def allowed(trial: Trial) -> None:
    asking = Asking(trial, trial.agent())
    options = {str(one["kind"]) for one in asking.question["params"]["options"]}
    assert options & {"allow_once", "allow_always"}, f"the options are {options}"
    asking.client.permits = "allow"  # should it ask for more
    asking.client.decide(asking.question, "allow")
    asking.client.ended(asking.call)
    assert asking.path.exists(), "it was not run"


@promise("Refused, the command does not run, the prompt is answered, and the session goes on")
def refused(trial: Trial) -> None:
    asking = Asking(trial, trial.agent())
    asking.client.permits = "reject"
    asking.client.decide(asking.question, "reject")
    answer = asking.client.answer(asking.call)
    assert "result" in answer, f"the prompt ended with {answer['error']}"
    assert not asking.path.exists(), "it was run"
    assert "still here" in asking.client.turn(asking.session, "@@say still here"), "another text"


@promise("An error as the answer allows nothing, and the turn can be stopped")
def error_as_answer(trial: Trial) -> None:
    asking = Asking(trial, trial.agent())
    asking.client.say({"id": asking.question["id"], "error": {"code": -32603, "message": "the dialog failed"}})
    asking.runs_nothing()
    asking.client.cancel(asking.session)
    asking.client.answer(asking.call, limit_s=STOPPED_S)
    assert not asking.path.exists(), "it was run"
    assert "still here" in asking.client.turn(asking.session, "@@say still here"), "another text"


@promise("Cancel while a permission waits: the prompt is answered `cancelled`, and the command does not run")
def cancel_while_asking(trial: Trial) -> None:
    asking = Asking(trial, trial.agent())
    asking.client.cancel(asking.session)
    asking.client.decide(asking.question, "cancelled")
    asking.client.ended(asking.call, "cancelled", limit_s=STOPPED_S)
    asking.runs_nothing()


@promise("A permission whose turn was cancelled is over: the turn ends without it, and a late answer runs nothing")
def late_answer(trial: Trial) -> None:
    asking = Asking(trial, trial.agent())
    asking.client.cancel(asking.session)
    asking.client.ended(asking.call, "cancelled", limit_s=STOPPED_S)
    asking.client.decide(asking.question, "allow")
    asking.runs_nothing()
    assert "still here" in asking.client.turn(asking.session, "@@say still here"), "another text"


@promise(
    "A permission request whose turn was cancelled is withdrawn with `$/cancel_request`, so that its dialog closes"
)
def withdrawn(trial: Trial) -> None:
    asking = Asking(trial, trial.agent())
    asking.client.cancel(asking.session)
    client = asking.client
    trial.until(lambda: client.withdrawn(asking.question), "it was not withdrawn", STOPPED_S)


@promise("Two permissions at once, in two sessions: an answer decides the one that it names")
def two_at_once(trial: Trial) -> None:
    client = trial.agent()
    first = Asking(trial, client, "first")
    second = Asking(trial, client, "second")
    assert first.question["id"] != second.question["id"], "both have the same id"
    client.decide(second.question, "allow")
    client.ended(second.call)
    assert second.path.exists(), "the one that was allowed was not run"
    assert not first.path.exists(), "the other was run, too"
    client.decide(first.question, "reject")
    client.answer(first.call)
    assert not first.path.exists(), "the one that was refused was run"
