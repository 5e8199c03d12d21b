"""Servers of tools in a whole daemon: shared, asked about over the socket, and gone when it is, however it ends."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.daemon_harness import until
from tests.supervisor.daemon.api.conftest import config_with
from tests.supervisor.work.commands import ON_LINUX
from tests.support import scripted_mcp_server
from tests.support.control_judge import judge
from tests.support.control_peer import ControlPeer
from tests.support.daemon_process import DaemonProcess
from tests.support.model_server import ModelServer

pytestmark = ON_LINUX
GONE_S = 10.0
TOYS = f"""
[mcp_servers.toys]
command = {json.dumps(sys.executable)}
args = [{json.dumps(scripted_mcp_server.__file__)}, "stays"]
tools = {{ environment = {{ approval_mode = "approve" }} }}
"""


@pytest.fixture
def own(home: Path, model: ModelServer) -> Iterator[DaemonProcess]:
    with DaemonProcess(home, config_with(model) + TOYS, judge=judge) as daemon:
        yield daemon


def server_pid(client: ControlPeer) -> int:
    one = client.create(model="m")
    client.call("conversation/send", conversation=one, prompt="call toys__environment {}; then; say done", wait=True)
    page = client.call("conversation/history", conversation=one, before=1 << 60, limit=50)
    (output,) = [event["event"]["output"] for event in page["events"] if event["event"]["type"] == "tool_output"]
    return int(json.loads(output)["pid"])


def lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def test_a_killed_daemon_leaves_no_server_even_if_that_does_not_care_for_its_input(own: DaemonProcess) -> None:
    pid = server_pid(own.connect())
    assert lives(pid)
    own.hang_up()
    own.kill()
    until(lambda: not lives(pid), "the server outlived its daemon", GONE_S)


def test_a_daemon_that_ends_in_order_ends_its_servers_first(own: DaemonProcess) -> None:
    pid = server_pid(own.connect())
    assert os.getpgid(pid) == pid, "a group of its own"
    own.hang_up()
    assert own.end() == 0
    assert not lives(pid)


def test_a_question_about_a_tool_is_listed_and_answered_over_the_socket(own: DaemonProcess) -> None:
    client, other = own.connect(), own.connect("other")
    one = client.create(model="m")
    script = 'call toys__write {"text": "hello"}; then; say done'
    sent = client.start("conversation/send", conversation=one, prompt=script, wait=True)
    watching = client.attach(one)
    client.wait_type(watching, "approval_requested")
    (question,) = other.call("approvals/list")["approvals"]
    assert question["conversation"] == one
    called = {"server": "toys", "tool": "write", "arguments": '{"text": "hello"}'}
    assert question["subject"] == {"kind": "tool", **called}
    other.call("approvals/answer", approval=question["approval_id"], decision="approved")
    assert client.answer(sent)["message"] == "done"
