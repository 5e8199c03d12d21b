"""A home has one daemon, and every program with the same HOME finds it, whatever other variables it has."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from supervisor.daemon.daemon_lock import lock_holder
from supervisor.paths import locate
from tests.support.home import START_S

EVERYDAY = {"PATH": os.environ["PATH"]}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "editor", "version": "1"}},
}


class Person:
    """Programs of one HOME, each started with an environment of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir(mode=0o700)
        self.runtime = home.parent / "runtime"
        self.runtime.mkdir(mode=0o700, exist_ok=True)

    def environ(self, **more: str) -> dict[str, str]:
        return {**EVERYDAY, "HOME": str(self.home), **more}

    def terminal(self, *words: str, **more: str) -> str:
        """A desktop's terminal has a runtime directory."""
        return self.greenroom(*words, XDG_RUNTIME_DIR=str(self.runtime), **more)

    def greenroom(self, *words: str, **more: str) -> str:
        done = self.run(*words, **more)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def run(self, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-P", "-m", "supervisor.cli.app", *words]
        return subprocess.run(
            command, env=self.environ(**more), cwd=self.home, capture_output=True, text=True, timeout=60, check=False
        )

    def editor(self, **more: str) -> dict[str, Any]:
        """The bridge's answer to `initialize`, started as MCP clients do it: with HOME, PATH and little more."""
        command = [sys.executable, "-P", "-m", "supervisor.cli.mcp"]
        with subprocess.Popen(
            command, env=self.environ(**more), cwd=self.home, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as bridge:
            assert bridge.stdin is not None
            assert bridge.stdout is not None
            for message in (INITIALIZE, {"id": 2, "method": "resources/list"}):  # the second waits for the daemon
                bridge.stdin.write(json.dumps(message).encode() + b"\n")
            bridge.stdin.flush()
            answer: dict[str, Any] = json.loads(bridge.stdout.readline())
            bridge.stdout.readline()  # its input stays open until then
            return answer

    def holder(self, **more: str) -> int | None:
        found = lock_holder(locate(self.environ(**more)).lock_file)
        return found.pid if found is not None else None


@pytest.fixture
def people(tmp_path: Path) -> Iterator[Callable[[str], Person]]:
    made: list[Person] = []

    def make(name: str) -> Person:
        made.append(Person(tmp_path / name))
        return made[-1]

    yield make
    for person in made:
        for more in ({}, {"XDG_STATE_HOME": str(person.home / "s")}):
            pid = person.holder(**more)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)


def test_an_editor_with_little_in_its_environment_finds_the_terminals_daemon(people: Callable[[str], Person]) -> None:
    ada = people("ada")
    ada.terminal("up")
    assert "result" in ada.editor()
    assert ada.greenroom("pid") == ada.terminal("pid") == ada.greenroom("pid", XDG_RUNTIME_DIR="/nowhere")


def test_a_terminal_finds_the_daemon_that_an_editor_has_started(people: Callable[[str], Person]) -> None:
    ada = people("ada")
    assert "result" in ada.editor()
    assert ada.terminal("pid") == str(ada.holder())
    assert ada.terminal("up").startswith("already up")


def test_two_homes_with_one_runtime_directory_have_two_daemons(people: Callable[[str], Person]) -> None:
    ada, bob = people("ada"), people("bob")
    ada.terminal("up")
    bob.terminal("up")
    assert {ada.terminal("pid"), bob.terminal("pid")} == {str(ada.holder()), str(bob.holder())}
    assert ada.holder() != bob.holder()
    assert ada.terminal("socket") != bob.terminal("socket")


def test_an_editor_without_the_xdg_variables_finds_the_home_that_they_have_moved(
    people: Callable[[str], Person],
) -> None:
    ada = people("ada")
    moved = {"XDG_STATE_HOME": str(ada.home / "s"), "XDG_CONFIG_HOME": str(ada.home / "c")}
    ada.terminal("up", **moved)
    assert "result" in ada.editor()
    assert ada.greenroom("pid") == ada.terminal("pid", **moved)
    ada.greenroom("down")
    assert "result" in ada.editor()  # and it is that home which it starts a daemon for
    assert ada.terminal("pid", **moved) == str(ada.holder(**moved))


def test_a_daemon_at_an_address_of_an_earlier_version_is_found_and_has_no_second_beside_it(
    people: Callable[[str], Person],
) -> None:
    """Its address was in the runtime directory; its lock says so, and it is the journal's one owner."""
    ada = people("ada")
    address = str(ada.runtime / "greenroom" / "greenroom.sock")
    code = (
        "import sys; from supervisor.daemon import daemon_start; from supervisor.paths import Paths;"
        f"daemon_start.place_for = lambda paths: paths.listening_at({address!r});"
        "sys.exit(daemon_start.main(['--ready-fd', '1']))"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], env=ada.environ(), stdout=subprocess.PIPE, text=True
    ) as old:
        assert old.stdout is not None
        assert old.stdout.readline() == "ready\n"
        assert ada.greenroom("pid") == str(old.pid)
        assert "result" in ada.editor()
        assert ada.greenroom("up").startswith("already up")
        assert ada.greenroom("socket") == address
        ada.greenroom("down")
        assert old.wait(START_S) == 0


