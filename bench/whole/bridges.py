"""A turn of one word over `greenroom acp`, next to the same over `greenroom mcp`: by turns, on the same daemon."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bench.whole.floors import timed_ms
from bench.whole.peer import McpClient, Message
from bench.whole.rows import Figure, p50, p99
from bench.whole.stage import DaemonAndModel
from tests.faults.daemon_harness import DaemonHarness, served_by, until

TURNS, WARM = 200, 20
LIVES, LATER = 5, 20  # daemons, and conversations of each after its first
GREENROOM = str(Path(sys.executable).with_name("greenroom"))
SAYS = "say x"
NEW: Message = {"name": "codex", "arguments": {"prompt": SAYS}}
Turn = Callable[[], object]


def turns(stage: DaemonAndModel) -> list[Figure]:
    with ExitStack() as open_ones:
        clients = {
            verb: open_ones.enter_context(McpClient([GREENROOM, verb], stage.harness.environ, stage.harness.home))
            for verb in ("mcp", "acp")
        }
        over_mcp, over_acp = mcp_turn(clients["mcp"]), acp_turn(clients["acp"], str(stage.harness.home))
        taken = [(timed_ms(over_mcp), timed_ms(over_acp)) for _ in range(WARM + TURNS)][WARM:]
    mcp, acp = ([pair[which] for pair in taken] for which in (0, 1))
    floor = "over `greenroom mcp`"
    return [
        Figure("`greenroom acp`: one-word turn, p50", p50(acp), "ms", p50(mcp), floor, "≤ 1.3 times"),
        Figure("`greenroom acp`: one-word turn, p99", p99(acp), "ms", p99(mcp), floor),
    ]


def first_turns(home: Path, base_url: str) -> list[Figure]:
    """The first conversation of a daemon's life next to its later ones, over `greenroom mcp`."""
    lives = [conversations_ms(home / f"life-{life}", base_url) for life in range(LIVES)]
    first, later = p50([taken[0] for taken in lives]), p50([p50(taken[1:]) for taken in lives])
    what = "`greenroom mcp`: first conversation of a daemon's life, p50"
    return [Figure(what, first, "ms", later, "later ones", "≤ 3 times")]


def conversations_ms(home: Path, base_url: str) -> list[float]:
    """The times of conversations with one turn each, from when the daemon has loaded what they need."""
    with (
        DaemonHarness(home, served_by(base_url)) as harness,
        McpClient([GREENROOM, "mcp"], harness.environ, harness.home) as client,
    ):
        initialize(client)
        log = Path(harness.paths.log_file)
        until(lambda: b"agent.loaded" in log.read_bytes(), "the daemon has not loaded its agent")
        return [timed_ms(lambda: client.call("tools/call", NEW)) for _ in range(1 + LATER)]


def initialize(client: McpClient) -> None:
    info = {"name": "bench", "version": "1"}
    client.call("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info})
    client.say({"method": "notifications/initialized"})


def mcp_turn(client: McpClient) -> Turn:
    """A turn of a conversation that this client has begun."""
    initialize(client)
    begun = client.call("tools/call", NEW)
    thread = begun["structuredContent"]["threadId"]
    said: Message = {"name": "codex-reply", "arguments": {"threadId": thread, "prompt": SAYS}}
    return lambda: client.call("tools/call", said)


def acp_turn(client: McpClient, cwd: str) -> Turn:
    """A turn of a session that this client has begun."""
    client.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    session = client.call("session/new", {"cwd": cwd, "mcpServers": []})["sessionId"]
    said: Message = {"sessionId": session, "prompt": [{"type": "text", "text": SAYS}]}
    return lambda: client.call("session/prompt", said)
