"""Promises of every turn: words to the model, its words back, events between, one end."""

from tests.judges.promise import promise
from tests.judges.promises.client import TERMINAL, is_error, said
from tests.judges.promises.history import instructions, texts, unpaired
from tests.judges.promises.trial import Trial, runs, shell

CHARACTERS = "Ünïcödé 😀 \u2028 \u0085 \\ \" ' \t <tag> \x7f 漢字"


@promise("A turn is answered with the model's words, and the request has what was asked for")
def a_turn_is_answered(trial: Trial) -> None:
    client = trial.server()
    call = client.codex(trial.settings(), "say All is well.")
    assert said(client.answer(call)) == "All is well.", "another text"
    body = trial.model.requests[0].body
    assert body["model"] == "scripted", f"the model is {body['model']!r}"
    assert texts(body, "user") == ["say All is well."], "the prompt is not what the model got"


@promise("`base-instructions` reach the model")
def base_instructions(trial: Trial) -> None:
    client = trial.server()
    settings = trial.settings() | {"base-instructions": "You will be brief."}
    said(client.answer(client.codex(settings, "say yes")))
    first = instructions(trial.model.requests[0].body)
    assert first.startswith("You will be brief."), "they are not what the model got"


@promise("A reply continues with the whole history")
def a_reply_has_the_history(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings(), f"{runs('echo', 'found')}; then; say first")
    assert client.replied(session, "say second") == "second", "another text"
    body = trial.model.requests[-1].body
    assert len(texts(body, "user")) == 2, f"{len(texts(body, 'user'))} user messages instead of 2"
    assert texts(body, "assistant") == ["first"], f"of the assistant: {texts(body, 'assistant')}"
    assert any("found" in output for output in texts(body, "output")), "the command's output is missing"
    assert not unpaired(body), unpaired(body)


@promise("On the responses wire, an answer that was streamed is in the history once")
def no_words_twice(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings(wire="responses"), "words one two three")
    client.replied(session, "say second")
    spoken = texts(trial.model.requests[-1].body, "assistant")
    assert spoken == ["one two three"], f"of the assistant: {spoken}"


@promise("Long prompts and all kinds of characters pass unharmed, both ways")
def characters(trial: Trial) -> None:
    client = trial.server()
    prompt = CHARACTERS + "x" * 300_000 + "."
    echoed = said(client.answer(client.codex(trial.settings(), prompt)))
    assert texts(trial.model.requests[0].body, "user") == [prompt], "the model got something else"
    assert echoed == f"echo: {prompt}", "something else came back"


@promise("A command runs in the directory of the call, and the model is given its output")
def output_reaches_the_model(trial: Trial) -> None:
    client = trial.server()
    client.opened(trial.settings(), f"{runs('pwd')}; then; say done")
    (output,) = texts(trial.model.requests[-1].body, "output")
    assert str(trial.work) in output, f"the output is {output[:80]!r}"


@promise("Of a command that fails, too, the model is given what it printed")
def output_of_failure(trial: Trial) -> None:
    client = trial.server()
    client.opened(trial.settings(), f"{shell('echo what it printed; exit 3')}; then; say done")
    (output,) = texts(trial.model.requests[-1].body, "output")
    assert "what it printed" in output, f"the output is {output[:80]!r}"


@promise("A command that is over its time is ended with its children, and the turn goes on")
def over_time(trial: Trial) -> None:
    client = trial.server()
    script = shell("sleep 4711 & sleep 4711", timeout_ms=300)
    client.opened(trial.settings(), f"{script}; then; say went on")
    assert not trial.processes("sleep 4711"), "a child of it runs on"


@promise("The events of a turn are in order: a start, each begin with its end, one end of all, then the answer")
def events_balance(trial: Trial) -> None:
    client = trial.server()
    prompt = f"{shell('echo one; exit 1')}; then; {runs('echo', 'two')}; then; say done"
    call = client.codex(trial.settings(), prompt)
    said(client.answer(call))
    client.ping()
    kinds = client.kinds_of(call)
    assert kinds[:2] == ["session_configured", "task_started"], f"it begins with {kinds[:2]}"
    assert kinds.count("task_started") == 1, "more than one start"
    assert kinds.count("exec_command_begin") == kinds.count("exec_command_end") == 2, f"{kinds}"
    assert kinds[-1] in TERMINAL, f"it ends with {kinds[-1]}"
    answered = next(number for number, line in enumerate(client.lines) if line.get("id") == call)
    assert client.number_of_end(call) < answered, "the answer came before the end"


@promise("An empty prompt is refused with an error, and swallows nothing that comes later")
def an_empty_prompt(trial: Trial) -> None:
    client = trial.server()
    assert is_error(client.answer(client.codex(trial.settings(), ""))), "`codex` took it"
    session = client.opened(trial.settings())
    assert is_error(client.answer(client.reply(session, ""))), "`codex-reply` took it"
    assert client.replied(session, "say heard") == "heard", "another text"


@promise("A call that can't begin is an error: no such tool, session or provider, no session id, no prompt")
def calls_that_cannot_begin(trial: Trial) -> None:
    client = trial.server()
    for session in ("00000000-0000-4000-8000-000000000000", "nonsense"):
        assert is_error(client.answer(client.reply(session, "say x"))), f"session {session} was taken"
    for name in ("codex", "codex-reply", "no_such_tool"):
        answer = client.ask("tools/call", {"name": name, "arguments": {}})
        assert is_error(answer), f"{name} without arguments was taken"
    unknown = trial.settings() | {"config": {"model_provider": "nobody"}}
    assert is_error(client.answer(client.codex(unknown, "say x"))), "an unknown provider was taken"
    assert client.opened(trial.settings()), "no session afterwards"


@promise("Two commands in one response run in order, and both outputs reach the model (chat)")
def two_calls_on_chat(trial: Trial) -> None:
    _two_calls(trial, "chat")


@promise("Two commands in one response run in order, and both outputs reach the model (responses)")
def two_calls_on_responses(trial: Trial) -> None:
    _two_calls(trial, "responses")


def _two_calls(trial: Trial, wire: str) -> None:
    client = trial.server()
    first, second = shell("sleep 0.2; echo first | tee -a order"), shell("echo second | tee -a order")
    client.opened(trial.settings(wire=wire), f"{first}; {second}; then; say both")
    order = trial.work / "order"
    ran = order.read_text().split() if order.exists() else []
    assert ran == ["first", "second"], f"what ran: {ran}"
    body = trial.model.requests[-1].body
    outputs = texts(body, "output")
    assert len(outputs) == 2, f"{len(outputs)} outputs"
    assert "first" in outputs[0], f"the first output is {outputs[0][:80]!r}"
    assert "second" in outputs[1], f"the second output is {outputs[1][:80]!r}"
    assert not unpaired(body), unpaired(body)
