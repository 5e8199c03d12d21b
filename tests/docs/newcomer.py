"""The first five minutes of a person who has nothing yet: clone, tour, editor, two more terminals, a killed daemon.

python -m tests.docs.newcomer [--borrow]

Whole, `make demo` installs the clone from the package index, which needs the network. With --borrow the clone gets an
environment of its own that finds the dependencies in the one that runs this; the code that runs is the clone's all
the same. What is cloned is the last commit.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from tests.docs.pages import ROOT, blocks
from tests.support.mcp_client import McpClient

STEP_S = 60.0
INSTALL_S = 600.0  # a package index may be far away
PROGRAM = "import sys\n\nfrom supervisor.cli.entry import main\n\nsys.exit(main())\n"  # as pip writes it
_NETWORK = re.compile(r"PIP_|SSL_CERT_|(https?|no|all)_proxy$", re.IGNORECASE)  # how this machine reaches the index
Result = TypeVar("Result")


class Newcomer:
    """An empty directory that is also the home; every command is typed into a shell of its own."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self.clone = base / "greenroom"
        self.project = base / "project"
        self.project.mkdir()
        (base / "run").mkdir(mode=0o700)
        self.env = {
            **{name: value for name, value in os.environ.items() if _NETWORK.match(name)},
            "HOME": str(base),
            "PATH": f"{self.clone}/.venv/bin:{Path(sys.base_prefix) / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "XDG_RUNTIME_DIR": str(base / "run"),
            "LANG": "C.UTF-8",
            "PYTHONPATH": "",  # nothing of ours gets into the clone
        }

    def types(self, command: str, *, where: Path | None = None, limit_s: float = STEP_S, code: int = 0) -> str:
        """Run a command and return its output. To a program that reads no keys it is a terminal of its own."""
        done = subprocess.run(
            ["sh", "-c", command],
            env=self.env,
            cwd=where or self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
        assert done.returncode == code, f"$ {command}\nexit {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout

    def fetches(self) -> None:
        """Clone the checkout, even if another user owns it: git would refuse that in a home without settings."""
        trusting = self._base / "trusting"
        trusting.write_text("[safe]\n\tdirectory = *\n", encoding="utf-8")
        self.types(f"GIT_CONFIG_GLOBAL={trusting} git clone --quiet {ROOT} {self.clone}")

    def borrows(self) -> None:
        """Make what `make setup` would, with the dependencies of the environment that runs this."""
        environment = self.clone / ".venv"
        self.types(f"{sys.executable} -m venv --without-pip {environment}")
        (packages,) = environment.glob("lib/python*/site-packages")
        packages.joinpath("borrowed.pth").write_text(
            f"{self.clone}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8"
        )
        program = environment / "bin" / "greenroom"
        program.write_text(f"#!{environment}/bin/python\n{PROGRAM}", encoding="utf-8")
        program.chmod(0o755)
        (environment / ".ready").touch()

    def editor(self) -> McpClient:
        """Act as an editor: write the configuration of the documentation, read it back, and start its command."""
        file = self.project / ".mcp.json"
        file.write_text(_entry_in(self.clone), encoding="utf-8")
        server = json.loads(file.read_text(encoding="utf-8"))["mcpServers"]["greenroom"]
        command = shutil.which(server["command"], path=self.env["PATH"])
        assert command is not None, f"there is no {server['command']} on the path"
        assert Path(command).is_relative_to(self.clone), f"{command} is another one"
        words = [command, *server["args"]]
        passed = {name: expanded(value, self.env) for name, value in server.get("env", {}).items()}
        return McpClient({**self.env, **passed}, command=words, cwd=self.project, elicits=False)

    def leaves(self) -> None:
        with contextlib.suppress(AssertionError, OSError, subprocess.TimeoutExpired):
            self.types("greenroom down --now")


def expanded(text: str, environ: Mapping[str, str]) -> str:
    """`${NAME}` and `${NAME:-default}`, as Claude Code fills them in; what is not set stays as it is."""
    pattern = r"\$\{(\w+)(?::-([^}]*))?\}"
    return re.sub(pattern, lambda found: environ.get(found[1], found[0] if found[2] is None else found[2]), text)


def _entry_in(clone: Path) -> str:
    """The project's `.mcp.json`, as Claude Code and others read it."""
    text = (clone / "docs" / "how-to" / "editors.md").read_text(encoding="utf-8")
    _, _, section = text.partition("**Claude Code**")
    return next(block.text for block in blocks(section) if block.language == "json")


# --- the path -----------------------------------------------------------------------------------------------------


def walk(person: Newcomer, *, borrow: bool, say: Callable[[str], None] = print) -> None:
    def step(what: str, act: Callable[[], Result]) -> Result:
        began = time.monotonic()
        result = act()
        say(f"{time.monotonic() - began:6.1f} s  {what}")
        return result

    step("git clone", person.fetches)
    if borrow:
        step("an environment that borrows its packages", person.borrows)
    told = step("make demo", lambda: person.types("make demo", where=person.clone, limit_s=INSTALL_S))
    assert "That was the tour." in told
    assert ("setting up" in told) is not borrow
    assert person.types("greenroom ls", code=7) == ""  # the tour's daemon was its own
    client = step("the editor starts `greenroom mcp`", person.editor)
    try:
        client.initialize()
        conversation = step(
            "a conversation, interrupted from a second terminal", lambda: _interrupted(person, client)
        )
        step("a question, approved from a third", lambda: _approved(person, client, conversation))
        step("kill -9 while it counts, and on", lambda: _killed(person, client, conversation))
    finally:
        client.leave()
    assert not client.faults, client.faults
    person.types("greenroom down")


def _interrupted(person: Newcomer, client: McpClient) -> str:
    names = {tool["name"] for tool in client.ask("tools/list")["result"]["tools"]}
    assert {"codex", "codex-reply"} <= names
    told = client.answer(client.tool("codex", {"prompt": "count 5000"}))["result"]["content"][0]["text"]
    assert "there is no model" in told
    assert 'model_provider = "demo"' in told
    asked = client.tool("codex", {"prompt": "count 5000", "config": {"model_provider": "demo"}})
    _until(person, "running")
    assert ": interrupted" in person.types("greenroom interrupt @last")
    result = client.answer(asked)["result"]
    assert "interrupted" in str(result["content"])
    thread: str = result["structuredContent"]["threadId"]
    assert person.types("greenroom ls -q").split() == [thread]
    return thread


def _approved(person: Newcomer, client: McpClient, conversation: str) -> None:
    asked = _reply(client, conversation, "ask touch report.txt; then say thank you")
    person.types(f"greenroom wait {conversation} --for approval -t 30s")
    assert "touch report.txt" in person.types("greenroom approvals")
    assert ": approved" in person.types("greenroom approve @last")
    assert "thank you" in str(client.answer(asked)["result"]["content"])
    assert (person.project / "report.txt").exists()


def _killed(person: Newcomer, client: McpClient, conversation: str) -> None:
    asked = _reply(client, conversation, "count 5000")
    _until(person, "running")
    first = person.types("greenroom pid").strip()
    person.types(f"kill -9 {first}")
    assert client.answer(asked)["error"]["data"]["code"] == "daemon_restarted"
    result = client.answer(_reply(client, conversation, "say we go on"))["result"]
    assert "we go on" in str(result["content"])
    assert result["structuredContent"]["threadId"] == conversation
    assert person.types("greenroom pid").strip() != first
    history = person.types(f"greenroom logs {conversation}")
    assert re.search(r"> count 5000.*thank you.*-- lost.*we go on", history, re.DOTALL), history


def _reply(client: McpClient, conversation: str, prompt: str) -> Any:
    return client.tool("codex-reply", {"threadId": conversation, "prompt": prompt})


def _until(person: Newcomer, state: str) -> None:
    """Poll for a turn of the editor's, of which no event reaches this program."""
    deadline = time.monotonic() + STEP_S
    while not person.types("greenroom ls -q --filter state=" + state + " 2>/dev/null || true").strip():
        assert time.monotonic() < deadline, f"nothing is {state}"
        time.sleep(0.05)


@contextlib.contextmanager
def arrived() -> Iterator[Newcomer]:
    """A newcomer in a place that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="gr", dir="/tmp") as base:  # others are too long for a socket
        person = Newcomer(Path(base).resolve())
        try:
            yield person
        finally:
            person.leaves()


def main(words: list[str]) -> int:
    assert set(words) <= {"--borrow"}, __doc__
    with arrived() as person:
        walk(person, borrow=bool(words))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
