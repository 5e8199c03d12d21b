"""A daemon gives back at once what has ended: in this one no collector runs, and nothing of ours waits for one.

Each way through a conversation is gone several times. Then no object of ours is left of it, and in all that a
collector finds is none: a session, a turn or a connection in a ring would stay until the collector comes, which
has to look through all that lives and stops everybody meanwhile.
"""

import json
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support import acp_agent, scripted_mcp_server
from tests.support.control_peer import TERMINAL, Refused, Subscription, dial, hello
from tests.support.counting_daemon import COUNTS
from tests.support.daemon_process import DaemonProcess
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.long(takes_s=15)

WAIT_S = 20.0
ROUNDS = 2
SERVERS = 1  # MCP servers that go on running
IN_A_RING_OF_HTTPX = {
    "supervisor.agents.own.model.http_transport.AnswerBody"
}  # with its response, if the client has asked
ENDED = {
    *("actors.conversation.session.Session", "actors.runtime.shared._Place", "transports.connection.Connection"),
    *(
        "supervisor.agents.turn.Turn",
        "supervisor.engine.runner.RunningTurn",
        "supervisor.agents.acp.agent_process.AgentProcess",
    ),
}
# Kept for seconds or in a bounded number, and free of what has ended: timers, failures of the last minute, the output
# of jobs, connections to the model that are used again.
KEPT = (
    *("actors.runtime.base.Ref", "actors.journal.", "actors.vocabulary.", "actors.routing.", "transports.messages."),
    *("actors.messages.journal.", "actors.messages.routing."),
    *("supervisor.work.jobs.", "supervisor.work.processes.input.", "supervisor.agents.own.model.http_transport."),
    "supervisor.agents.own.model.moving_timer.",
)
BESIDE = 8  # ways that are gone side by side: most of each is waiting
CONFIG = """
model_provider = "scripted"
model = "m"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[greenroom]
idle_park_seconds = {park_s}
interrupt_grace_ms = 150
drain_seconds = 0
limits.agent_idle_seconds = 0.01
[model_providers.scripted]
base_url = "{url}"
wire_api = "chat"
request_max_retries = 1
stream_max_retries = 1
[agents.pal]
command = "{python}"
args = ["{agent}"]
confine = "none"
[agents.stillborn]
command = "{python}"
args = ["{agent}", "--die-first=no"]
confine = "none"
[mcp_servers.board]
command = "{python}"
args = ["{board}"]
"""


class House:
    """The daemon, and a client that stays."""

    def __init__(self, daemon: DaemonProcess, counts: Path) -> None:
        self.daemon = daemon
        self.client = daemon.connect()
        self._counts = counts

    def counted(self) -> dict[str, dict[str, int]]:
        self.daemon.signal(signal.SIGUSR2)
        return self.found()

    def found(self) -> dict[str, dict[str, int]]:
        """The last count, which is taken away, so that the next is a new one."""
        until(self._counts.exists, "the daemon never counted")
        counts: dict[str, dict[str, int]] = json.loads(self._counts.read_text(encoding="utf-8"))
        self._counts.unlink()
        return counts

    def rest(self) -> None:
        """Wait until nothing is live: no session, no program of an agent, no process."""
        until(self._rests, "it did not come to rest")

    def _rests(self) -> bool:
        status = self.client.call("daemon/status")
        children = status["other_agents"].get("children", 0)
        busy = (status["registry"]["live"], status["agents"]["turns"], children)
        return not any(busy) and status["clients"] == 1 and status["processes"]["turns"] <= SERVERS

    # --- what people do -------------------------------------------------------------------------------------------

    def open(self, **settings: Any) -> tuple[str, Subscription]:
        conversation = self.client.create(**settings)
        return conversation, self.client.attach(conversation)

    def say(self, conversation: str, prompt: str) -> None:
        """Say it, and wait for the turn's end, well or not."""
        with suppress(Refused):
            self.client.send(conversation, prompt)

    def turn(self, prompt: str, **settings: Any) -> str:
        conversation = self.client.create(**settings)
        self.say(conversation, prompt)
        return conversation

    def begin(self, prompt: str, until_type: str, **settings: Any) -> tuple[str, Subscription]:
        conversation, reader = self.open(**settings)
        self.client.send(conversation, prompt, wait=False)
        self.client.wait_type(reader, until_type)
        return conversation, reader

    def leave(self, reader: Subscription) -> None:
        self.client.call("conversation/detach", subscription=reader.name)

    def interrupt(self, conversation: str, reader: Subscription) -> None:
        self.client.call("conversation/interrupt", conversation=conversation)
        self.leave(reader)

    def decide(self, reader: Subscription, kind: str, decision: str) -> None:
        asked = next(one["event"] for one in reader.stored if one["event"]["type"] == kind)
        self.client.call("approvals/answer", approval=asked["approval_id"], decision=decision)

    def ended(self, reader: Subscription) -> None:
        self.client.wait_for(lambda: bool(TERMINAL & set(reader.types)), "the turn never ended")
        self.leave(reader)


