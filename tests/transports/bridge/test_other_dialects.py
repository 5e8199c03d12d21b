"""A bridge carries any dialect that gives it a Replay, and knows no method of any."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.bridge import Client, FakeDaemon, Talk, answer, request, wait_until
from tests.test_architecture import ROOT, imports, modules

BRIDGE = ROOT / "transports" / "bridge"
WITH_A_BRIDGE = ("replay", "introduction", "table")
METHOD = re.compile(r"[a-z]+(/[A-Za-z_]+)+|[a-z]+[A-Z]\w*")


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[FakeDaemon]:
    with FakeDaemon(tmp_path) as daemon:
        yield daemon


@pytest.fixture
def client(daemon: FakeDaemon, tmp_path: Path) -> Iterator[Client]:
    assert Path(daemon.path).is_socket()
    with Client(tmp_path, program="tests.support.board_bridge") as client:
        yield client


def done(
    client: Client, talk: Talk, number: object, method: str, *, result: dict[str, object], **params: object
) -> None:
    client.say(request(number, method, **params))
    assert talk.message() == request(number, method, **params)
    talk.say(answer(number, **result))
    assert client.message() == answer(number, **result)


def test_a_board_outlives_its_daemon_through_the_same_bridge(
    daemon: FakeDaemon, client: Client, tmp_path: Path
) -> None:
    talk = daemon.accept()
    assert talk.greet()["dialect"] == "board"
    done(client, talk, 1, "enter", result={}, name="ann")
    done(client, talk, 2, "watch", result={}, board="news")
    done(client, talk, 3, "draft", result={"draft": "d1"})
    talk.say(request(0, "vote"), request(1, "vote"), {"jsonrpc": "2.0", "method": "unask", "params": {"question": 0}})
    for _ in range(3):
        client.line()
    client.say(request(4, "write", text="hi"))
    talk.line()
    with daemon.succeeded(tmp_path) as second:
        failed, unasked, lost = (client.message() for _ in range(3))
        assert (failed["id"], failed["error"]["data"]["code"]) == (4, "daemon_restarted")
        assert (unasked["method"], unasked["params"]) == ("unask", {"question": 1})
        assert (lost["method"], lost["params"]["draft"]) == ("draft_lost", "d1")
        talk = second.accept()
        assert talk.greet()["first_question"] == 2
        entered, watched = talk.message(), talk.message()
        assert (entered["method"], entered["params"]) == ("enter", {"name": "ann"})
        assert (watched["method"], watched["params"]) == ("watch", {"board": "news"})
        talk.say(answer(entered["id"]), answer(watched["id"]))
        done(client, talk, 5, "write", result={"note": 7}, text="hi")


def test_answers_of_the_dialect_alone_start_no_daemon(daemon: FakeDaemon, client: Client) -> None:
    daemon.greet()
    daemon.vanish()
    wait_until(lambda: "went away" in client.log, "the bridge noticed nothing")
    assert client.ask(1, "knock") == answer(1, alone=True)


def literals(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def test_the_bridge_has_no_word_of_a_dialect() -> None:
    dialects = (ROOT / "transports" / "dialects").rglob("*.py")
    words = {text for path in dialects for text in literals(path) if METHOD.fullmatch(text)}
    assert {"tools/call", "notifications/cancelled", "conversationStream", "conversation/send"} <= words
    words |= {"initialize", "ping", "codex", "mcp", "MCP"}
    spoken = {path.name: set(re.findall(r"[\w/]+", path.read_text(encoding="utf-8"))) for path in BRIDGE.glob("*.py")}
    assert not {f"{name}: {word}" for name, said in spoken.items() for word in said & words}


def test_the_bridge_and_the_replays_of_dialects_import_the_standard_library_alone() -> None:
    dialects = ROOT / "transports" / "dialects"
    loaded = [path for name in WITH_A_BRIDGE for path in dialects.glob(f"*/{name}.py")]
    ours = {"transports", *(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in loaded)}
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in [*modules("transports/bridge"), *loaded]
        for name in imports(path)
        if not name.startswith("transports.bridge")
        and name not in ours
        and name.partition(".")[0] not in sys.stdlib_module_names
    }
    assert wrong == {"transports/bridge/bridge.py imports transports.stdio"}  # of the standard library, too
