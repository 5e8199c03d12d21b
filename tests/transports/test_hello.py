"""The first line: what it may be, and how it is refused."""

import json
from typing import Any

import pytest

from actors.vocabulary.errors import GreenroomError, InvalidInput
from tests.fakes.dialect import EchoDialect
from transports import hello
from transports.framing import LineTooLong
from transports.hello import Hello, Identity, UnknownDialect, UnknownProtocol

DIALECTS: hello.Dialects = {name: lambda client, _: EchoDialect(client) for name in ("mcp", "control")}


def read(said: Any) -> Hello | GreenroomError:
    return hello.read(json.dumps({"greenroom": said}).encode(), DIALECTS)


def test_a_full_hello_is_understood_and_what_we_do_not_know_goes_to_the_dialect() -> None:
    client: dict[str, Any] = {
        "name": "editor",
        "version": "3",
        "pid": 7,
        "cwd": "/src",
        "env": {"LANG": "C"},
        "theme": "dark",
    }
    client["umask"] = 0o027
    said = read({"protocol": 1, "dialect": "mcp", "client": client, "conversation": "abc"})
    assert said == Hello("mcp", "editor", "3", "/src", {"LANG": "C"}, 0o027, {"conversation": "abc"})


def test_a_short_hello_will_do() -> None:
    assert read({"protocol": 1, "dialect": "control"}) == Hello("control", "", "", "/", {}, None, {})


@pytest.mark.parametrize("umask", [-1, 0o1000, "022", True, 1.0, []])
def test_a_umask_that_is_none_is_refused(umask: object) -> None:
    refusal = read({"protocol": 1, "dialect": "mcp", "client": {"umask": umask}})
    assert isinstance(refusal, GreenroomError)
    assert "client.umask" in refusal.message


@pytest.mark.parametrize("theirs", [2, 0, "1", None, True, 1.5])
def test_another_protocol_is_refused_with_both_versions(theirs: object) -> None:
    refusal = read({"protocol": theirs, "dialect": "mcp"})
    assert isinstance(refusal, UnknownProtocol)
    assert refusal.details == {"ours": 1, "theirs": theirs}
    assert "protocol 1" in refusal.message
    assert repr(theirs) in refusal.message


@pytest.mark.parametrize("dialect", ["codex", None, 1, ["mcp"]])
def test_another_dialect_is_refused_with_those_that_there_are(dialect: object) -> None:
    refusal = read({"protocol": 1, "dialect": dialect})
    assert isinstance(refusal, UnknownDialect)
    assert refusal.details == {"known": ["control", "mcp"]}


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1",
        b"[]",
        b'{"jsonrpc":"2.0","id":1,"method":"initialize"}',
        b'{"greenroom":1}',
        b"\xff",
        b"[" * 9999,
    ],
)
def test_anything_else_is_told_what_a_hello_is(line: bytes) -> None:
    refusal = hello.read(line, DIALECTS)
    assert isinstance(refusal, InvalidInput)
    assert '"greenroom"' in refusal.message


@pytest.mark.parametrize(
    ("client", "named"),
    [
        (1, "client"),
        ({"name": 1}, "client.name"),
        ({"cwd": None}, "client.cwd"),
        ({"env": []}, "client.env"),
        ({"env": {"A": 1}}, "client.env"),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(client: object, named: str) -> None:
    refusal = read({"protocol": 1, "dialect": "mcp", "client": client})
    assert isinstance(refusal, InvalidInput)
    assert named in refusal.message


def test_an_over_long_first_line_is_refused() -> None:
    assert isinstance(hello.read(LineTooLong(99), DIALECTS), InvalidInput)


def test_the_welcome_names_protocol_version_and_instance() -> None:
    said = json.loads(hello.welcome(Identity("0.1.0", "6f0c")))
    assert said == {"greenroom": {"protocol": 1, "version": "0.1.0", "instance": "6f0c"}}
