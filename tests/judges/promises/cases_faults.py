"""Models that fail: what is an error, what is tried again, and what is never done twice."""

from tests.judges.promise import promise
from tests.judges.promises.client import is_error, said
from tests.judges.promises.history import texts, unpaired
from tests.judges.promises.trial import Trial, shell

SOON_S = 5.0  # for a turn that waits for nothing


@promise("A turn that fails for good is answered as an error that MCP clients know as one")
def failure_is_an_error(trial: Trial) -> None:
    client = trial.server()
    answer = client.answer(client.codex(trial.settings(), "status 400 times=all Not like this."))
    assert is_error(answer), f"answered with {answer['result']}"
    assert "Not like this." in str(answer), "what the model said is not in it"


@promise("After a turn that failed, the next reply is answered with its own text")
def after_a_failure(trial: Trial) -> None:
    client = trial.server()
    failed = client.codex(trial.settings(), "status 400 times=all no")
    client.answer(failed)
    session = client.session(failed)
    for number in range(3):
        assert client.replied(session, f"say own {number}") == f"own {number}", "another text"
        client.answer(client.reply(session, f"status 400 times=all no {number}"))


@promise("A failed turn has one start and one end, too")
def failure_has_one_end(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(), "status 400 times=all no")
    client.answer(call)
    client.ping()
    client.replied(client.session(call), "say next")
    kinds = client.kinds_of(call)
    assert kinds.count("task_started") == len(client.terminals_of(call)) == 1, f"{kinds}"


@promise("A refusal of the model's server (4xx) is not tried again")
def refusals_are_final(trial: Trial) -> None:
    client = trial.server()
    client.answer(client.codex(trial.settings(retries=2), "status 400 times=all no"))
    assert len(trial.model.requests) == 1, f"{len(trial.model.requests)} requests"


@promise("A failure that passes (500, no answer, a broken stream) is tried again, and answered once")
def passing_failures(trial: Trial) -> None:
    client = trial.server()
    for wire in ("chat", "responses"):
        for failure in ("status 500", "drop", "words half of it; cut"):
            call = client.codex(trial.settings(wire=wire, retries=2), f"{failure}; say whole {wire}")
            text = said(client.answer(call))
            assert text.endswith(f"whole {wire}"), f"after {failure!r} on {wire}: {text!r}"
            ends = client.terminals_of(call)
            assert ends == ["task_complete"], f"after {failure!r} on {wire} ends: {ends}"


@promise("When the stream breaks after a command has run, the command is not run again")
def no_command_twice(trial: Trial) -> None:
    client = trial.server()
    prompt = f"{shell('echo ran >> ran')}; cut; then; say done"
    call = client.codex(trial.settings(wire="responses", retries=2), prompt)
    assert said(client.answer(call)) == "done", "another text"
    ran = (trial.work / "ran").read_text().split()
    assert ran == ["ran"], f"it ran {len(ran)} times"
    body = trial.model.requests[-1].body
    assert len(texts(body, "output")) == 1, f"{len(texts(body, 'output'))} outputs"
    assert not unpaired(body), unpaired(body)


@promise("A response that has been completed ends the turn, though the connection stays open")
def completed_is_completed(trial: Trial) -> None:
    client = trial.server()
    for wire in ("chat", "responses"):
        call = client.codex(trial.settings(wire=wire), f"say done on {wire}; finish; stall forever")
        assert said(client.answer(call, limit_s=SOON_S)) == f"done on {wire}", "another text"


@promise("A call that the model gets wrong is told to the model, and the turn goes on")
def wrong_calls(trial: Trial) -> None:
    client = trial.server()
    prompt = 'call no_such_tool {}; then; call shell {"command": 5}; then; call shell {"comm; then; say went on'
    session = client.opened(trial.settings(), prompt)
    body = trial.model.requests[-1].body
    assert len(texts(body, "output")) == 3, f"{len(texts(body, 'output'))} outputs instead of 3"
    assert all(texts(body, "output")), "an output is empty"
    assert client.replied(session, "say next") == "next", "another text"
