"""Each example is run as a person would run it, against a real daemon with the built-in demo model."""

import contextlib
import http.server
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest

import greenroom
from tests.support.control_peer import WAIT_S
from tests.support.daemon_process import DaemonProcess

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
MOST_LINES = 60
CLIENTS = [path for path in sorted(EXAMPLES.glob("*.py")) if path.stem != "dialect"]  # that has its own test


@pytest.fixture
def daemon(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[DaemonProcess]:
    with DaemonProcess(tmp_path_factory.mktemp("home")) as daemon:
        monkeypatch.setenv("GREENROOM_HOME", str(daemon.home))
        yield daemon


@pytest.fixture
def client(daemon: DaemonProcess) -> Iterator[greenroom.Client]:  # noqa: ARG001  # it has to run
    with greenroom.Client() as client:
        yield client


@contextlib.contextmanager
def begun(name: str, *words: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, str(EXAMPLES / f"{name}.py"), *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def run(name: str, *words: str, code: int = 0) -> tuple[str, str]:
    with begun(name, *words) as process:
        out, err = process.communicate(timeout=WAIT_S)
    assert process.returncode == code, err
    return out, err


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().rstrip("\n")


def test_two_conversations(client: greenroom.Client) -> None:
    out, _ = run("two_conversations")
    assert out == "numbers: interrupted\nletters: completed, a b c\n"
    assert len(client.conversations()) == 2


def test_approve_by_rule(client: greenroom.Client) -> None:
    allowed, forbidden = (client.create().conversation for _ in range(2))
    client.send(allowed, "ask date -u")
    with begun("approve_by_rule", "2") as process:
        assert line(process) == f"{allowed[:8]}: approved"
        client.send(forbidden, "ask date; touch danger")
        assert line(process) == f"{forbidden[:8]}: denied"
        assert process.wait(WAIT_S) == 0
    for conversation, said in ((allowed, "UTC"), (forbidden, "one at a time")):
        turn = client.wait(conversation)
        assert turn is not None
        assert said in str(turn.message)


def test_post_questions_to_the_terminal(client: greenroom.Client) -> None:
    one = client.create().conversation
    client.send(one, "ask true")
    with begun("post_questions") as process:
        said = line(process)
        assert re.fullmatch(rf"{one[:8]} asks about `bash -lc true`; `greenroom approve \w{{8}}` allows it", said), (
            said
        )


def test_post_questions_to_a_webhook(client: greenroom.Client) -> None:
    posted: Queue[str] = Queue()

    class Webhook(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.put(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["text"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Webhook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with begun("post_questions", f"http://127.0.0.1:{server.server_port}/hook"):
            one = client.create().conversation
            client.send(one, "ask true")
            assert posted.get(timeout=WAIT_S).startswith(f"{one[:8]} asks about `bash -lc true`")
        server.shutdown()


def test_ci_job(client: greenroom.Client) -> None:
    assert run("ci_job", "say the tests pass", "20") == ("the tests pass\n", "")
    out, err = run("ci_job", "count 5000", "0.5", code=124)
    assert out == ""
    assert re.fullmatch(r"stopped after 0\.5 s; `greenroom logs \w{8}` shows how far it came\n", err)
    assert {row.state for row in client.conversations()} == {"idle"}


def test_follow_everything(client: greenroom.Client, tmp_path: Path) -> None:
    place = tmp_path / "place.json"
    one = client.run("say first").conversation
    with begun("follow_everything", str(place)) as process:
        assert [line(process) for _ in range(3)] == [f"{one[:8]} {text}" for text in FIRST]
    client.send_and_wait(one, "say second")
    with begun("follow_everything", str(place)) as process:
        seen = [line(process).removeprefix(f"{one[:8]} ")]
        if seen == ["-- completed"]:  # it was printed, and the program ended before it noted that
            seen = [line(process).removeprefix(f"{one[:8]} ")]
        seen += [line(process).removeprefix(f"{one[:8]} ") for _ in range(2)]
    assert seen == ["> say second", "second", "-- completed"]


FIRST = ("> say first", "first", "-- completed")


@pytest.mark.parametrize("path", CLIENTS, ids=lambda path: path.stem)
def test_an_example_is_short_says_what_it_is_for_and_is_run_by_a_test(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith('"""')
    assert len(text.splitlines()) <= MOST_LINES
    assert any(name.startswith(f"test_{path.stem}") for name in globals())
