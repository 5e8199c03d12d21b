"""Conversations on the messages wire: thinking that goes back, and a provider's cache that is found."""

import json
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary import events as ev
from tests.supervisor.agents.own.turns.requests import check_well_formed, unmarked
from tests.support.engine_harness import EngineHarness, Talk, harness_at
from tests.support.model_server import ModelServer, Received

LOOKED_BACK = 20  # blocks before a mark at which Anthropic looks for what it kept
CLAUDE = "claude-sonnet-4-6"


@pytest.fixture
def claude(tmp_path: Path, server: ModelServer) -> Iterator[EngineHarness]:
    with harness_at(tmp_path, server.base_url, "messages") as harness:
        yield harness


def talk(harness: EngineHarness) -> Talk:
    return harness.talk(model=CLAUDE)


class Cache:
    """A provider's cache: it keeps what stands before each mark, and reads the longest that it finds."""

    def __init__(self) -> None:
        self._kept: set[bytes] = set()

    def read(self, request: Received) -> tuple[int, int]:
        """Return how many blocks of the request were read from the cache, and how many it has."""
        blocks = list(_blocks(request.body))
        marks = [number for number, block in enumerate(blocks) if "cache_control" in block]
        assert len(marks) <= 4
        prefixes = list(_prefixes(blocks))
        found = 0
        for mark in marks:
            for number in range(mark, max(-1, mark - LOOKED_BACK), -1):
                if prefixes[number] in self._kept:
                    found = max(found, number + 1)
                    break
        self._kept |= {prefixes[mark] for mark in marks}
        return found, len(blocks)


def _prefixes(blocks: list[dict[str, Any]]) -> Iterator[bytes]:
    whole = blake2b()
    for block in blocks:
        whole.update(json.dumps(unmarked(block)).encode())
        yield whole.digest()


def _blocks(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"tools": body["tools"]}
    yield from body["system"]
    for message in body["messages"]:
        yield from ({"role": message["role"], **block} for block in message["content"])


def test_each_request_reads_all_of_the_one_before_from_the_cache(claude: EngineHarness, server: ModelServer) -> None:
    """Over many turns, calls in great numbers, and a restart; far beyond what is joined in memory."""
    conversation = talk(claude)
    for number in range(12):
        calls = ";".join(f'call update_plan {{"plan":[],"explanation":"{number}.{at}"}}' for at in range(15))
        conversation.ask(f"reason so; say look; {calls}; then; reason again; {calls}; then; say done {number}")
    claude.restart()
    conversation.ask("say more")
    conversation.ask("say still more")
    cache, before = Cache(), 0
    for number, request in enumerate(server.requests):
        found, whole = cache.read(request)
        assert found == before, f"request {number} of {whole} blocks found {found} of {before}"
        before = whole
    assert before > 600


def thoughts(request: Received) -> list[dict[str, Any]]:
    blocks = [block for message in request.body["messages"] for block in message["content"]]
    return [block for block in blocks if block["type"] == "thinking"]


def test_thinking_goes_back_signed_in_its_turn_in_later_ones_and_after_a_restart(
    claude: EngineHarness, server: ModelServer
) -> None:
    conversation = talk(claude)
    conversation.ask('reason first why | then how; say look; call update_plan {"plan":[]}; then; say done')
    sent = [{"type": "thinking", "thinking": "first why\n\nthen how", "signature": "signed r2_0 0"}]
    assert thoughts(server.requests[1]) == sent
    claude.restart()
    conversation.ask("say more")
    assert thoughts(server.requests[2]) == sent
    assert [one.text for one in conversation.all(ev.AgentReasoning)] == ["first why\n\nthen how"]
    for request in server.requests:
        check_well_formed(request)


def test_thinking_of_one_claude_goes_to_another_and_to_no_other_makers_model(
    claude: EngineHarness, server: ModelServer
) -> None:
    conversation = talk(claude)
    conversation.ask("reason why; say one")
    for model, sent in (("claude-opus-5-5", 1), ("qwen3-coder", 0), (CLAUDE, 1)):
        conversation.ask("say more", settings=conversation.settings.model_copy(update={"model": model}))
        assert len(thoughts(server.requests[-1])) == sent, model


def test_two_texts_of_one_answer_are_two_messages(claude: EngineHarness, server: ModelServer) -> None:
    conversation = talk(claude)
    conversation.start("words one two; reason why; words three four; hold here")
    conversation.wait_said("three four")
    server.open("here")
    conversation.wait(ev.TaskComplete)
    said = [(one.item_id, one.message) for one in conversation.all(ev.AgentMessage)]
    assert [text for _, text in said] == ["one two", "three four"]
    for item, text in said:
        assert "".join(one.delta for one in conversation.all(ev.AgentMessageDelta) if one.item_id == item) == text


def test_an_overloaded_server_in_mid_stream_is_asked_again_and_nothing_is_said_twice(
    claude: EngineHarness, server: ModelServer
) -> None:
    conversation = talk(claude)
    conversation.ask("reason why; say half; fail overloaded_error Overloaded; say whole")
    assert "Overloaded" in conversation.all(ev.StreamError)[0].message
    assert [one.message for one in conversation.all(ev.AgentMessage)] == ["half", "whole"]
    assert len(server.requests) == 2
