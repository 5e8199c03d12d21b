"""The stages of a one-word turn and their times: an engine in this process, with a clock at each hand-over.

The stages follow each other, so their medians add up to about the whole. They include the cost of the clocks.
"""

import inspect
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from actors.conversation.session import Session
from actors.messages.conversation import ToConversation
from actors.vocabulary.answers import TurnResult
from bench.whole import floors
from bench.whole.rows import Figure, p50
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.http_transport import HttpConnection
from supervisor.engine.runner import Runner
from supervisor.journal.store import SqliteJournal
from tests.support.engine_harness import EngineHarness, provider

TURNS, WARM, IN_A_ROW = 200, 20, 20

CLOCKS: tuple[tuple[type, str], ...] = (
    (Session, "on_receive"),
    (SqliteJournal, "commit"),
    (Runner, "_start"),
    (ModelClient, "attempt"),
    (HttpConnection, "ask"),
    (HttpConnection, "wait_for_head"),
)

STAGES = (
    ("the message reaches its session", "sent", "Send>"),
    ("it is decided, and becomes events", "Send>", "first commit>"),
    ("they are committed", "first commit>", "first commit<"),
    ("the agent is told", "first commit<", "_start>"),
    ("surroundings are looked at, the request is built", "_start>", "ask>"),
    ("the model answers", "ask>", "wait_for_head<"),
    ("the answer is read, and becomes news", "wait_for_head<", "attempt<"),
    ("nothing is left of the turn, the session is told", "attempt<", "TurnEnded>"),
    ("its end is decided, and becomes events", "TurnEnded>", "last commit>"),
    ("they are committed", "last commit>", "last commit<"),
    ("the client has its answer", "last commit<", "answered"),
)


class Marks:
    """All times of each mark in this turn, in order."""

    def __init__(self) -> None:
        self._times: dict[str, list[float]] = defaultdict(list)

    def mark(self, name: str) -> None:
        self._times[name].append(time.perf_counter())

    def time_of(self, name: str) -> float:
        which, _, rest = name.rpartition(" ")
        return self._times[rest][-1 if which == "last" else 0]

    def clear(self) -> None:
        self._times.clear()


def anatomy(base_url: str) -> list[Figure]:
    marks = Marks()
    spent: dict[int, list[float]] = defaultdict(list)
    whole = []
    with (
        tempfile.TemporaryDirectory() as home,
        watch_stages(marks),
        EngineHarness(Path(home), provider(base_url)) as harness,
    ):
        for number in range(WARM + TURNS):
            if number % IN_A_ROW == 0:  # or the request, which holds the whole history, becomes the measure
                talk = harness.talk()
            marks.clear()
            marks.mark("sent")
            harness.answer(talk.start("say x"), TurnResult)
            marks.mark("answered")
            if number >= WARM:
                whole.append((marks.time_of("answered") - marks.time_of("sent")) * 1e3)
                for at, (_, start, end) in enumerate(STAGES):
                    spent[at].append((marks.time_of(end) - marks.time_of(start)) * 1e3)
    total = p50(whole)
    rows = [Figure(f"{at + 1}. {what}", p50(spent[at]), "ms") for at, (what, _, _) in enumerate(STAGES)]
    return [
        *rows,
        Figure("a turn, from the engine's door to its answer", total, "ms"),
        Figure("one hand-over between two bare threads", floors.hand_over_ms(), "ms"),
    ]


@contextmanager
def watch_stages(marks: Marks) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, name in CLOCKS:
            stack.enter_context(patch.object(owner, name, mark_calls(getattr(owner, name), marks)))
        yield


def mark_calls(method: Callable[..., Any], marks: Marks) -> Callable[..., Any]:
    """Mark each call: messages by type, commands by that in the envelope, others by the method's name."""

    def name_of(args: tuple[object, ...]) -> str:
        if method.__name__ != "on_receive":
            return method.__name__
        message = args[1]
        return type(message.command if isinstance(message, ToConversation) else message).__name__

    async def call_async(*args: object) -> object:
        marks.mark(f"{name_of(args)}>")
        try:
            return await method(*args)
        finally:
            marks.mark(f"{name_of(args)}<")

    def call(*args: object) -> object:
        marks.mark(f"{name_of(args)}>")
        try:
            return method(*args)
        finally:
            marks.mark(f"{name_of(args)}<")

    return call_async if inspect.iscoroutinefunction(method) else call
