"""The wire itself: the handshake, JSON-RPC's errors, ids, notifications, and a client that is slow."""

from tests.judges.promise import promise
from tests.judges.promises.client import said
from tests.judges.promises.trial import Trial, asleep
from tests.support.line_client import Json

REVISIONS = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"}
WHO = {"name": "judge", "version": "1"}
PINGS = 300  # together less than a pipe holds, so that the judge never waits for a server that doesn't read


@promise("The handshake names the server and its tools `codex` and `codex-reply`")
def handshake(trial: Trial) -> None:
    client = trial.server(hello=False)
    result = client.initialize()["result"]
    assert result["protocolVersion"] == "2025-06-18", f"revision {result['protocolVersion']}"
    assert result["serverInfo"]["name"], "no name"
    assert "tools" in result["capabilities"], "it declares no tools"
    tools = {one["name"]: one["inputSchema"] for one in client.ask("tools/list")["result"]["tools"]}
    assert {"codex", "codex-reply"} <= tools.keys(), f"its tools: {sorted(tools)}"
    assert tools["codex"]["required"] == ["prompt"], f"`codex` requires {tools['codex']['required']}"
    client.ping()


@promise("A revision that nobody knows is answered with one that the server knows")
def unknown_revision(trial: Trial) -> None:
    client = trial.server(hello=False)
    params = {"protocolVersion": "1999-12-31", "capabilities": {}, "clientInfo": WHO}
    revision = client.ask("initialize", params)["result"]["protocolVersion"]
    assert revision in REVISIONS, f"it agreed to {revision}"


@promise("Every line of a session is a valid message of the revision that was agreed on")
def every_line_is_valid(trial: Trial) -> None:
    client = trial.server()
    session = client.opened(trial.settings())
    client.answer(client.reply(session, "status 400 no"))
    client.stopped(client.reply(session, asleep()))
    assert client.replied(session, "say on") == "on", "another text"
    assert not client.faults, client.faults[0]


@promise("A line that isn't JSON gets -32700, what is no request -32600, and the connection goes on")
def not_a_request(trial: Trial) -> None:
    client = trial.server()
    lines = {b'{"jsonrpc":"2.0","id":9,': -32700, b"42": -32600, b'{"jsonrpc":"2.0","id":9,"method":5}': -32600}
    for line, wanted in lines.items():
        mark = client.mark()
        client.raw(line)
        code = client.error_of(9, after=mark)
        assert code == wanted, f"it got {code} for {line.decode()}"
        client.ping()


@promise("An unknown method gets -32601, one without the params that it needs -32602, and the connection goes on")
def not_possible(trial: Trial) -> None:
    client = trial.server()
    requests: tuple[tuple[str, Json, int], ...] = (
        ("no/such/method", {}, -32601),
        ("tools/call", {}, -32602),
        ("tools/call", {"name": 5}, -32602),
    )
    for method, params, wanted in requests:
        code = client.ask(method, params).get("error", {}).get("code")
        assert code == wanted, f"it got {code} for {method} with {params}"
        client.ping()


@promise("A notification is never answered, also one that nobody knows")
def notifications_are_not_answered(trial: Trial) -> None:
    client = trial.server()
    client.ping()
    mark = client.mark()
    client.say({"method": "no/such/notification"}, {"method": "notifications/cancelled", "params": {}})
    client.cancel(12345)
    client.ping()
    answers: list[Json] = [line for line in client.lines[mark:] if "method" not in line]
    assert len(answers) == 1, f"{len(answers) - 1} answers to notifications"


@promise('The ids 1 and "1" are two: each gets its own answer, and a stop ends the one it names')
def ids_have_types(trial: Trial) -> None:
    client = trial.server()
    client.codex(trial.settings(), "say as a number; hold numbers; finish", 1)
    trial.model.wait_held("numbers")
    client.codex(trial.settings(), "stall forever", "1")
    trial.model.wait_requests(2)
    client.stopped("1")
    trial.model.open("numbers")
    assert said(client.answer(1)) == "as a number", "the number got another text"
    assert client.terminals_of(1) == ["task_complete"], f"of the number: {client.terminals_of(1)}"


@promise("An id may be used again once it was answered, and a stop then means its new use")
def ids_may_be_used_again(trial: Trial) -> None:
    client = trial.server()
    client.codex(trial.settings(), "say begun", 5)
    assert said(client.answer(5)) == "begun", "another text"
    session, mark = client.session(5), client.mark()
    client.reply(session, "say again", 5)
    assert said(client.answer(5, after=mark)) == "again", "another text"
    mark = client.mark()
    client.reply(session, asleep(), 5)
    client.event_of(5, "exec_command_begin", after=mark)
    client.cancel(5)
    client.event_of(5, "turn_aborted", after=mark)


@promise("A client that reads late still gets all of a long stream, and every answer")
def a_slow_client(trial: Trial) -> None:
    client = trial.server()
    client.reading.clear()
    call = client.codex(trial.settings(wire="responses"), "pack 4096; stream 20000 word.")
    trial.model.wait_for(lambda: bool(trial.model.requests) and trial.model.requests[0].answered, "nobody read it")
    pings = [client.begin("ping") for _ in range(PINGS)]
    client.reading.set()
    assert said(client.answer(call)) == "word." * 20_000, "another text"
    for ping in pings:
        client.answer(ping)
