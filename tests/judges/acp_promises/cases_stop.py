"""Cancel, as an editor says it: `session/cancel`."""

from tests.judges.acp_promises.client import cancel, prompt
from tests.judges.acp_promises.trial import Trial
from tests.judges.promise import promise

STUBBORN = "trap '' TERM INT HUP; sleep 4711 & setsid sleep 4712 & echo begun; sleep 4713"
SLEEPS = ("sleep 4711", "sleep 4712", "sleep 4713")
CROSSINGS = 8  # of a cancel and the end of its turn
QUIET_S = 2.0  # what was not prevented has begun by then
STOPPED_S = 15.0  # until a prompt that was cancelled is answered


@promise("Cancel while the model speaks: the prompt is answered `cancelled`, not with an error")
def cancel_words(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    call = client.prompt(session, "@@slow 2000 50")
    client.until_told(session, "agent_message_chunk")
    client.cancel(session)
    client.ended(call, "cancelled", limit_s=STOPPED_S)


@promise("Cancel of a command: when the prompt is answered `cancelled`, the command is gone, and all that it started")
def cancel_command(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    call = client.prompt(session, "@@run echo begun; sleep 4711 & echo more; sleep 4712")
    trial.wait_for("sleep 4711", "sleep 4712")
    client.cancel(session)
    client.ended(call, "cancelled", limit_s=STOPPED_S)
    trial.assert_gone("sleep 471")


@promise("Cancel of a command that is deaf to signals and has left its group: gone as well, when it is answered")
def cancel_stubborn(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    call = client.prompt(session, f"@@run {STUBBORN}")
    trial.wait_for(*SLEEPS)
    client.cancel(session)
    client.ended(call, "cancelled", limit_s=STOPPED_S)
    trial.assert_gone("sleep 471")


@promise("A cancel right behind its prompt is not lost")
def cancel_at_once(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.turn(session, "@@say begun")
    request = client.request("session/prompt", prompt(session, "@@run echo begun; sleep 4711"))
    client.say(request, cancel(session))
    client.ended(request["id"], "cancelled", limit_s=STOPPED_S)
    trial.stays(lambda: not trial.running("sleep 4711"), "the command runs", for_s=QUIET_S)


@promise("A cancel with nothing running, or of a session that nobody knows, harms nothing")
def cancel_nothing(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.cancel(session)
    client.cancel("00000000-0000-4000-8000-000000000000")
    assert "first" in client.turn(session, "@@say first"), "another text"
    client.cancel(session)
    assert "second" in client.turn(session, "@@say second"), "another text"


@promise("A cancel stops its own session's turn and no other")
def cancel_one_of_two(trial: Trial) -> None:
    client = trial.agent()
    kept, stopped = client.new(trial.work), client.new(trial.work)
    client.turn(kept, "@@say begun")
    going = client.prompt(kept, "@@slow 100 40 kept")
    client.until_told(kept, "agent_message_chunk", after=client.mark())
    mark = client.mark()
    call = client.prompt(stopped, "@@slow 2000 50")
    client.until_told(stopped, "agent_message_chunk", after=mark)
    client.cancel(stopped)
    client.ended(call, "cancelled", limit_s=STOPPED_S)
    client.ended(going)
    assert "kept99" in client.words(kept), "the other has not said all"


@promise("After a cancel the next prompt is answered with its own text, and knows what was before")
def after_cancel(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.turn(session, "@@say before")
    for number in range(3):
        mark = client.mark()
        call = client.prompt(session, "@@slow 2000 50 lost")
        client.until_told(session, "agent_message_chunk", after=mark)
        client.cancel(session)
        client.answer(call, limit_s=STOPPED_S)
        said = client.turn(session, f"@@say own {number}")
        assert f"own {number}" in said, f"it said {said[:80]!r}"
        assert "lost" not in said, "words of the cancelled turn came in this one"
    assert "@@say before" in trial.model.bodies[-1], "what was before is not in the request"


@promise("A cancel and the next prompt in one write: the first is answered `cancelled`, the next with its own text")
def cancel_and_next(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    call = client.prompt(session, "@@slow 2000 50 lost")
    client.until_told(session, "agent_message_chunk")
    request = client.request("session/prompt", prompt(session, "@@say own text"))
    client.say(cancel(session), request)
    client.ended(call, "cancelled", limit_s=STOPPED_S)
    (place,) = client.answers(call)
    client.ended(request["id"])
    assert "own text" in client.words(session, place), "another text"


@promise("A cancel that crosses the end of its turn leaves one answer, and stops nothing that comes later")
def cancel_crosses_the_end(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    for number in range(CROSSINGS):
        mark = client.mark()
        call = client.prompt(session, f"@@say crossing {number}")
        client.until_told(session, "agent_message_chunk", after=mark)
        client.cancel(session)
        client.answer(call, limit_s=STOPPED_S)
        assert f"after {number}" in client.turn(session, f"@@say after {number}"), "another text"
        assert len(client.answers(call)) == 1, f"{len(client.answers(call))} answers"
