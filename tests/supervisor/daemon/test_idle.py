"""An idle daemon has loaded nothing that only a conversation or a model needs. Later it is all there."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.daemon_harness import DaemonHarness

ROOT = Path(__file__).parents[3]
TLS = ROOT / "tests" / "data" / "tls"
IDLE_MIB = 44  # 40 on the machine of docs/performance.md; libraries differ from system to system

TALKING_TLS = """
import supervisor.daemon.late_imports as late
late.load_late()
late.use_no_plugins()
import supervisor.daemon.server
import asyncio, importlib.metadata, sys
import actors.vocabulary.events as events
events.Envelope.model_json_schema()
assert "_ssl" not in sys.modules and "email" not in sys.modules
assert importlib.metadata.version("pydantic")
import secrets, ssl
assert len(secrets.token_hex(4)) == 8

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
    idle.caller("somebody").call("daemon/status")
    loaded = Path(f"/proc/{idle.pid}/maps").read_text(encoding="utf-8")
    assert "libsqlite3" in loaded or "_sqlite3" in loaded, "the list is of something else"
    assert not {name for name in ("libssl", "libcrypto", "tree_sitter", "httptools") if name in loaded}
    assert idle.rss() < IDLE_MIB << 20


def test_what_is_loaded_late_works_when_it_is_used() -> None:
    code = TALKING_TLS.format(cert=str(TLS / "cert.pem"), key=str(TLS / "key.pem"))
    said = subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, text=True, timeout=60)
    assert said == "TLSv1.3 b''\n"
