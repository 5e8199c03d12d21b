"""Questions: how they are put, the three ways to answer, and what a stop makes of them."""

from tests.judges.promise import promise
from tests.judges.promises.client import Client, is_error, said
from tests.judges.promises.history import texts, unpaired
from tests.judges.promises.trial import Trial, runs
from tests.support.line_client import Json


class Asking:
    """A turn that has asked whether it may make a file."""

    def __init__(self, trial: Trial, client: Client, name: str = "made") -> None:
        self.client = client
        self.path = trial.work / name
        mark = client.mark()
        self.call = client.codex(trial.settings("untrusted"), f"{runs('touch', name)}; then; say went on")
        self.question: Json = client.wait(
            lambda line: line.get("method") == "elicitation/create" and name in line["params"]["message"],
            "a question",
            after=mark,
        )

    def answer(self, result: Json) -> None:
        self.client.respond(self.question["id"], result)

    def went_on(self, *, made: bool) -> None:
        assert said(self.client.answer(self.call)) == "went on", "another text"
        assert self.path.exists() is made, "it was run" if self.path.exists() else "it was not run"


@promise("A question says what is asked, and `approved` runs the command")
def approved(trial: Trial) -> None:
    asking = Asking(trial, trial.server())
    params = asking.question["params"]
    assert params["codex_command"] == ["touch", "made"], f"the command is {params['codex_command']}"
    assert "touch made" in params["message"], f"the message is {params['message']!r}"
    assert params["requestedSchema"]["type"] == "object", "no schema"
    assert not asking.path.exists(), "it ran before it was approved"
    asking.answer({"decision": "approved"})
    asking.went_on(made=True)


@promise("MCP's own answer, `action: accept`, approves")
def accepted(trial: Trial) -> None:
    asking = Asking(trial, trial.server())
    asking.answer({"action": "accept", "content": {}})
    asking.went_on(made=True)


@promise("`approved_for_session` approves the same command again, and no other")
def approved_for_session(trial: Trial) -> None:
    client = trial.server()
    asking = Asking(trial, client)
    asking.answer({"decision": "approved_for_session"})
    asking.went_on(made=True)
    asking.path.unlink()
    session, mark = client.session(asking.call), client.mark()
    assert client.replied(session, f"{runs('touch', 'made')}; then; say not asked") == "not asked", "another text"
    assert asking.path.exists(), "it was not run again"
    other = client.reply(session, f"{runs('touch', 'other')}; then; say asked")
    question = client.asked(after=mark)
    assert "other" in question["params"]["message"], f"it asked {question['params']['message']!r}"
    client.respond(question["id"], {"decision": "denied"})
    assert said(client.answer(other)) == "asked", "another text"


@promise("A command that only reads is run without a question")
def only_reads(trial: Trial) -> None:
    client = trial.server()
    (trial.work / "there").touch()
    client.opened(trial.settings("untrusted"), f"{runs('ls')}; then; say done")
    (output,) = texts(trial.model.requests[-1].body, "output")
    assert "there" in output, f"the output is {output[:80]!r}"
    assert not client.told("elicitation/create"), "it was asked for"


@promise("`denied` and `action: decline` deny: the model is told, and the turn goes on")
def denied(trial: Trial) -> None:
    client = trial.server()
    answers: tuple[Json, ...] = ({"decision": "denied"}, {"action": "decline"})
    for number, answer in enumerate(answers):
        asking = Asking(trial, client, f"made{number}")
        asking.answer(answer)
        asking.went_on(made=False)
        body = trial.model.requests[-1].body
        assert all(texts(body, "output")), "the model was told nothing"
        assert not unpaired(body), unpaired(body)


@promise("`action: cancel` denies, ends no turn, and the result says what was asked for")
def dismissed(trial: Trial) -> None:
    client = trial.server()
    asking = Asking(trial, client)
    asking.answer({"action": "cancel"})
    told = said(client.answer(asking.call))
    assert told.startswith("went on"), "another text"
    assert "touch made" in told, f"it says {told!r}"
    assert not asking.path.exists(), "it was run"


@promise("A JSON-RPC error as the answer is a denial, and the turn goes on")
def answered_with_an_error(trial: Trial) -> None:
    client = trial.server()
    asking = Asking(trial, client)
    client.refuse(asking.question["id"])
    asking.went_on(made=False)


@promise("`abort` ends the turn: the call is answered as an error, and the session goes on")
def aborted(trial: Trial) -> None:
    client = trial.server()
    asking = Asking(trial, client)
    asking.answer({"decision": "abort"})
    client.event_of(asking.call, "turn_aborted")
    assert is_error(client.answer(asking.call)), "the call went well"
    assert not asking.path.exists(), "it was run"
    assert client.replied(client.session(asking.call), "say own") == "own", "another text"


@promise("Stop takes an open question back, by its id, and ends the turn")
def stop_withdraws(trial: Trial) -> None:
    client = trial.server()
    asking = Asking(trial, client)
    client.stopped(asking.call)
    withdrawn = client.notified("notifications/cancelled")
    assert withdrawn["requestId"] == asking.question["id"], f"it took back {withdrawn['requestId']!r}"


@promise("An answer that comes after Stop harms nothing, whatever it says")
def late_answers(trial: Trial) -> None:
    client = trial.server()
    for number, answer in enumerate(({"decision": "abort"}, {"decision": "approved"}, {"action": "cancel"})):
        asking = Asking(trial, client, f"made{number}")
        client.stopped(asking.call)
        next_call = client.reply(client.session(asking.call), f"say own {number}; hold gate{number}; finish")
        trial.model.wait_held(f"gate{number}")
        asking.answer(answer)
        client.ping()
        trial.model.open(f"gate{number}")
        assert said(client.answer(next_call)) == f"own {number}", "another text"
        assert not asking.path.exists(), "what was stopped was run"


@promise("An answer decides the question that it names: two at once, answered the other way round")
def two_questions(trial: Trial) -> None:
    client = trial.server()
    first, second = Asking(trial, client, "first"), Asking(trial, client, "second")
    assert first.question["id"] != second.question["id"], "both have the same id"
    second.answer({"decision": "approved"})
    second.went_on(made=True)
    assert not first.path.exists(), "the first was run, too"
    first.answer({"decision": "denied"})
    first.went_on(made=False)


@promise("A question twice in one turn is decided twice: the second may be denied after the first was approved")
def two_questions_of_one_turn(trial: Trial) -> None:
    client = trial.server()
    prompt = f"{runs('touch', 'one')}; then; {runs('touch', 'two')}; then; say went on"
    call = client.codex(trial.settings("untrusted"), prompt)
    first = client.asked()
    mark = client.mark()
    client.respond(first["id"], {"decision": "approved"})
    second = client.asked(after=mark)
    client.respond(second["id"], {"decision": "denied"})
    assert said(client.answer(call)) == "went on", "another text"
    assert (trial.work / "one").exists(), "the first was not run"
    assert not (trial.work / "two").exists(), "the second was run"
