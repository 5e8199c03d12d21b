"""`--image` of `run` and `send`: what the model gets, and pictures that are none or that nobody could see."""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from supervisor.cli.pictures import MOST_BYTES
from tests.supervisor.agents.acp.scripted import NAME, agent_table
from tests.supervisor.cli.place import Place, a_place
from tests.support.engine_harness import provider
from tests.support.model_server import ModelServer

KINDS = {
    "a.png": (b"\x89PNG\r\n\x1a\n" + b"p", "image/png"),
    "b.txt": (b"\xff\xd8\xff" + b"j", "image/jpeg"),  # by its content, not by its name
    "c.gif": (b"GIF89a" + b"g", "image/gif"),
    "d.webp": (b"RIFF\x01\x00\x00\x00WEBP" + b"w", "image/webp"),
}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


@pytest.fixture(scope="module")
def seeing(server: ModelServer) -> Iterator[Place]:
    """A place with a model that sees, one that does not, and an agent that takes no pictures."""
    with a_place() as made:
        lines = f'model_provider = "mock"\nmodel = "some"\n{provider(server.base_url)}{agent_table("blind")}'
        (made.home / "config.toml").write_text(lines, encoding="utf-8")
        made.run("up")
        for name, (data, _) in KINDS.items():
            (made.work / name).write_bytes(data)
        yield made


def sent(server: ModelServer) -> list[str]:
    """The addresses of the pictures of the last message that the model was sent."""
    (*_, last) = [one for one in server.requests if "messages" in one.body]
    (*_, message) = last.body["messages"]
    return [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"]


def address(name: str) -> str:
    data, kind = KINDS[name]
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def options(*names: str) -> list[str]:
    return [word for name in names for word in ("--image", name)]


def test_the_model_is_sent_the_pictures_in_their_order(seeing: Place, server: ModelServer) -> None:
    seeing.run("run", "--name", "sees", *options("a.png", "b.txt"), "what is this?", cwd=seeing.work)
    assert sent(server) == [address("a.png"), address("b.txt")]
    seeing.run("send", "sees", "--wait", *options("d.webp", "c.gif"), "and these?", cwd=seeing.work)
    assert sent(server) == [address("d.webp"), address("c.gif")]
    (first, *_) = [
        one
        for one in map(json.loads, seeing.said("logs", "sees", "--json").splitlines())
        if one["type"] == "user_message" and one["kind"] == "plain"
    ]
    assert [item["type"] for item in first["items"]] == ["text", "image", "image"]


@pytest.mark.parametrize("verb", ["run", "send"])
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere.png", "can't be read: No such file"),
        ("folder.png", "can't be read: is not a file"),
        ("pipe.png", "can't be read: is not a file"),
        ("words.png", "is not a PNG, JPEG, GIF or WebP picture"),
        ("empty.png", "is not a PNG, JPEG, GIF or WebP picture"),
        ("large.png", "more than 11 MiB"),
        ("\x1b[2J.png", "can't be read: No such file"),
    ],
)
def test_an_invalid_picture_is_refused_before_anything_is_sent(
    seeing: Place, verb: str, name: str, told: str
) -> None:
    work = seeing.work
    for folder in (work / "folder.png",):
        folder.mkdir(exist_ok=True)
    if not (work / "pipe.png").exists():
        os.mkfifo(work / "pipe.png")
    (work / "words.png").write_text("no picture")
    (work / "empty.png").touch()
    with (work / "large.png").open("wb") as large:
        large.write(KINDS["a.png"][0])
        large.truncate(MOST_BYTES + 1)
    before = seeing.json("ls", "--json", "id,seq")
    words = ("run", "x") if verb == "run" else ("send", "@last", "x")
    done = seeing.run(*words, *options("a.png", name), code=2, cwd=work)
    assert told in done.stderr
    assert "\x1b" not in done.stderr
    assert seeing.json("ls", "--json", "id,seq") == before


def test_pictures_that_are_as_much_as_one_message_holds_arrive(seeing: Place, server: ModelServer) -> None:
    start = KINDS["a.png"][0]
    (seeing.work / "full.png").write_bytes(start + bytes(MOST_BYTES - len(start)))
    seeing.run("run", *options("full.png"), "see", cwd=seeing.work)
    assert len(sent(server)[0]) > MOST_BYTES


def test_a_model_that_sees_nothing_is_not_asked(seeing: Place) -> None:
    before = len(seeing.json("ls", "--json", "id"))
    told = seeing.run("run", "-m", "gpt-3.5-turbo", *options("a.png"), "see", code=2, cwd=seeing.work).stderr
    assert "the model gpt-3.5-turbo sees no pictures; leave --image out" in told
    assert len(seeing.json("ls", "--json", "id")) == before
    seeing.run("run", "--name", "plain", "hello")
    words = ("send", "plain", "-m", "o1-mini", *options("a.png"), "see")
    assert "the model o1-mini sees no pictures" in seeing.run(*words, code=2, cwd=seeing.work).stderr


def test_an_agent_that_takes_no_pictures_says_so_at_first_and_is_not_asked_again(seeing: Place) -> None:
    done = seeing.run("run", "--name", "blind", "--agent", NAME, *options("a.png"), "see", code=10, cwd=seeing.work)
    assert f"the agent {NAME} takes no pictures" in done.stderr + done.stdout
    seeing.run("send", "blind", "--wait", "say well")
    told = seeing.run("send", "blind", *options("a.png"), "see", code=2, cwd=seeing.work).stderr
    assert f"the agent {NAME} takes no pictures; leave --image out" in told


def test_a_picture_is_read_as_the_person_may_and_not_as_the_daemon(seeing: Place, tmp_path: Path) -> None:
    """Its path is not in the journal, so nothing reads it again later."""
    (tmp_path / "p.png").write_bytes(KINDS["a.png"][0])
    seeing.run("run", "--name", "once", *options(str(tmp_path / "p.png")), "see")
    assert str(tmp_path) not in seeing.said("export", "once")
