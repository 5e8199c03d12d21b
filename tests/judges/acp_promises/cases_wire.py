"""The handshake and the wire: versions, unknown methods, lines that are nothing, ids, the published schema."""

import json

from tests.judges.acp_promises.client import START_S, Client, result_of
from tests.judges.acp_promises.schema import Schema
from tests.judges.acp_promises.trial import Trial
from tests.judges.promise import promise

SOON_S = 15.0  # editors give an agent up that takes longer
GARBAGE = (b"garbage", b'{"jsonrpc":"2.0","id":9,', b"42", b"[]", b'"text"', b"", b'{"jsonrpc":"2.0"}')


@promise("`initialize` is answered within 15 seconds, agrees to version 1 and says what the agent can do")
def initialized(trial: Trial) -> None:
    client = trial.agent(hello=False)
    asked = {"protocolVersion": 1, "clientCapabilities": {}}
    result = client.result("initialize", asked, limit_s=SOON_S)
    assert result.get("protocolVersion") == 1, f"version {result.get('protocolVersion')!r}"
    assert isinstance(result.get("agentCapabilities"), dict), "no agentCapabilities"


@promise("A version that nobody knows (99) is answered with one that the agent knows")
def unknown_version(trial: Trial) -> None:
    version = trial.agent(hello=False).initialize(99).get("protocolVersion")
    assert version in {1, 2}, f"it agreed to {version!r}"


@promise("An unknown method is answered -32601, and an unknown notification not at all")
def unknown_method(trial: Trial) -> None:
    client = trial.agent()
    client.say({"method": "no/such/notification", "params": {}})
    code = client.ask("no/such/method", {}).get("error", {}).get("code")
    assert code == -32601, f"it was answered {code}"
    assert client.new(trial.work), "no session afterwards"
    strays = [line for line in client.lines if "method" not in line and line.get("id") not in client.methods]
    assert not strays, f"the notification was answered: {strays}"


@promise("A request without the params that it needs is answered with an error, and the agent goes on")
def missing_params(trial: Trial) -> None:
    client = trial.agent()
    for method in ("session/new", "session/prompt"):
        assert "error" in client.ask(method, {}), f"{method} without params went well"
    assert client.turn(client.new(trial.work), "@@say still here").count("still here") == 1, "no turn afterwards"


@promise("Lines that are no JSON, or no request, end nothing")
def garbage(trial: Trial) -> None:
    client = trial.agent()
    client.line.write(b"".join(line + b"\n" for line in GARBAGE))
    assert "still here" in client.turn(client.new(trial.work), "@@say still here"), "another text"


@promise('An id comes back as it was, number or text: 7 and "7" are two requests')
def ids(trial: Trial) -> None:
    client = trial.agent()
    calls = [client.begin("session/new", {"cwd": str(trial.work), "mcpServers": []}, one) for one in (7, "7", 0)]
    sessions = [result_of(client.answer(call, limit_s=START_S), "session/new")["sessionId"] for call in calls]
    assert len(set(sessions)) == 3, f"three requests made {sessions}"


@promise("A client that reads late still gets all of a long answer, in order")
def a_slow_client(trial: Trial) -> None:
    client = trial.agent()
    session = client.new(trial.work)
    client.reading.clear()
    call = client.prompt(session, "@@slow 3000 0 piece")
    trial.stays(lambda: client.process.poll() is None, "the agent has ended", for_s=3.0)
    client.reading.set()
    client.ended(call)
    said = client.words(session)
    assert "".join(f"piece{number} " for number in range(3000)).strip() in said, f"it said …{said[-60:]!r}"


@promise("Every line is a message of the published schema: turns, commands, permissions, cancels, errors, history")
def every_line_is_valid(trial: Trial) -> None:
    schema = Schema()
    client = trial.agent()
    session = trial.careful(client)
    client.turn(session, "@@say hello")
    client.turn(session, trial.asks("echo judged"))
    client.permits = "reject"
    client.answer(client.prompt(session, trial.asks("echo refused")))
    call = client.prompt(session, "@@slow 1000 50")
    client.until_told(session, "agent_message_chunk", after=client.mark())
    client.cancel(session)
    client.answer(call)
    client.ask("no/such/method", {})
    client.ask("session/prompt", {"sessionId": "no-such-session", "prompt": []})
    if client.can("list"):
        client.ask("session/list", {})
    again = trial.agent()
    if again.can("load"):
        again.ask("session/load", {"sessionId": session, "cwd": str(trial.work), "mcpServers": []})
    faults = [*_faults(schema, client), *_faults(schema, again)]
    assert not faults, f"{len(faults)} faults, such as: {faults[0]}"


def _faults(schema: Schema, client: Client) -> list[str]:
    found = list(client.faults)
    for line in client.lines:
        fault = schema.fault(line, client.methods)
        if fault:
            found.append(f"{fault} in {json.dumps(line)[:300]}")
    return found
