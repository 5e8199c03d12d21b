"""A model endpoint with a small window: it counts tokens its own way, and refuses what is longer."""

import json
from typing import Any

from supervisor.agents.own.transcript.wording import ASK_OPENING
from tests.support.model_prompt import asked, wire_of
from tests.support.model_reply import Reply, canned
from tests.support.model_script import Place, compiled
from tests.support.model_server import ModelServer, Received

WINDOW = 16_000


def tokens_of(body: dict[str, Any]) -> int:
    """Two tokens for seven characters of the conversation, and one for four of the tools."""
    said = json.dumps(body.get("messages") or body.get("input"), ensure_ascii=False)
    return len(said) * 2 // 7 + len(json.dumps(body.get("tools", ()))) // 4


class NarrowServer(ModelServer):
    """Answers in a few words, or with notes when it is asked for them. `reports`: it tells what it counted."""

    def __init__(self, window: int = WINDOW, *, reports: bool = True, notes: str = "say The notes.") -> None:
        super().__init__()
        self.window = window
        self.reports = reports
        self.notes = notes
        self.counted: list[int] = []  # of requests that were answered
        self.refused = 0
        self.summed_up = 0

    def _reply_to(self, received: Received) -> Reply:
        wire = wire_of(received.path)
        assert wire is not None
        count = tokens_of(received.body)
        if count > self.window:
            self.refused += 1
            words = f"This model's maximum context length is {self.window} tokens. Your messages resulted in {count}."
            error = {"message": words if self.reports else "too long", "code": "context_length_exceeded"}
            return canned(json.dumps({"error": error}).encode(), status=400)
        self.counted.append(count)
        prompt = asked(wire, received.body)
        script = prompt.text
        if script.startswith(ASK_OPENING):
            self.summed_up += 1
            script = self.notes
        if self.reports:
            script += f"; usage {count} 12"
        return compiled(script, wire, Place(len(self.requests), prompt.reply))
