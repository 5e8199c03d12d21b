"""The bridge as a process between a client and a daemon that says what the test wants."""

import fcntl
import json
import os
import random
import signal
import sys
import termios
import threading
import time
from pathlib import Path

import pytest

from actors.vocabulary.errors import ActorGone, GreenroomError, NotAllowed, Overloaded
from tests.support.bridge import Client, FakeDaemon, Talk, answer, encoded, request, wait_until
from tests.support.standstill import standing_still
from transports import jsonrpc
from transports.bridge import messages
from transports.hello import UnknownProtocol

INITIALIZE = request(0, "initialize", protocolVersion="2025-11-25")
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


# --- moving lines ---------------------------------------------------------------------------------------------------


def test_the_hello_says_who_where_and_in_which_environment(daemon: FakeDaemon, client: Client) -> None:
    hello = daemon.accept().greet()
    assert hello["protocol"] == 1
    assert hello["dialect"] == "mcp"
    assert hello["client"]["pid"] == client.process.pid
    assert hello["client"]["cwd"] == str(Path.cwd())
    assert hello["client"]["env"]["SECRET_OF_THE_CLIENT"] == "kept in memory"
    assert "kept in memory" not in client.log


def test_the_defaults_of_the_command_line_are_in_the_hello(daemon: FakeDaemon, tmp_path: Path) -> None:
    arguments = ("-C", "sub", "-m", "gpt", "--profile", "p", "--sandbox", "read-only", "--approval", "never")
    with Client(tmp_path, *arguments, "-c", "a.b=3", "-c", "c=plain words", "-c", 'd="x=y"'):
        hello = daemon.accept().greet()
    assert hello["defaults"] == {
        "cwd": str(Path.cwd() / "sub"),
        "model": "gpt",
        "profile": "p",
        "sandbox": "read-only",
        "approval_policy": "never",
        "config": {"a.b": 3, "c": "plain words", "d": "x=y"},
    }


