"""An idle daemon has loaded nothing that only a conversation or a model needs. Later it is all there."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.daemon_harness import DaemonHarness, until

ROOT = Path(__file__).parents[3]
TLS = ROOT / "tests" / "data" / "tls"
IDLE_MIB = 42  # 40 on the machine of docs/performance.md; libraries differ from system to system
OF_AGENTS_AND_WORK = {
    *("agents.backend", "agents.environments", "agents.errors", "agents.client_mcp_servers", "agents.output_batcher"),
    *("agents.spending.over_budget", "agents.turn", "agents.turn_hook", "work.sandbox.leftover_folders"),
    *("work.reach.known_agents", "work.reach.readable"),
}
PROCESSES = "supervisor.work.processes."
OF_OTHERS = {
    *("transports.dialects.codex", "transports.dialects.mcp", "transports.dialects.control.api.method_descriptions"),
    *(
        "transports.dialects.control.schema",
        "transports.dialects.control.api.shapes",
        "supervisor.agents.own.own_agent",
    ),
    *(
        "supervisor.services.codex_services",
        "bz2",
        "lzma",
        "zlib",
        "shutil",
        "difflib",
        "http.client",
        "httpx",
        "email",
    ),
}

AS_IT_STARTS = """
import os, signal, sys
from supervisor.daemon import daemon_start

class Telling(daemon_start.StartReporter):
    def __call__(self, text):
        print(*text.decode().split(), *sys.modules)
        os.kill(os.getpid(), signal.SIGTERM)

daemon_start.StartReporter = Telling
daemon_start.main([])
"""

TALKING_TLS = """
from supervisor.daemon.lean_imports import import_leanly
import_leanly()
import supervisor.daemon.server
import asyncio, sys
import actors.vocabulary.events as events
events.Envelope.model_json_schema()
assert not any(name in sys.modules for name in ("ssl", "asyncio.sslproto", "secrets", "importlib.metadata"))
import importlib.metadata, pydantic.types, secrets, ssl
assert importlib.metadata.version("pydantic") and importlib.metadata.entry_points()
assert pydantic.types.secrets.compare_digest is secrets.compare_digest

async def talk():
    ours = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ours.load_cert_chain({cert!r}, {key!r})
    trusting = ssl.create_default_context(cafile={cert!r})
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=ours)
    port = server.sockets[0].getsockname()[1]
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusting, server_hostname="localhost")
    print(writer.get_extra_info("ssl_object").version(), await reader.read())
    writer.close()
    server.close()

asyncio.run(talk())
"""


@pytest.fixture
def idle(tmp_path: Path) -> Iterator[DaemonHarness]:
    with DaemonHarness(tmp_path / "home") as harness:
        yield harness


def test_an_idle_daemon_has_neither_openssl_nor_a_shell_s_grammar_and_is_small(idle: DaemonHarness) -> None:
    idle.caller("somebody")
    loaded = Path(f"/proc/{idle.pid}/maps").read_text(encoding="utf-8")
    assert "libsqlite3" in loaded or "_sqlite3" in loaded, "the list is of something else"
    assert not {name for name in ("libssl", "libcrypto", "tree_sitter", "httptools") if name in loaded}
    assert idle.rss() < IDLE_MIB << 20


@pytest.mark.skipif(not shutil.which("bwrap"), reason="no bwrap here")
def test_the_trial_of_the_sandbox_leaves_no_dead_child(idle: DaemonHarness) -> None:
    """A bwrap is over before its first process inside is, which then is the daemon's."""
    caller = idle.caller("somebody")
    assert caller.call("daemon/status")["sandbox"]
    caller.create()
    until(lambda: not dead_children(idle.pid), "a dead child stays")


def dead_children(pid: int) -> list[str]:
    told = subprocess.run(
        ["ps", "-o", "stat=,comm=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [line for line in told.stdout.splitlines() if line.startswith("Z")]


def test_a_daemon_starts_without_what_only_a_conversation_or_a_schema_needs(tmp_path: Path) -> None:
    environ = {"PATH": os.defpath, "HOME": str(tmp_path), "GREENROOM_HOME": str(tmp_path / "home")}
    said = subprocess.check_output(
        [sys.executable, "-c", AS_IT_STARTS], cwd=ROOT, env=environ, text=True, timeout=60
    ).split()
    assert said[0] == "ready"
    packages = {name.rpartition(".")[0] for name in said}
    modules = {name for name in said if name not in packages and not name.startswith(PROCESSES)}
    late = ("supervisor.agents.", "supervisor.work.")
    assert {name.removeprefix("supervisor.") for name in modules if name.startswith(late)} <= OF_AGENTS_AND_WORK
    assert not OF_OTHERS & {*said}


def test_late_modules_work_when_they_are_used() -> None:
    code = TALKING_TLS.format(cert=str(TLS / "cert.pem"), key=str(TLS / "key.pem"))
    said = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True, timeout=60)
    assert said == "TLSv1.3 b''\n"


def test_an_agent_without_mcp_servers_has_none_of_the_sdk() -> None:
    code = (
        "import supervisor.agents.own.own_agent, sys\n"
        "print(sorted({one.split('.')[0] for one in sys.modules} & {'mcp', 'mcp_types', 'httpx2', 'starlette'}))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True, timeout=60) == "[]\n"