def test_a_home_on_a_disk_without_sockets_has_its_daemon_in_a_directory_of_its_own(
    people: Callable[[str], Person],
) -> None:
    ada = people("ada")
    code = (
        "import sys; from supervisor.daemon import daemon_start, socket_place;"
        "socket_place._holds_sockets = lambda _: False;"
        "sys.exit(daemon_start.main(['--ready-fd', '1']))"
    )
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], env=ada.environ(), stdout=subprocess.PIPE, text=True
    ) as daemon:
        assert daemon.stdout is not None
        assert daemon.stdout.readline() == "ready\n"
        address = Path(ada.terminal("socket"))
        assert not address.is_relative_to(ada.home)
        assert address.parent.stat().st_mode & 0o777 == 0o700
        assert ada.greenroom("pid") == str(daemon.pid)
        ada.greenroom("down")
        assert daemon.wait(START_S) == 0
        assert not address.parent.exists()


def test_a_home_deeper_than_any_address_has_its_socket_in_it(tmp_path: Path) -> None:
    (tmp_path / ("d" * 120)).mkdir()
    person = Person(tmp_path / ("d" * 120) / "ada")
    person.terminal("up")
    try:
        assert "result" in person.editor()
        assert Path(person.greenroom("socket")).is_relative_to(person.home)
    finally:
        person.greenroom("down")


def test_a_terminal_with_xdg_variables_finds_the_daemon_that_an_editor_without_them_has_started(
    people: Callable[[str], Person],
) -> None:
    ada = people("ada")
    assert "result" in ada.editor()
    assert ada.terminal("pid", XDG_STATE_HOME=str(ada.home / "s")) == str(ada.holder())


def test_a_home_whose_name_is_no_text_has_a_daemon_like_any_other(tmp_path: Path) -> None:
    person = Person(tmp_path / os.fsdecode(b"ad\xff"))
    assert "result" in person.editor()
    try:
        assert person.greenroom("up").startswith("already up")
        assert "run/greenroom.sock" in person.greenroom("status")
        assert person.greenroom("run", "say hello", "-C", str(tmp_path)) == "hello"
        assert "is not UTF-8 text" in person.run("run", "say hello").stderr
    finally:
        person.greenroom("down")


def test_a_home_by_a_link_is_the_same_home(people: Callable[[str], Person], tmp_path: Path) -> None:
    ada = people("ada")
    (tmp_path / "link").symlink_to(ada.home)
    ada.terminal("up")
    assert ada.greenroom("pid", HOME=str(tmp_path / "link")) == ada.greenroom("pid")
