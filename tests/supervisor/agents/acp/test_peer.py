"""Requests both ways with an agent that is a list of lines."""

import asyncio
import json
from typing import Any

import pytest
from structlog.testing import capture_logs

from supervisor.agents.acp.failures import AgentRefused, ChildEnded
from supervisor.agents.acp.peer import (
    EXTENSIONS,
    LOGGED,
    MISUSES,
    REQUESTS,
    AgentPeer,
    RequestHandler,
    TooManyMisuses,
)
from supervisor.agents.acp.wire import Json
from tests.supervisor.work.commands import limited, until


class Ears:
    def __init__(self) -> None:
        self.heard: list[str] = []
        self.gate = asyncio.Event()
        self.cancelled = 0

    async def take_notification(self, method: str, params: Json) -> bool:
        await asyncio.sleep(0)  # what follows must wait for this
        self.heard.append(f"{method} {params.get('n')}")
        return method.startswith("m")

    def handler_for(self, method: str) -> RequestHandler | None:
        return self._serve if method == "known" else None

    async def _serve(self, params: Json) -> Any:
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return params


class Agent:
    """The lines that were written to it, and a peer that speaks to it."""

    def __init__(self) -> None:
        self.ears = Ears()
        self.read: list[Json] = []
        self.peer = AgentPeer("fake", self._write, self.ears)

    async def _write(self, data: bytes) -> int:
        self.read.append(json.loads(data))
        return len(data)

    async def says(self, **message: Any) -> None:
        await self.peer.hear(json.dumps(message).encode())

    async def until(self, number: int) -> Json:
        """Wait for so many lines; the last."""
        await until(lambda: len(self.read) >= number)
        return self.read[number - 1]


def test_an_answer_comes_after_all_that_was_said_before_it() -> None:
    async def scene() -> None:
        agent = Agent()
        asking = asyncio.create_task(agent.peer.request("ask", {}))
        number = (await agent.until(1))["id"]
        await agent.says(method="update", params={"n": 1})
        await agent.says(method="update", params={"n": 2})
        await agent.says(id=number, result="done")
        assert await asking == "done"
        assert agent.ears.heard == ["update 1", "update 2"]

    limited(scene())


def test_all_that_waits_fails_with_the_reason_of_the_end() -> None:
    async def scene() -> None:
        agent = Agent()
        asking = asyncio.create_task(agent.peer.request("ask", {}))
        await agent.until(1)
        agent.peer.end("it died")
        with pytest.raises(ChildEnded, match="it died"):
            await asking
        with pytest.raises(ChildEnded, match="it died"):
            await agent.peer.request("ask", {})

    limited(scene())


def test_a_cancelled_request_is_cancelled_at_the_agent_too() -> None:
    async def scene() -> None:
        agent = Agent()
        asking = asyncio.create_task(agent.peer.request("ask", {}))
        number = (await agent.until(1))["id"]
        asking.cancel()
        told = await agent.until(2)
        assert (told["method"], told["params"]) == ("$/cancel_request", {"requestId": number})
        await agent.says(id=number, result="too late")

    limited(scene())


def test_an_agent_may_cancel_what_it_asked() -> None:
    async def scene() -> None:
        agent = Agent()
        await agent.says(id="a1", method="known", params={})
        await asyncio.sleep(0)
        await agent.says(method="$/cancel_request", params={"requestId": "a1"})
        answer = await agent.until(1)
        assert (answer["id"], answer["error"]["code"], agent.ears.cancelled) == ("a1", -32800, 1)

    limited(scene())


def test_unknown_methods_are_refused_and_errors_are_raised() -> None:
    async def scene() -> None:
        agent = Agent()
        await agent.says(id=None, method="what/is/this")
        assert (await agent.until(1))["error"]["code"] == -32601
        asking = asyncio.create_task(agent.peer.request("ask", {}))
        number = (await agent.until(2))["id"]
        await agent.says(id=number, error={"code": -32002, "message": "Resource not found"})
        with pytest.raises(AgentRefused, match="Resource not found"):
            await asking

    limited(scene())


def test_requests_beyond_the_bound_are_refused_and_those_under_way_go_on() -> None:
    async def scene() -> None:
        agent = Agent()
        for number in range(REQUESTS + 10):
            await agent.says(id=number, method="known", params={"n": number})
        await agent.until(10)
        assert [one["id"] for one in agent.read if "requests are open" in one["error"]["message"]] == [
            *range(REQUESTS, REQUESTS + 10)
        ]
        agent.ears.gate.set()
        await agent.until(REQUESTS + 10)
        assert sorted(one["id"] for one in agent.read if "result" in one) == list(range(REQUESTS))

    limited(scene())


@pytest.mark.parametrize(
    ("message", "most"),
    [
        ({"id": 5_000_000, "result": {}}, MISUSES),
        ({"id": "same", "method": "unknown"}, MISUSES),
        ({"method": "unknown"}, MISUSES),
        ({"no": "message"}, MISUSES),
        ({"method": "_extension"}, MISUSES + EXTENSIONS),
        ({"method": "$/cancel_request", "params": {"requestId": "x"}}, MISUSES + EXTENSIONS),
    ],
)
def test_unanswerable_messages_are_logged_then_counted_and_then_end_the_agent(message: Json, most: int) -> None:
    async def scene() -> None:
        agent = Agent()
        with capture_logs() as logged:
            for _ in range(most):
                await agent.says(**message)
            with pytest.raises(TooManyMisuses):
                await agent.says(**message)
        assert len(logged) == LOGGED + 1
        assert logged[-1]["messages"] == MISUSES + 1
        agent.peer.end("over")

    limited(scene())


def test_another_turn_has_room_for_as_much_again() -> None:
    async def scene() -> None:
        agent = Agent()
        for _ in range(3):
            for _ in range(MISUSES):
                await agent.says(no="message")
            agent.peer.begin_turn()
        agent.peer.end("over")

    limited(scene())
