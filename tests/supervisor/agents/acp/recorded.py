"""Updates that real agents sent, and a session of `Updates` that takes them."""

import json
from collections.abc import Iterable
from itertools import count
from pathlib import Path
from typing import Any

from actors.messages.orders import AgentNews
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ItemId
from supervisor.agents.acp.tool_uses import Terminals
from supervisor.agents.acp.updates import Updates
from supervisor.config.bounds import DEFAULTS, Bounds

FILE = Path(__file__).parents[3] / "data" / "acp" / "updates.json"
RECORDED: dict[str, list[dict[str, Any]]] = json.loads(FILE.read_text(encoding="utf-8"))


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Taken:
    """All that `Updates` made of what it was given."""

    def __init__(
        self,
        *,
        bounds: Bounds = DEFAULTS,
        terminals: Terminals = lambda _: None,
        sum_usd: float = 0.0,
        from_usd: float = 0.0,
    ) -> None:
        numbers = count(1)
        self.clock = Clock()
        self.updates = Updates(
            lambda: ItemId(f"i{next(numbers)}"),
            bounds,
            self.clock,
            agent="them",
            cwd=Path("/home/ann"),
            terminals=terminals,
            sum_usd=sum_usd,
            from_usd=from_usd,
        )
        self.events: list[AgentNews] = []

    def hear(self, *updates: Any) -> list[AgentNews]:
        return self.note(event for update in updates for event in self.updates.take(update))

    def note(self, events: Iterable[AgentNews]) -> list[AgentNews]:
        new = list(events)
        self.events += new
        return new

    def replay(self, name: str, *, allowed: bool = True) -> list[AgentNews]:
        """Take a recording; each question in it is answered at once."""
        for one in RECORDED[name]:
            if "update" in one:
                self.hear(one["update"])
            elif "permission" in one:
                call = self.updates.permission(one["permission"])
                answer = self.updates.allow if allowed else self.updates.refuse
                self.note(answer(call.call_id))
            else:
                self.note(self.updates.finish(one["answer"]))
        return self.events

    def said_of(self, kind: type[ev.E]) -> list[ev.E]:
        return [event for event in self.events if isinstance(event, kind)]

    def types(self) -> list[str]:
        return [getattr(event, "type", "") for event in self.events]


def chunk(words: str, message: str = "", kind: str = "agent_message_chunk") -> dict[str, Any]:
    named = {"messageId": message} if message else {}
    return {"sessionUpdate": kind, "content": {"type": "text", "text": words}, **named}


def call(call_id: str = "c", **members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call", "toolCallId": call_id, **members}


def more(call_id: str = "c", **members: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, **members}


def written(words: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": words}}]
