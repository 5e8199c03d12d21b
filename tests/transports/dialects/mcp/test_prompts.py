"""Prompts and completion, in both eras."""

from typing import Any

import pytest
from msgspec import convert

from actors.vocabulary.errors import InvalidInput
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import McpClient, StatelessClient
from transports import supervisor_requests as ask
from transports.supervisor_answers import MenuPrompts, PromptText

PROMPT = {"name": "review", "description": "Look.", "arguments": [{"name": "file", "required": True}]}


def _read(request: ask.ReadPrompt) -> PromptText:
    if request.name != "review":
        raise InvalidInput("no prompt")
    return PromptText("Look.", f"Read {request.arguments['file']}.")


@pytest.fixture
def daemon() -> Daemon:
    daemon = Daemon()
    daemon.serve[ask.ListPrompts] = lambda _: convert({"prompts": [PROMPT]}, MenuPrompts)
    daemon.serve[ask.ReadPrompt] = _read
    return daemon


@pytest.fixture(params=[McpClient, StatelessClient])
def client(daemon: Daemon, request: Any) -> McpClient:
    client: McpClient = request.param(daemon)
    return client


def test_prompts_are_listed_and_got_with_their_arguments(client: McpClient) -> None:
    assert client.ask("prompts/list")["result"]["prompts"] == [PROMPT]
    got = client.ask("prompts/get", {"name": "review", "arguments": {"file": "a.py"}})["result"]
    assert got["description"] == "Look."
    assert got["messages"] == [{"role": "user", "content": {"type": "text", "text": "Read a.py."}}]


def test_a_prompt_that_is_not_there_and_a_cursor_that_is_none_are_bad_params(client: McpClient) -> None:
    assert client.ask("prompts/get", {"name": "other"})["error"]["code"] == -32602
    assert client.ask("prompts/list", {"cursor": "x"})["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("name", "argument", "known"), [("review", "file", True), ("review", "x", False), ("x", "file", False)]
)
def test_an_argument_of_a_prompt_is_free_text(client: McpClient, name: str, argument: str, known: bool) -> None:
    wanted = {"ref": {"type": "ref/prompt", "name": name}, "argument": {"name": argument, "value": "a"}}
    answer = client.ask("completion/complete", wanted)
    if known:
        assert answer["result"]["completion"] == {"values": [], "hasMore": False, "total": 0}
    else:
        assert answer["error"]["code"] == -32602
