"""Promises of every prompt: words to the model, its words back, one answer, and nothing of the turn after it."""

import sys
import time
from pathlib import Path

from tests.judges.acp_promises.client import TELLING, Client, kind, result_of
from tests.judges.acp_promises.trial import Trial
from tests.judges.promise import BesideThePoint, promise
from tests.support.line_client import Json

QUIET_S = 1.5  # what is told late has been told by then
SERVER = Path(__file__).with_name("tool_server.py")


@promise("A prompt is answered `end_turn`, after the model's words, and the model was given what was asked")
def answered(trial: Trial) -> None:
    client = trial.agent()
    said = client.turn(client.new(trial.work), "@@say All is well.")
    assert "All is well." in said, f"it said {said[:200]!r}"
    assert "@@say All is well." in trial.model.bodies[-1], "the model was asked something else"


@promise("A prompt has one answer, and nothing of its turn is told after it")
def one_answer(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    for text in ("@@slow 20 10", "@@run echo one\n@@say over"):
        call = client.prompt(session, text)
        client.ended(call)
        _is_quiet_after(client, session, call)


@promise("A prompt that was cancelled has one answer, too, and nothing of its turn is told after it")
def one_answer_after_cancel(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    for text in ("@@slow 2000 20", "@@run echo begun; sleep 4711"):
        mark = client.mark()
        call = client.prompt(session, text)
        if "sleep" in text:
            trial.wait_for("sleep 4711")
        else:
            client.until_told(session, "agent_message_chunk", after=mark)
        client.cancel(session)
        client.cancel(session)
        client.answer(call)
        _is_quiet_after(client, session, call)


def _is_quiet_after(client: Client, session: str, call: int | str) -> None:
    time.sleep(QUIET_S)
    (place, *more) = client.answers(call)
    assert not more, f"{len(more) + 1} answers"
    late = [kind(one) for one in client.updates(session, place + 1) if kind(one) in TELLING]
    assert not late, f"after the answer came {late[:5]}"


@promise("A later prompt has the history: the model is given the words of the earlier ones")
def history(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.turn(session, "@@say the first answer")
    client.turn(session, "@@say the second answer")
    for words in ("@@say the first answer", "@@say the second answer"):
        assert words in trial.model.bodies[-1], f"{words!r} is missing"


@promise("Text and resource links are taken, as every agent has to, and reach the model")
def links(trial: Trial) -> None:
    (trial.work / "linked-file.txt").write_text("what is in it")
    client = trial.agent()
    link = {"type": "resource_link", "name": "linked-file.txt", "uri": (trial.work / "linked-file.txt").as_uri()}
    blocks = [{"type": "text", "text": "@@say seen"}, link]
    result_of(client.ask("session/prompt", {"sessionId": client.new(trial.work), "prompt": blocks}), "the prompt")
    assert "linked-file.txt" in trial.model.bodies[-1], "the model does not know of the link"


@promise("A command is told from its begin to its end: a tool call with a title, and an end that says how it ended")
def tool_calls(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.turn(session, "@@run echo what it printed\n@@say over")
    told = [one for one in client.updates(session) if kind(one) in {"tool_call", "tool_call_update"}]
    assert told, "no tool call was told"
    for name in {one["toolCallId"] for one in told}:
        mine = [one for one in told if one["toolCallId"] == name]
        assert kind(mine[0]) == "tool_call", f"{name} begins with an update"
        assert mine[0].get("title"), f"{name} has no title"
        states = [one["status"] for one in mine if one.get("status")]
        assert states, f"{name} has no status"
        assert states[-1] in {"completed", "failed"}, f"{name} ends {states[-1]}"
    assert any("what it printed" in str(one) for one in told), "the output is not told"
    assert "what it printed" in trial.model.bodies[-1], "the model was not given the output"


@promise("A prompt in a session that nobody knows is an error, and the agent goes on")
def unknown_session(trial: Trial) -> None:
    client = trial.agent()
    call = client.prompt("00000000-0000-4000-8000-000000000000", "@@say no")
    assert "error" in client.answer(call), "it went well"
    assert "yes" in client.turn(client.new(trial.work), "@@say yes"), "another text"


@promise("A second prompt while one runs is taken or refused, both are answered, and the session goes on")
def second_prompt(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    first = client.prompt(session, "@@slow 60 30")
    client.until_told(session, "agent_message_chunk")
    second = client.prompt(session, "@@say the second")
    answers = {call: client.answer(call) for call in (first, second)}
    assert "result" in answers[first], f"the first ended with {answers[first]}"
    assert "result" not in answers[second] or any("@@say the second" in body for body in trial.model.bodies), (
        "the second was answered, and the model never saw it"
    )
    assert "own text" in client.turn(session, "@@say own text"), "the next prompt has another text"


@promise("A stdio MCP server that the client gives is started, and its tools reach the model")
def mcp_servers(trial: Trial) -> None:
    client = trial.agent()
    server = {"name": "judges", "command": sys.executable, "args": ["-I", str(SERVER)], "env": []}
    session = client.new(trial.work, [server])
    for _ in range(4):  # some start a server beside the first turn
        client.turn(session, "@@say hello")
        if "judges_tool" in trial.model.bodies[-1]:
            return
        time.sleep(1.0)
    raise AssertionError("the model never heard of its tool")


@promise("A setting that the agent offers can be changed, and the answer has all settings, changed as asked")
def settings(trial: Trial) -> None:
    client = trial.agent()
    asked = {"cwd": str(trial.work), "mcpServers": []}
    made = client.result("session/new", asked, limit_s=60.0)
    for option in made.get("configOptions") or []:
        values = [one["value"] for one in _flat(option.get("options") or [])]
        others = [one for one in values if one != option.get("currentValue")]
        if option.get("type", "select") == "select" and others:
            params = {"sessionId": made["sessionId"], "configId": option["id"], "value": others[0]}
            told = client.result("session/set_config_option", params)["configOptions"]
            now = {one["id"]: one["currentValue"] for one in told}
            assert now.get(option["id"]) == others[0], f"{option['id']} is {now.get(option['id'])!r}"
            return
    raise BesideThePoint("it offers nothing to choose")


def _flat(options: list[Json]) -> list[Json]:
    """Options may be in groups."""
    return [one for option in options for one in (_flat(option["options"]) if "options" in option else [option])]
