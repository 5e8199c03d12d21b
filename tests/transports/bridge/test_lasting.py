"""A prompt of ACP outlives its daemons: the bridge as a process, and daemons that say what the test wants."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.bridge import Client, FakeDaemon, Talk, answer, request, wait_until
from transports import jsonrpc

SERVERS = [{"name": "s", "command": "/bin/s", "args": [], "env": []}]
Json = dict[str, Any]


@pytest.fixture
def client(daemon: FakeDaemon, tmp_path: Path) -> Iterator[Client]:
    assert Path(daemon.path).is_socket()
    with Client(tmp_path, "--verb", "acp") as client:
        yield client


@pytest.fixture
def talk(daemon: FakeDaemon, client: Client) -> Talk:
    """A daemon whose client has one session, `a`, and has seen its third event."""
    talk = daemon.greet()
    client.ask(0, "initialize", protocolVersion=1)
    talk.say(answer(talk.message()["id"], protocolVersion=1))
    client.say(request(1, "session/new", cwd="/", mcpServers=SERVERS))
    talk.message()
    talk.say(answer(1, sessionId="a"), update(3, sessionUpdate="plan", entries=[]))
    assert [client.message().get("id") for _ in range(2)] == [1, None]
    return talk


def update(seq: int, *, running: bool = False, **told: object) -> bytes:
    meta = {"greenroom": {"instance": "i", "seq": seq, **({"running": True} if running else {})}}
    return jsonrpc.notification("session/update", {"sessionId": "a", "update": told, "_meta": meta})


def prompt(client: Client, talk: Talk, number: int) -> Json:
    """Say a prompt; returns what the daemon hears of it."""
    client.say(request(number, "session/prompt", sessionId="a", prompt=[{"type": "text", "text": "go"}]))
    heard: Json = talk.message()
    assert heard["id"] == number
    return heard


def attached(talk: Talk) -> Json:
    """Let a bridge attach; returns what it has said of the session."""
    talk.greet()
    introduction, attach = talk.message(), talk.message()
    assert (introduction["method"], attach["method"]) == ("initialize", "_greenroom/attach")
    talk.say(answer(introduction["id"], protocolVersion=1), answer(attach["id"]))
    params: Json = attach["params"]
    return params


def crashed(home: Path) -> None:
    """Leave what a daemon leaves that was killed."""
    (home / "run" / "daemon.pid").write_text("1")


def test_a_prompt_stays_open_and_is_answered_by_the_next_daemon(
    daemon: FakeDaemon, client: Client, talk: Talk, tmp_path: Path
) -> None:
    said = prompt(client, talk, 2)
    chunk: Json = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "héllo"},
        "messageId": "m",
    }
    talk.say(update(5, running=True, **chunk))
    assert client.message()["params"]["update"] == chunk
    with daemon.succeeded(tmp_path) as second:
        talk = second.accept()
        assert attached(talk) == {"sessionId": "a", "after": 5, "shown": {"m": 5}, "mcpServers": SERVERS}
        assert talk.message() == said
        talk.say(update(6, sessionUpdate="plan", entries=[]), answer(2, stopReason="end_turn"))
        assert client.message()["params"]["_meta"]["greenroom"]["seq"] == 6
        assert client.message() == answer(2, stopReason="end_turn")


def test_many_daemons_go_down_under_one_prompt_and_the_client_hears_each_event_once(
    daemon: FakeDaemon, client: Client, talk: Talk, tmp_path: Path
) -> None:
    said = prompt(client, talk, 2)
    for seq in range(4, 34):
        talk.say(update(seq, sessionUpdate="usage_update", used=seq, size=100))
        assert client.message()["params"]["update"]["used"] == seq
        successor = FakeDaemon(tmp_path)
        daemon.die()
        daemon = successor
        talk = daemon.accept()
        assert attached(talk)["after"] == seq
        assert talk.message() == said
    talk.say(answer(2, stopReason="end_turn"))
    assert client.message() == answer(2, stopReason="end_turn")
    daemon.die()


def test_questions_are_withdrawn_late_answers_dropped_and_the_next_ones_have_new_ids(
    daemon: FakeDaemon, client: Client, talk: Talk, tmp_path: Path
) -> None:
    said = prompt(client, talk, 2)
    talk.say(request(0, "session/request_permission", sessionId="a"))
    client.message()
    client.say(request(3, "session/list"))
    talk.message()
    with daemon.succeeded(tmp_path) as second:
        failed, withdrawn = client.message(), client.message()
        assert (failed["id"], failed["error"]["data"]["code"]) == (3, "daemon_restarted")
        assert (withdrawn["method"], withdrawn["params"]) == ("$/cancel_request", {"requestId": 0})
        client.say(answer(0, outcome={"outcome": "selected", "optionId": "yes"}))
        talk = second.accept()
        assert talk.greet()["first_question"] == 1
        assert [talk.message()["method"] for _ in range(2)] == ["initialize", "_greenroom/attach"]
        assert talk.message() == said
        client.say(request(4, "session/list"))
        assert talk.message()["id"] == 4


def test_a_daemon_that_was_killed_is_replaced_at_once_while_a_prompt_is_open(
    daemon: FakeDaemon, client: Client, talk: Talk, tmp_path: Path
) -> None:
    prompt(client, talk, 2)
    crashed(tmp_path)
    daemon.vanish()
    assert "no daemon in this test" in client.message()["error"]["message"]


def watched(client: Client, talk: Talk) -> None:
    """Let a turn run that no request of the client stands for."""
    talk.say(update(5, running=True, sessionUpdate="usage_update", used=1, size=2))
    client.message()


def test_a_daemon_that_was_killed_is_replaced_at_once_while_a_turn_is_watched(
    daemon: FakeDaemon, client: Client, talk: Talk, tmp_path: Path
) -> None:
    watched(client, talk)
    crashed(tmp_path)
    daemon.vanish()
    wait_until(lambda: "no daemon in this test" in client.log, "no daemon was started")


def test_a_daemon_that_was_stopped_in_a_turn_that_is_watched_is_left_alone(
    daemon: FakeDaemon, client: Client, talk: Talk
) -> None:
    watched(client, talk)
    daemon.vanish()
    wait_until(lambda: "went away" in client.log, "the bridge noticed nothing")
    assert client.silent(0.3)
    assert "no daemon in this test" not in client.log


def test_a_daemon_that_was_stopped_is_left_alone_until_the_client_says_something(
    daemon: FakeDaemon, client: Client, talk: Talk, tmp_path: Path
) -> None:
    said = prompt(client, talk, 2)
    daemon.vanish()
    wait_until(lambda: "went away" in client.log, "the bridge noticed nothing")
    assert client.silent(0.3)
    with FakeDaemon(tmp_path) as second:
        client.say({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "a"}})
        talk = second.accept()
        assert attached(talk)["after"] == 3
        assert talk.message() == said
        assert talk.message()["method"] == "session/cancel"


def test_a_prompt_that_was_half_sent_is_said_again_whole(
    daemon: FakeDaemon, client: Client, talk: Talk, tmp_path: Path
) -> None:
    client.say(request(2, "session/prompt", sessionId="a", prompt=[{"type": "text", "text": "x" * (4 << 20)}]))
    assert talk.sock.recv(1000)
    with daemon.succeeded(tmp_path) as second:
        talk = second.accept()
        attached(talk)
        assert len(talk.message()["params"]["prompt"][0]["text"]) == 4 << 20


def test_the_end_of_the_input_ends_the_bridge_within_a_second_and_no_turn(
    daemon: FakeDaemon, client: Client, talk: Talk
) -> None:
    prompt(client, talk, 2)
    assert client.leave() < 1.0
    left = client.message()
    assert (left["id"], left["error"]["data"]["code"]) == (2, "client_left")
    assert talk.line() == b""  # and no word of a cancel before
    assert daemon.nobody_comes(0.1)


def test_the_end_of_the_input_ends_a_bridge_without_a_daemon_too(
    daemon: FakeDaemon, client: Client, talk: Talk
) -> None:
    prompt(client, talk, 2)
    daemon.vanish()
    wait_until(lambda: "went away" in client.log, "the bridge noticed nothing")
    assert client.leave() < 1.0
    assert client.message()["error"]["data"]["code"] == "client_left"
