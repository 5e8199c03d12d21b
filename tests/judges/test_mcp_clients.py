"""Agent frameworks and command lines call `greenroom mcp`: a long turn, questions, a cancel, a killed daemon, more.

Each run writes the client's row of docs/mcp-clients.md, if `make judges` asks for it (JUDGES_WRITE).
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from supervisor.daemon.daemon_lock import DaemonLock
from supervisor.paths import private_directory
from tests.judges.agents.model import AgentModel, Step
from tests.judges.agents.wires import Asked
from tests.judges.clients.command_lines import COMMAND_LINES, CommandLine, ours
from tests.judges.clients.steps import sleeping
from tests.judges.installed import HERE, MODULES, NODE, ROOT, judge, judged, needs, package
from tests.scenarios.stage import Stage
from tests.support.bridge import wait_until
from tests.support.model_server import ModelServer
from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS

NAMED = "continue it with codex-reply"
ITSELF, BY_MODEL = "its own dialog", "by `answer_approval`"
DISMISSED = "dismissed, which declines; accepted by `answer_approval`"
PAGE = ROOT / "docs" / "mcp-clients.md"
SHORT, LONG = 7, 70  # seconds; the shorter is already longer than the shortest patience
AT_ONCE_S = 3.0  # without a cancel, the grace of a client that is gone is five
MORE_S = 80.0  # for all but the long turn; some of them take eight seconds to start, and start four times


class Client(NamedTuple):
    """A client that is judged: its script in `clients/`, with the interpreter that runs it."""

    title: str
    python: Path
    script: str
    version: Callable[[], str]
    installed: tuple[Path, ...]
    asked: str = BY_MODEL


def framework(title: str, script: str, distribution: str, asked: str = BY_MODEL, venv: str = ".venv") -> Client:
    python = HERE / venv / "bin" / "python"
    program = f"from importlib.metadata import version; print(version({distribution!r}))"
    version = lambda: subprocess.check_output([python, "-c", program], text=True).strip()  # noqa: E731
    return Client(title, python, script, version, (python,), asked)


def command_line(title: str, script: str, name: str, installed: tuple[Path, ...], asked: str) -> Client:
    version = lambda: json.loads((package(name) / "package.json").read_text())["version"]  # noqa: E731
    return Client(title, Path(sys.executable), script, version, installed, asked)


def agent(program: CommandLine) -> Client:
    asked = {0: BY_MODEL, 1: DISMISSED, 2: ITSELF}[len(program.answers)]
    return command_line(program.title, "agent", program.package, program.installed, asked)


CLIENTS = {
    "fastmcp": framework("FastMCP", "fastmcp", "fastmcp", ITSELF),
    "openai_agents": framework("OpenAI Agents", "openai_agents", "openai-agents"),
    "pydantic_ai": framework("Pydantic AI", "pydantic_ai", "pydantic-ai-slim", ITSELF),
    "langchain": framework("LangChain adapters", "langchain", "langchain-mcp-adapters", venv=".venv-langchain"),
    **{name: agent(program) for name, program in COMMAND_LINES.items()},
    "mcpdo": command_line(
        "mcpdo", "mcpdo", "@modelcontextprotocol/inspector", (NODE, MODULES / ".bin" / "mcpdo"), ITSELF
    ),
}
GOES_ON = {"langchain"}  # Python SDK 1 tells nobody that a task was cancelled


def clients() -> list[Any]:
    return [
        pytest.param(name, seconds, marks=[needs(*client.installed), pytest.mark.timeout(seconds + 100), *more])
        for name, client in CLIENTS.items()
        for seconds, more in ((SHORT, []), (LONG, [pytest.mark.soak(takes_s=100)]))
    ]


@pytest.mark.parametrize(("name", "seconds"), clients())
def test_a_client_goes_all_the_way(name: str, seconds: int, tmp_path: Path) -> None:
    client = CLIENTS[name]
    with ModelServer() as model:
        stage = Stage(tmp_path, model, 'max_sandbox = "danger-full-access"')
        server = judged(tmp_path, stage.home.directory)
        program = HERE / "clients" / f"{client.script}_client.py"
        words = [client.python, program, server, seconds, stage.home.paths.pid_file, name]
        env = {"PYTHONPATH": str(ROOT)} if client.python == Path(sys.executable) else {}
        report = json.loads(judge(words, tmp_path, env, limit_s=seconds + MORE_S).splitlines()[-1])
        assert sorted(report["listed"]) == sorted(LISTED_TOOLS)
        assert "rested" in report["long"]
        assert report["seen"], "the model does not see the conversation's id"
        assert (tmp_path / "accepted").exists()
        assert not (tmp_path / "declined").exists()
        assert "over" in report["declined"], "a question that is declined ends no turn"
        assert "never" not in report["cancelled"]
        assert "it can be asked again" in report["killed"]
        assert NAMED in report["killed"]
        assert "again" in report["second"]
        assert (report["ended"] is None) is (name in GOES_ON)
        wait_until(lambda: not any(sleeping(one, tmp_path) for one in ("61", "62")), "a command was left behind")
        stage.close()
    _note(client, report, seconds)


class NotedModel(AgentModel):
    """A model that says a word, and keeps what it was asked."""

    def __init__(self, at_first: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self.asked: list[Asked] = []
        self._at_first = at_first

    def answer(self, asked: Asked) -> Step:
        if not self.asked:
            self._at_first()
        self.asked.append(asked)
        return Step(("done",))


def codex_begins(base: Path, stage: Stage, model: NotedModel) -> Asked:
    """Run `codex exec` where no daemon runs. Its first request to the model."""
    codex = COMMAND_LINES["codex"]
    codex.prepare(base, model.address, judged(base, stage.home.directory))
    judge(codex.argv, base, codex.variables(base, model.address))
    wait_until(Path(stage.home.paths.pid_file).exists, "no daemon was started")
    stage.close()
    return model.asked[0]


@needs(*COMMAND_LINES["codex"].installed)
@pytest.mark.parametrize("run", range(10))
def test_codex_has_our_tools_at_once_though_no_daemon_runs(run: int, tmp_path: Path) -> None:  # noqa: ARG001  # no luck
    with ModelServer() as inner, NotedModel() as model:
        asked = codex_begins(tmp_path, Stage(tmp_path, inner), model)
    assert sorted(ours(asked)) == sorted(LISTED_TOOLS)


@needs(*COMMAND_LINES["codex"].installed)
def test_codex_has_our_tools_at_once_though_no_daemon_can_come_up(tmp_path: Path) -> None:
    with ModelServer() as inner:
        stage = Stage(tmp_path, inner)
        paths = stage.home.paths
        private_directory(paths.state)
        starting = DaemonLock(paths.lock_file)
        with NotedModel(starting.release) as model:
            asked = codex_begins(tmp_path, stage, model)
    assert sorted(ours(asked)) == sorted(LISTED_TOOLS)


def _note(client: Client, report: dict[str, Any], seconds: int) -> None:
    """Write the client's row of the table."""
    if not os.environ.get("JUDGES_WRITE"):
        return
    ended, killed = (
        _ended(report["ended"]),
        "names the conversation" if NAMED in report["killed"] else "says to ask again",
    )
    head, rule, *rows = (line for line in PAGE.read_text().splitlines(keepends=True) if line.startswith("|"))
    version = client.version()
    longest = max(seconds, *_turns_of(client.title, version, rows))
    cells = (client.title, version, "yes", f"{longest} s", client.asked, ended, killed, "yes")
    others = [row for row in rows if not row.startswith(f"| {client.title} |")]
    written = sorted([*others, f"| {' | '.join(cells)} |\n"], key=str.casefold)
    PAGE.write_text(PAGE.read_text().replace("".join((head, rule, *rows)), "".join((head, rule, *written))))


def _turns_of(title: str, version: str, rows: Sequence[str]) -> Iterator[int]:
    """Yield how long a turn of the same version was seen to be waited for: the short run knows no better."""
    yield 0
    for row in rows:
        if row.startswith(f"| {title} | {version} |"):
            yield int(row.split("|")[4].split()[0])


def _ended(after_s: float | None) -> str:
    if after_s is None:
        return "is not told to us; its turn goes on"
    return "ends its turn" if after_s < AT_ONCE_S else "closes its pipe; its turn ends after the grace"
