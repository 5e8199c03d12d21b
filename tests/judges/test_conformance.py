"""The conformance suite, through a proxy from HTTP to stdio, against the real bridge, daemon and dialect.

The suite holds every message of ours against the schema of the revision, whatever else a scenario is about.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.judges.http_front import fronted
from tests.judges.installed import END_S, HERE, NODE, end_group, judge, judged, needs, package
from tests.support.mcp_client import McpClient

PROXY = package("supergateway") / "dist" / "index.js"
SUITE = package("@modelcontextprotocol/conformance") / "dist" / "index.js"
UP_S = 20.0
CONFIG = """model = "demo"
model_provider = "demo"

[model_providers.nowhere]
name = "Nowhere"
base_url = "http://127.0.0.1:9/v1"
request_max_retries = 0
stream_max_retries = 0
"""
OF_TASKS = ("capability-negotiation", "wire-fields", "request-state-removal", "dispatch-and-envelope", "lifecycle")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Path]:
    """A server with fixture tools in a home of its own, whose daemon is ended."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "config.toml").write_text(CONFIG)
    prompts = home / "prompts"
    prompts.mkdir()
    (prompts / "test_simple_prompt.md").write_text("This is a simple prompt for testing.")
    (prompts / "test_prompt_with_arguments.md").write_text("Prompt with arguments: '$ARG1' and '$ARG2'.")
    program = judged(tmp_path, home, "tests.judges.fixture_server")
    with McpClient({}, command=(str(program),)) as client:
        client.result("codex", {"prompt": "say something, so that there is a resource to list"})
    yield program
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        os.kill(int((home / "run" / "daemon.pid").read_text()), signal.SIGTERM)


@contextlib.contextmanager
def proxied(server: Path, port: int) -> Iterator[str]:
    words = ("--stdio", server, "--outputTransport", "streamableHttp", "--stateful", "--port", port)
    process = subprocess.Popen(
        [str(word) for word in (NODE, "--require", HERE / "loopback.cjs", PROXY, *words)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        _wait_for(port, time.monotonic() + UP_S)
        yield f"http://localhost:{port}/mcp"
    finally:
        end_group(process)
        process.wait(END_S)


def _wait_for(port: int, deadline: float) -> None:
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            assert time.monotonic() < deadline, "the proxy does not listen"
            time.sleep(0.05)
        else:
            return


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@needs(NODE, PROXY, SUITE)
@pytest.mark.timeout(120)
def test_the_conformance_suite_finds_nothing_but_what_is_expected(server: Path, tmp_path: Path) -> None:
    expected = HERE / "expected-failures.yml"
    with proxied(server, free_port()) as url:
        chosen = ("--suite", "all", "--spec-version", "2025-11-25", "--expected-failures", expected)
        said = judge([NODE, SUITE, "server", "--url", url, *chosen, "-o", tmp_path / "out"], tmp_path)
    assert "server-initialize: 3 passed, 0 failed" in said
    assert said.count("✓") >= 19


@needs(NODE, SUITE)
@pytest.mark.timeout(120)
def test_the_suite_of_the_stateless_revision_finds_nothing_but_what_is_expected(server: Path, tmp_path: Path) -> None:
    with fronted(server) as url:
        chosen = ("--suite", "all", "--spec-version", "2026-07-28", "--expected-failures", HERE / "expected-2026.yml")
        said = judge([NODE, SUITE, "server", "--url", url, *chosen, "-o", tmp_path / "out"], tmp_path)
    assert "server-stateless:" in said


@needs(NODE, SUITE)
@pytest.mark.timeout(120)
def test_the_scenarios_of_tasks_find_nothing_but_what_is_expected(server: Path, tmp_path: Path) -> None:
    with fronted(server) as url:
        for scenario in OF_TASKS:
            chosen = ("--scenario", f"tasks-{scenario}", "--force", "--spec-version", "2026-07-28")
            expected = ("--expected-failures", HERE / "expected-tasks.yml")
            judge([NODE, SUITE, "server", "--url", url, *chosen, *expected, "-o", tmp_path / "out"], tmp_path)
