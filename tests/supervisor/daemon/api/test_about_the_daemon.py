"""Methods about the daemon itself: clients, config, status, stopping; and errors before any method."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.supervisor.daemon.api.conftest import SECRET, config_with
from tests.support.bridge import wait_until
from tests.support.control_judge import document, judge
from tests.support.control_peer import WAIT_S, ControlPeer
from tests.support.daemon_process import DaemonProcess
from tests.support.model_server import ModelServer


@pytest.fixture
def own(model: ModelServer, home: Path) -> Iterator[DaemonProcess]:
    with DaemonProcess(home, config_with(model), judge=judge) as daemon:
        yield daemon


def test_the_daemon_says_who_it_is(client: ControlPeer, daemon: DaemonProcess) -> None:
    status = client.call("daemon/status")
    assert status["pid"] == daemon.pid
    assert status["version"] == client.welcome["greenroom"]["version"]
    assert status["instance"] == client.welcome["greenroom"]["instance"]
    assert status["config"] == str(daemon.home / "config.toml")
    assert status["journal_repaired"] is None
    assert status["journal_bytes"] >= Path(status["journal"]).stat().st_size > 0


def test_it_says_how_much_waits_for_each_of_those_that_everybody_depends_on(client: ControlPeer) -> None:
    client.create()

    def waiting() -> list[int]:
        status = client.call("daemon/status")
        return [status[name]["waiting"] for name in ("registry", "journalist", "librarian", "directory")]

    wait_until(lambda: waiting() == [0, 0, 0, 0], "something waits for ever in a daemon that has nothing to do")
    assert client.call("daemon/status")["journalist"]["commits"] > 0


def test_the_schema_it_answers_with_is_the_one_that_its_messages_are_checked_by(client: ControlPeer) -> None:
    assert client.call("schema") == document()


def test_clients_are_listed_and_can_be_sent_away(client: ControlPeer, daemon: DaemonProcess) -> None:
    guest = daemon.connect("guest")
    listed = client.call("clients/list")["clients"]
    (me,) = [one for one in listed if one["you"]]
    (found,) = [one for one in listed if one["name"] == "guest"]
    assert (me["name"], me["cwd"], found["version"]) == ("test", str(daemon.home), "1")
    assert found["pid"] == me["pid"], "both are this process"
    assert client.call("clients/kill", connection=found["connection"]) == {}
    guest.wait_gone()
    again = client.refusal("clients/kill", connection=found["connection"])
    assert again.name == "invalid_input"
    assert found["connection"] not in [one["connection"] for one in client.call("clients/list")["clients"]]


def test_the_config_is_shown_without_secrets_and_by_key(client: ControlPeer) -> None:
    whole = client.call("config/get")
    assert SECRET not in json.dumps(whole)
    assert whole["value"]["model_provider"] == "scripted"
    assert client.call("config/get", key="model_provider")["value"] == "scripted"
    assert client.call("config/get", key="greenroom.limits.queue_length")["value"] == 100
    for key in ("model_providers.scripted", "model_providers.scripted.http_headers"):
        assert SECRET not in json.dumps(client.call("config/get", key=key))
    for key in ("nothing", "model_provider.deeper", "greenroom..limits", "model_providers.nobody"):
        assert client.refusal("config/get", key=key).name == "config"


def test_overrides_with_secrets_are_not_kept_in_the_history(client: ControlPeer) -> None:
    headers = {"Authorization": f"Bearer {SECRET}"}
    made = client.call("conversation/create", config={"model_providers.scripted.http_headers": headers})
    assert SECRET not in json.dumps(made)
    assert SECRET not in json.dumps(client.call("conversation/history", conversation=made["conversation"]))


def test_a_reload_says_what_changed_and_a_broken_config_changes_nothing(own: DaemonProcess) -> None:
    client = own.connect()
    assert client.call("daemon/reload")["changes"] == []
    own.write_config(own.config.replace('model_provider = "scripted"', 'model_provider = "demo"\nmodel = "m2"'))
    changes = {one["key"]: (one["old"], one["new"]) for one in client.call("daemon/reload")["changes"]}
    assert changes.keys() == {"model_provider", "model"}
    assert "demo" in changes["model_provider"][1]
    assert client.call("config/get", key="model")["value"] == "m2"
    assert client.call("conversation/create")["settings"]["model"] == "m2"
    for broken in ('approval_policy = "shrug"', "model = ", 'profile = "nobody"'):
        own.write_config(broken)
        refusal = client.refusal("daemon/reload")
        assert refusal.name == "config"
        assert "config.toml" in refusal.message
        assert client.call("config/get", key="model")["value"] == "m2"
    own.write_config(own.config.replace(SECRET, "sk-another-secret-987654321"))
    told = json.dumps(client.call("daemon/reload"))
    assert "http_headers" in told
    assert "secret" not in told.replace("http_headers", "")


def test_a_config_that_is_gone_stays_in_force_until_a_file_says_otherwise(own: DaemonProcess) -> None:
    peer = own.connect()
    own.write_config('model_provider = "demo"\nsandbox_mode = "workspace-write"\n')
    peer.call("daemon/reload")
    (own.home / "config.toml").unlink()
    assert "config.toml is gone" in peer.refusal("daemon/reload").message
    assert peer.call("config/get", key="sandbox_mode")["value"] == "workspace-write"
    own.write_config("")
    assert "sandbox_mode" in {change["key"] for change in peer.call("daemon/reload")["changes"]}


def test_down_is_answered_before_the_socket_goes(own: DaemonProcess) -> None:
    client, bystander = own.connect(), own.connect("bystander")
    assert client.call("daemon/down", drain_s=0) == {"drain_s": 0}
    client.wait_gone()
    bystander.wait_gone()
    assert own.wait() == 0
    assert not own.socket.exists()


def test_down_lets_a_turn_end_within_its_time_and_its_sender_is_answered(
    own: DaemonProcess, model: ModelServer
) -> None:
    client = own.connect()
    one = client.create()
    sent = client.start("conversation/send", conversation=one, prompt="hold drained; say done", wait=True)
    model.wait_held("drained")
    down = client.call("daemon/down", drain_s=WAIT_S)
    assert down == {"drain_s": WAIT_S}
    refused = client.refusal("conversation/send", conversation=client_made(client, one), prompt="more")
    assert refused.data["retryable"] is True
    model.open("drained")
    assert client.answer(sent)["message"] == "done"
    assert own.wait() == 0


def client_made(client: ControlPeer, known: str) -> str:
    """A parked conversation, after a check that no further one can be created now."""
    refusal = client.refusal("conversation/create")
    assert refusal.data["retryable"] is True
    return known


# --- before any method --------------------------------------------------------------------------------------------


def test_wrong_lines_are_answered_and_the_connection_goes_on(client: ControlPeer) -> None:
    for line, code in [
        (b"{\n", -32700),
        (b"\xff\n", -32700),
        (b"[]\n", -32600),
        (b'{"jsonrpc":"1.0","id":null,"method":"schema"}\n', -32600),
    ]:
        client.raw(line)
        stray = client.strays.get(timeout=WAIT_S)
        assert (stray["id"], stray["error"]["code"]) == (None, code)
    assert client.refusal("conversation/destroy").code == -32601
    assert client.refusal("conversation/get").message.startswith("conversation")
    client.raw(b'{"method":"daemon/down"}\n\n')
    assert client.call("clients/list")["clients"]


def test_an_open_id_is_not_taken_twice_and_too_many_requests_are_retryable(client: ControlPeer) -> None:
    one = client.create()
    client.send(one, "stall forever", wait=False)
    limit = client.call("config/get", key="greenroom.limits.requests_in_flight")["value"]
    waiting = [
        client.start("conversation/send", conversation=one, prompt="p", wait=True, if_busy="enqueue")
        for _ in range(limit)
    ]
    over = client.refusal("conversation/get", conversation=one)
    assert (over.name, over.data["retryable"]) == ("overloaded", True)
    client.raw(json.dumps({"id": waiting[0], "method": "request/cancel", "params": {"request": 0}}).encode() + b"\n")
    with pytest.raises(Exception, match="not answered yet"):
        client.answer(waiting[0])
    client.call("conversation/interrupt", conversation=one)
    for request in waiting[1:]:
        client.call("request/cancel", request=request)
    for request in waiting[1:]:
        with pytest.raises(Exception, match="-31011"):
            client.answer(request)
    assert client.call("conversation/get", conversation=one)["state"] == "idle"


TRIMMING = """
import sys
import supervisor.engine.retention_timer
supervisor.engine.retention_timer.EVERY_S = 0.2
supervisor.engine.retention_timer.RetentionTimer.__init__.__defaults__ = (0.2,)
supervisor.engine.retention_timer.RetentionTimer.begin.__defaults__ = (0.2,)
from supervisor.__main__ import run
sys.exit(run())
"""


def test_conversations_beyond_the_limit_go_and_leave_no_ghost(home: Path) -> None:
    """A daemon that looks five times in a second, and not once in an hour."""
    (home / "hasty").mkdir(parents=True)
    (home / "hasty" / "hasty.py").write_text(TRIMMING)
    config = (
        'model_provider = "demo"\n[greenroom]\nidle_park_seconds = 1\n[greenroom.retention]\nmax_conversations = 2\n'
    )
    environ = {"PYTHONPATH": str(home / "hasty")}
    with DaemonProcess(home, config, environ, program="hasty") as daemon:
        client = daemon.connect()
        watched = client.create()
        client.attach(watched)
        made = [client.create() for _ in range(4)]

        def known() -> set[str]:
            return {row["conversation"] for row in client.call("conversation/list")["conversations"]}

        wait_until(lambda: len(known()) == 2, "they are all still there")
        assert known() == {watched, made[-1]}, "the one that is watched, and the most recently used"
        for one in made[:-1]:
            assert client.refusal("conversation/get", conversation=one).name == "unknown_conversation"
        daemon.hang_up()
        daemon.kill()
        daemon.start()
        client = daemon.connect()
        assert known() == {watched, made[-1]}
