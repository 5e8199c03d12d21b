"""Waits at the same time: they begin together, and none outlives the block."""

import asyncio

import pytest

from supervisor.loop.side_by_side import side_by_side


class Parties:
    """Work that goes on only when all of it has begun; it notes how it ended."""

    def __init__(self, count: int) -> None:
        self.barrier = asyncio.Barrier(count)
        self.ends: list[str] = []

    async def meet(self, name: str) -> str:
        await self.barrier.wait()
        return name

    async def stay(self, name: str) -> str:
        try:
            await self.barrier.wait()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # letting go may take a moment
            self.ends.append(name)
            raise
        return name


def test_all_of_it_is_under_way_at_once_and_the_results_have_its_order() -> None:
    async def run() -> list[str]:
        parties = Parties(3)
        async with side_by_side(parties.meet(name) for name in "abc") as results:
            return [await result for result in results]

    assert asyncio.run(asyncio.wait_for(run(), 10)) == ["a", "b", "c"]


def test_a_cancelled_block_cancels_all_of_it_and_waits_for_the_ends() -> None:
    async def run() -> list[str]:
        parties = Parties(4)

        async def block() -> None:
            async with side_by_side(parties.stay(name) for name in "abc") as results:
                for result in results:
                    await result

        blocked = asyncio.create_task(block())
        await parties.barrier.wait()
        blocked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await blocked
        return parties.ends

    assert asyncio.run(asyncio.wait_for(run(), 10)) == ["a", "b", "c"]


def test_an_error_in_one_is_raised_and_ends_the_others() -> None:
    async def run() -> list[str]:
        parties = Parties(2)

        async def fail() -> str:
            await parties.barrier.wait()
            raise ValueError("no")

        async def block() -> None:
            async with side_by_side((fail(), parties.stay("b"))) as results:
                for result in results:
                    await result

        with pytest.raises(ValueError, match="no"):
            await block()
        return parties.ends

    assert asyncio.run(asyncio.wait_for(run(), 10)) == ["b"]