def test_lines_pass_byte_for_byte_in_both_directions(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    there = [b'{ "spaces" : 1 }\r\n', b"\n", b'"\xc3\xa9\\u00e9"\n', b"\xff\xfe not json\n", encoded(request(1))]
    client.say(*there)
    assert [talk.line() for _ in there] == there
    back = [b'{"jsonrpc": "2.0",  "id": 1, "result": {}}\n', b"\xff\n", b'{"method":"x"}\r\n']
    talk.say(*back)
    assert [client.line() for _ in back] == back


def test_a_line_of_16_mib_passes_both_ways_however_it_is_cut(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    line = encoded(request(1, text="é" * (4 << 20) + "x" * (8 << 20)))
    cuts = sorted(random.Random(7).sample(range(len(line)), 40))

    def say() -> None:
        for start, end in zip([0, *cuts], [*cuts, len(line)], strict=True):
            client.say(line[start:end])

    speaker = threading.Thread(target=say)
    speaker.start()
    heard = talk.line()
    speaker.join()
    assert heard == line

    big = encoded(answer(1, text="y" * (16 << 20)))
    speaker = threading.Thread(target=talk.say, args=(big,))
    speaker.start()
    heard = client.line()
    speaker.join()
    assert heard == big


def test_a_last_line_without_its_newline_is_a_line(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(encoded(request(1))[:-1])
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert talk.message()["id"] == 1


def test_a_client_that_does_not_read_stops_the_daemon_and_not_the_bridges_memory(
    daemon: FakeDaemon, client: Client
) -> None:
    talk = daemon.greet()
    piece = encoded({"jsonrpc": "2.0", "method": "codex/event", "params": "x" * 10_000})
    sent = fill(talk.sock.fileno(), piece)
    assert sent < 8 << 20
    assert resident_mib(client.process.pid) < 24
    for _ in range(sent // len(piece)):
        assert client.line() == piece


def test_a_daemon_that_does_not_read_stops_the_client(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    assert client.process.stdin is not None
    piece = encoded({"jsonrpc": "2.0", "method": "note", "params": "x" * 10_000})
    sent = fill(client.process.stdin.fileno(), piece)
    assert sent < 8 << 20
    assert resident_mib(client.process.pid) < 24
    for _ in range(sent // len(piece)):
        assert talk.line() == piece


def fill(descriptor: int, piece: bytes) -> int:
    """Write until nothing more is taken for a while; returns how many bytes were."""
    os.set_blocking(descriptor, False)
    sent, quiet = 0, 0
    while quiet < 20:
        try:
            at = sent % len(piece)
            sent += os.write(descriptor, piece[at:])
            quiet = 0
        except BlockingIOError:
            quiet += 1
            threading.Event().wait(0.01)
    os.set_blocking(descriptor, True)
    rest = sent % len(piece)
    if rest:  # the last piece leaves when somebody reads
        threading.Thread(target=os.write, args=(descriptor, piece[rest:])).start()
        sent += len(piece) - rest
    return sent


def resident_mib(pid: int) -> float:
    fields = Path(f"/proc/{pid}/status").read_text().split("VmRSS:")[1].split()
    return int(fields[0]) / 1024


# --- daemons come and go --------------------------------------------------------------------------------------------


def test_a_new_daemon_hears_the_handshake_again_and_the_client_goes_on(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    talk = daemon.greet()
    shake_hands(client, talk)
    daemon.vanish()
    with FakeDaemon(tmp_path) as second:
        talk = second.greet()
        replayed = talk.message()
        assert replayed["method"] == "initialize"
        assert replayed["params"] == INITIALIZE["params"]
        assert talk.message() == INITIALIZED
        talk.say(answer(replayed["id"]))
        client.say(request(2))
        assert talk.message() == request(2)
        talk.say(answer(2))
        assert client.message() == answer(2)  # and not the answer to the replayed initialize


def test_open_requests_fail_and_open_questions_are_withdrawn(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    talk = daemon.greet()
    shake_hands(client, talk)
    client.say(request(1), request("1"))
    talk.line(), talk.line()
    talk.say({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {}})
    client.line()
    daemon.vanish()
    first, second, withdrawn = (client.message() for _ in range(3))
    assert [first["id"], second["id"]] == [1, "1"]
    assert first["error"]["data"] == {"code": "daemon_restarted", "retryable": True}
    assert withdrawn["method"] == "notifications/cancelled"
    assert withdrawn["params"]["requestId"] == "q"
    with FakeDaemon(tmp_path) as second_daemon:
        talk = second_daemon.greet()
        talk.line(), talk.line()
        client.say(answer("q", action="accept"), request(2))
        assert talk.message()["id"] == 2  # the late answer could hit a question of this daemon


def test_the_last_answers_of_a_daemon_that_goes_are_delivered(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(request(1), request(2))
    talk.line(), talk.line()
    talk.say(answer(1))
    daemon.vanish()
    assert client.message() == answer(1)
    assert client.message()["error"]["data"]["code"] == "daemon_restarted"


def test_the_last_answers_are_delivered_although_the_daemon_takes_nothing_more(
    daemon: FakeDaemon, client: Client
) -> None:
    """More than one read of them, while there is something to send."""
    talk = daemon.greet()
    for number in range(40):
        client.say(request(number))
        talk.line()
    with standing_still(client.process.pid):
        talk.say(*(answer(number, text="x" * 4_000) for number in range(40)))
        client.say(request(40))
        daemon.vanish()
    assert [client.message() for _ in range(40)] == [answer(number, text="x" * 4_000) for number in range(40)]
    assert client.message()["id"] == 40


def test_half_a_line_of_a_daemon_that_goes_never_reaches_the_client(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(request(1))
    talk.line()
    talk.say(b'{"jsonrpc":"2.0","id":1,"resu')
    daemon.vanish()
    assert client.message()["error"]["data"]["code"] == "daemon_restarted"


def test_a_request_that_was_never_sent_goes_to_the_next_daemon(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    talk = daemon.accept()  # and no welcome yet
    client.say(request(1))
    talk.message()
    with daemon.succeeded(tmp_path) as second:
        talk = second.greet()
        assert talk.message() == request(1)
        talk.say(answer(1))
        assert client.message() == answer(1)


def test_a_request_behind_a_line_that_the_old_daemon_never_took_goes_to_the_next_one(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    talk = daemon.greet()
    big = encoded(request(1, text="x" * (4 << 20)))
    writer = threading.Thread(target=client.say, args=(big, request(2)))
    writer.start()
    talk.sock.recv(100_000)
    writer.join()  # all of it is with the bridge, and only a part of the first line with the daemon
    with daemon.succeeded(tmp_path) as second:
        assert client.message()["id"] == 1
        assert second.greet().message() == request(2)


def test_an_initialize_that_the_old_daemon_did_not_answer_is_answered_by_the_next(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    talk = daemon.greet()
    client.say(INITIALIZE)
    talk.line()
    with daemon.succeeded(tmp_path) as second:
        talk = second.greet()
        assert talk.message() == INITIALIZE
        talk.say(answer(0, serverInfo={}))
        assert client.message() == answer(0, serverInfo={})


def test_a_bridge_starts_no_daemon_after_one_was_stopped_until_the_client_asks_something(tmp_path: Path) -> None:
    code = f"import os, pathlib; pathlib.Path({str(tmp_path)!r}, 'started').touch(); os.write(3, b'no daemon today')"
    with FakeDaemon(tmp_path) as daemon, Client(tmp_path, "--launch", code) as client:
        shake_hands(client, daemon.greet())
        daemon.vanish()
        wait_until(lambda: "went away" in client.log, "the bridge noticed nothing")
        client.say(
            {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
        )
        assert client.ask(5, "ping") == answer(5)
        assert not (tmp_path / "started").exists()
        assert "no daemon today" in client.ask(6)["error"]["message"]
        assert (tmp_path / "started").exists()


def shake_hands(client: Client, talk: Talk) -> None:
    client.say(INITIALIZE)
    assert talk.message() == INITIALIZE
    talk.say(answer(0))
    assert client.message() == answer(0)
    client.say(INITIALIZED)
    assert talk.message() == INITIALIZED


# --- daemons that do not want us ------------------------------------------------------------------------------------


def refuse(daemon: FakeDaemon, error: GreenroomError) -> None:
    talk = daemon.accept()
    talk.line()
    talk.say(jsonrpc.refusal_line(None, error))
    talk.close()


NEWER = UnknownProtocol("this is protocol 2, the client speaks 1", ours=2, theirs=1)


def test_a_daemon_of_another_version_is_named_in_the_answer_to_each_request(
    daemon: FakeDaemon, client: Client
) -> None:
    refuse(daemon, NEWER)
    wait_until(lambda: "the client speaks 1" in client.log, "the refusal was not noted")
    for number in (0, 1):
        asking = threading.Thread(target=refuse, args=(daemon, NEWER))
        asking.start()
        error = client.ask(number, "initialize")["error"]
        asking.join()
        assert "this is protocol 2, the client speaks 1" in error["message"]
        assert "greenroom down" in error["message"]
        assert error["data"]["code"] == "unknown_protocol"


def test_a_daemon_that_has_too_much_to_do_is_asked_again(daemon: FakeDaemon, client: Client) -> None:
    for _ in range(2):
        refuse(daemon, Overloaded("2000 clients are connected; try again later"))
    client.say(request(1))
    assert daemon.greet().message() == request(1)


def test_a_request_that_comes_while_a_daemon_refuses_for_now_is_not_forgotten(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    """Nobody had asked for this daemon: the bridge was only looking for one."""
    shake_hands(client, daemon.greet())
    with daemon.succeeded(tmp_path) as second:
        talk = second.accept()
        talk.line()
        client.say(request(1))
        wait_until(lambda: unread(client) == 0, "the bridge did not take it")
        talk.say(jsonrpc.refusal_line(None, Overloaded("try again")))
        talk.close()
        began = time.monotonic()
        talk = second.greet()
        assert talk.message()["method"] == "initialize"
        assert talk.message() == INITIALIZED
        assert talk.message() == request(1)
        assert time.monotonic() - began < 2


def unread(client: Client) -> int:
    """The number of bytes in the pipe to the bridge."""
    assert client.process.stdin is not None
    return int.from_bytes(fcntl.ioctl(client.process.stdin.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder)


def test_notifications_without_a_daemon_do_not_block_the_request_behind_them(tmp_path: Path) -> None:
    with FakeDaemon(tmp_path) as daemon, Client(tmp_path) as client:
        shake_hands(client, daemon.greet())
        daemon.vanish()
        wait_until(lambda: "went away" in client.log, "the bridge noticed nothing")
        piece = encoded({"jsonrpc": "2.0", "method": "note", "params": "x" * 10_000})
        client.say(piece * 400, request(1))
        assert client.message()["id"] == 1


def test_a_daemon_that_refuses_for_good_is_not_asked_again_before_the_client_is(
    daemon: FakeDaemon, client: Client
) -> None:
    refuse(daemon, NotAllowed("this daemon serves uid 1, you are uid 2"))
    assert daemon.nobody_comes(0.3)
    client.say(request(1))
    assert daemon.greet().message() == request(1)


def test_a_daemon_that_hangs_up_without_a_word_is_tried_again(daemon: FakeDaemon, client: Client) -> None:
    daemon.accept().close()
    client.say(request(1))
    assert daemon.greet().message() == request(1)


# --- signals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(daemon: FakeDaemon, client: Client, signum: signal.Signals) -> None:
    daemon.greet()
    client.process.send_signal(signum)
    assert client.process.wait(5) == 128 + signum
    assert client.process.stderr is not None
    assert client.process.stderr.read() == b""
    assert signum.name in client.log


def test_open_requests_are_answered_before_a_signal_ends_the_bridge(daemon: FakeDaemon, client: Client) -> None:
    talk = daemon.greet()
    client.say(request(1))
    talk.line()
    client.process.send_signal(signal.SIGTERM)
    assert json.loads(client.line())["error"]["data"]["code"] == "client_left"


def test_the_constants_that_the_bridge_copies_to_save_imports_are_equal() -> None:
    assert ActorGone.jsonrpc == messages.GONE
