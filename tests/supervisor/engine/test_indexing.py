"""The task that lets the search follow the journal: when it reads, when it rests, and how it takes an error."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from actors.vocabulary.errors import StorageFull
from supervisor.engine import indexing as timing
from supervisor.engine.indexing import Indexing

PATIENCE_S = 10.0


class FakeIndex:
    """A file that is `behind` by some pieces. `calls` has what was asked of it; `error` is raised by a step."""

    def __init__(self, behind: int = 0) -> None:
        self.behind = behind
        self.calls: list[str] = []
        self.error: Exception | None = None
        self.may_step = threading.Event()
        self.may_step.set()

    def step(self) -> bool:
        assert self.may_step.wait(PATIENCE_S)
        self.calls.append("step")
        if self.error is not None:
            raise self.error
        self.behind = max(0, self.behind - 1)
        return self.behind > 0

    def rest(self) -> None:
        self.calls.append("rest")

    def remove(self) -> None:
        self.calls.append("remove")


async def reached(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110  # the fake is called on another thread, which has no event to set
            await asyncio.sleep(0)


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(test())


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FIRST_S", "LOOK_S", "LEAST_PAUSE_S", "AGAIN_S"):
        monkeypatch.setattr(timing, name, 0.0)
    monkeypatch.setattr(timing, "PAUSE", 0.0)


def test_it_reads_all_there_is_then_gives_its_memory_back_and_reads_again_after_news() -> None:
    async def test() -> None:
        index = FakeIndex(behind=3)
        indexing = Indexing(index, lambda: True)
        indexing.begin()
        await reached(lambda: "rest" in index.calls)
        assert index.calls == ["step", "step", "step", "rest"]
        indexing.note_news()
        await reached(lambda: index.calls.count("rest") == 2)
        assert index.calls[4:] == ["step", "rest"]
        await indexing.end()

    run(test)


def test_a_search_does_not_wait_for_the_next_look(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        monkeypatch.setattr(timing, "LOOK_S", 3600.0)
        index = FakeIndex()
        indexing = Indexing(index, lambda: True)
        indexing.begin()
        await indexing.catch_up(PATIENCE_S)
        assert index.calls == ["step"]
        indexing.note_news()
        await indexing.catch_up(PATIENCE_S)
        assert index.calls == ["step", "step"]
        await indexing.catch_up(PATIENCE_S)  # without news there is nothing to wait for
        assert index.calls == ["step", "step"]
        await indexing.end()

    run(test)


def test_news_during_a_piece_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test() -> None:
        monkeypatch.setattr(timing, "LOOK_S", 3600.0)
        index = FakeIndex()
        index.may_step.clear()
        indexing = Indexing(index, lambda: True)
        indexing.begin()
        await reached(lambda: not indexing._news)  # the piece goes on
        indexing.note_news()
        caught_up = asyncio.create_task(indexing.catch_up(PATIENCE_S))
        index.may_step.set()
        await caught_up
        assert index.calls == ["step", "step"]
        await indexing.end()

    run(test)


def test_a_search_waits_no_longer_than_it_says() -> None:
    async def test() -> None:
        index = FakeIndex()
        index.may_step.clear()
        indexing = Indexing(index, lambda: True)
        indexing.begin()
        await indexing.catch_up(0.01)
        assert index.calls == []
        index.may_step.set()
        await indexing.end()

    run(test)


@pytest.mark.parametrize("error", [StorageFull("the disk is full"), RuntimeError("a bug")])
def test_an_error_is_said_and_it_is_tried_again(error: Exception) -> None:
    async def test() -> None:
        index = FakeIndex()
        index.error = error
        indexing = Indexing(index, lambda: True)
        indexing.begin()
        await reached(lambda: indexing.trouble is not None)
        assert indexing.trouble in {"the disk is full", "it failed: RuntimeError"}
        index.error = None
        await reached(lambda: indexing.trouble is None)
        await reached(lambda: "rest" in index.calls)
        await indexing.end()

    run(test)


def test_an_unwanted_index_is_removed_once_and_read_anew_when_wanted_again() -> None:
    async def test() -> None:
        index = FakeIndex()
        wanted = False
        indexing = Indexing(index, lambda: wanted)
        indexing.begin()
        await reached(lambda: bool(index.calls))
        for _ in range(20):
            await asyncio.sleep(0)
        assert index.calls == ["remove"]
        wanted = True
        await reached(lambda: "rest" in index.calls)
        assert index.calls == ["remove", "step", "rest"]
        await indexing.end()

    run(test)