def until(condition: Callable[[], object], otherwise: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.005)


@contextmanager
def house_at(home: Path, idle_park_s: int) -> Iterator["House"]:
    counts = home / "counts.json"
    with ModelServer() as model:
        files = {"agent": acp_agent.__file__, "board": scripted_mcp_server.__file__}
        config = CONFIG.format(url=model.base_url, python=sys.executable, park_s=idle_park_s, **files)
        program = "tests.support.counting_daemon"
        with DaemonProcess(home, config, {COUNTS: str(counts)}, program=program) as daemon:
            yield House(daemon, counts)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The daemon is shared, and has loaded all that is loaded once."""
    with house_at(tmp_path_factory.mktemp("home"), 0) as house:
        for kind in WAYS:
            go(house, kind)
        house.counted()
        yield house


Way = Callable[[House], object]


def says(prompt: str, **settings: Any) -> Way:
    return lambda house: house.turn(prompt, **settings)


def begins(prompt: str, **settings: Any) -> Way:
    """A turn that goes on beside the others."""
    return lambda house: house.client.send(house.client.create(**settings), prompt, wait=False)


def interrupts(prompt: str, kind: str, **settings: Any) -> Way:
    return lambda house: house.interrupt(*house.begin(prompt, kind, **settings))


def decides(prompt: str, kind: str, decision: str, **settings: Any) -> Way:
    def way(house: House) -> None:
        _, reader = house.begin(prompt, kind, approval_policy="untrusted", **settings)
        house.decide(reader, kind, decision)
        house.ended(reader)

    return way


def park_with_a_question(house: House) -> None:
    """Parked while it waits for an answer, as its client has gone, and woken by that of another."""
    with house.daemon.connect("other") as other:
        conversation = other.create(approval_policy="untrusted")
        reader = other.attach(conversation)
        other.send(conversation, ASKS, wait=False)
        other.wait_type(reader, "approval_requested")
    house.rest()
    house.decide(reader, "approval_requested", "denied")


def interrupt_a_deaf_one(house: House) -> None:
    """An agent that does not hear that it is to stop, which takes its time."""
    conversation, reader = house.begin("deaf 30", "user_message", agent="pal")
    house.client.start("conversation/interrupt", conversation=conversation)
    house.leave(reader)


def replace_a_turn(house: House) -> None:
    """A message that takes the place of a turn."""
    conversation, reader = house.begin("stall forever", "task_started")
    house.client.send(conversation, "say instead", if_busy="interrupt")
    house.leave(reader)


def steer(house: House) -> None:
    conversation, reader = house.begin('call shell ["sleep", "0.05"]; then; say done', "work_began")
    house.client.send(conversation, "say more")
    house.leave(reader)


def delete(house: House) -> None:
    house.client.call("conversation/delete", conversation=house.turn("say hello"))


def fail(house: House) -> None:
    """A bug in the core: the session is replaced by another, which comes to rest."""
    house.say(house.turn("say hello"), "poison")


def restart(house: House) -> None:
    house.client.call("conversation/restart", conversation=house.turn("status 400 times=all no"))


def fork(house: House) -> None:
    made = house.client.call("conversation/fork", conversation=house.turn("say hello"))
    house.say(made["conversation"], "say hello")


def hang_up(house: House) -> None:
    """A client that goes while it reads a turn of its own."""
    with house.daemon.connect("other") as other:
        conversation = other.create()
        other.attach(conversation)
        other.send(conversation, "stream 20", wait=False)


def lag(house: House) -> None:
    """A client that reads nothing while much is said, and then goes."""
    conversation = house.client.create()
    with dial(house.daemon.socket) as silent:
        asked = {"conversation": conversation, "after": 0}
        request = {"jsonrpc": "2.0", "id": 1, "method": "conversation/attach", "params": asked}
        silent.sendall(hello("silent") + json.dumps(request).encode() + b"\n")
        house.say(conversation, f"say {'word ' * 50_000}")


def look(house: House) -> None:
    with house.daemon.connect("other") as other:
        other.call("conversation/list")
        other.refusal("conversation/get", conversation="none")


def speak_nonsense(house: House) -> None:
    with dial(house.daemon.socket) as sock:
        sock.sendall(b"nonsense\n")
        sock.recv(100)


ASKS = 'call shell ["sh", "-c", "touch x"]; then; say done'
OWN: dict[str, Way] = {
    "a word": says("say hello"),
    "a stream": says("stream 50"),
    "reasoning": says("reason one | two; say three"),
    "a command": says('call shell ["sh", "-c", "echo hi"]; then; say done'),
    "a command too long": says('call shell {"command": ["sleep", "5"], "timeout": 50}; then; say done'),
    "no such command": says('call shell ["/no/such"]; then; say done'),
    "commands side by side": says('call shell ["echo", "a"]; call shell ["echo", "b"]; then; say done'),
    "a sandbox": says('call shell ["echo", "hi"]; then; say done', sandbox="read-only"),
    "a job": says('call shell {"command": ["sleep", "0.02"], "background": "conversation"}; then; say done'),
    "a job of the turn": says('call shell {"command": ["sleep", "5"], "background": "turn"}; then; say done'),
    "no such tool": says("call nothing {}; then; say done"),
    "a plan": says('call update_plan {"plan": [{"step": "a", "status": "pending"}]}; then; say done'),
    "no patch": says("patch nonsense; then; say done"),
    "a server's tool": says('call board__echo {"text": "x"}; then; say done'),
    "the demo model": begins("hello", provider="demo"),
    "a refused request": says("status 400 times=all no"),
    "a second try": says("status 500; say hello"),
    "a cut answer": says("cut 20 times=all; say hello"),
    "no answer": says("drop times=all; say hello"),
    "an answer of nonsense": says("malformed times=all; say hello"),
    "an error in the answer": says("fail 500 no times=all; say hello"),
    "an interrupted model": interrupts("stall forever", "task_started"),
    "an interrupted command": interrupts('call shell ["sleep", "30"]', "work_began"),
    "an interrupted question": interrupts(ASKS, "approval_requested", approval_policy="untrusted"),
    "a yes": decides(ASKS, "approval_requested", "approved"),
    "a no": decides(ASKS, "approval_requested", "denied"),
    "an abort": decides(ASKS, "approval_requested", "abort"),
}
AGENTS: dict[str, Way] = {
    name: says(prompt, agent="pal")
    for name, prompt in {
        "a word": "say hello",
        "a plan": "plan a, b",
        "a command": "run echo hi",
        "a terminal": "terminal echo hi",
        "a terminal that is shown": "shown echo hi",
        "a file that is read": "read /etc/hostname",
        "an error": "error no",
        "its end": "die 3 words",
        "a kill": "kill",
        "words that come late": "late words",
        "an open call": "open",
        "an unknown request": "unknown",
    }.items()
}
AGENTS |= {
    "stillborn": says("say hello", agent="stillborn"),
    "an interrupted word": interrupts("slow 30", "user_message", agent="pal"),
    "an interrupted terminal": interrupts("terminal sleep 30", "work_began", agent="pal"),
    "a deaf one": interrupt_a_deaf_one,
    "a yes": decides("ask echo hi", "approval_requested", "approved", agent="pal"),
    "a no": decides("ask echo hi", "approval_requested", "denied", agent="pal"),
}
ENDS: dict[str, Way] = {
    "opened": lambda house: house.client.create(),
    "parked with a question": park_with_a_question,
    "replaced": replace_a_turn,
    "steered": steer,
    "deleted": delete,
    "failed": fail,
    "restarted": restart,
    "forked": fork,
}
CLIENTS: dict[str, Way] = {
    "hung up": hang_up,
    "lagged": lag,
    "looked": look,
    "spoke nonsense": speak_nonsense,
}
WAYS = {"own": OWN, "agents": AGENTS, "ends": ENDS, "clients": CLIENTS}


def go(house: House, kind: str) -> None:
    """Go all ways of a kind, and wait until nothing of them is live."""
    with ThreadPoolExecutor(BESIDE) as pool:
        list(pool.map(lambda way: way(house), WAYS[kind].values()))
    house.rest()


@pytest.mark.parametrize("kind", WAYS)
def test_nothing_that_has_ended_waits_for_a_collector(house: House, kind: str) -> None:
    house.rest()
    before = house.counted()["alive"]
    for _ in range(ROUNDS):
        go(house, kind)
    counted = house.counted()
    held = counted["held"].keys() - IN_A_RING_OF_HTTPX
    assert not held, counted["rings"]
    left = {name: count - before.get(name, 0) for name, count in counted["alive"].items()}
    assert not {name: more for name, more in left.items() if more >= ROUNDS and not name.startswith(KEPT)}


def test_a_daemon_that_stops_leaves_no_actor_and_no_turn(tmp_path: Path) -> None:
    """Its sessions live when it is told to stop; one works."""
    with house_at(tmp_path / "home", 600) as house:
        house.turn("say hello")
        house.turn("say hello", agent="pal")
        house.begin("stall forever", "task_started")
        assert house.counted()["alive"]["actors.conversation.session.Session"] == 3
        house.daemon.hang_up()
        house.daemon.end()
        counted = house.found()
    assert not (counted["held"].keys() | counted["alive"].keys()) & ENDED, counted["rings"]
