"""Parcels leave in order over a descriptor that takes any number of bytes, and each reports when it has left."""

import contextlib
import os
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.transports.house import LoopThread, running_loop
from transports.descriptors import ONE_GO, DescriptorWire
from transports.wire import Parcel


class Grudging:
    """The end of a wire that takes a few bytes in each try, and sometimes nothing."""

    linger_s: float | None = None

    def __init__(self, takes: list[int]) -> None:
        self._takes = takes
        self.tries: list[int] = []
        self.taken = bytearray()
        self.reads_from, self._far = os.pipe()
        self.writes_to = self._far  # a pipe that nobody fills: the loop finds it writable at once

    def read(self, size: int) -> bytes:
        return os.read(self.reads_from, size)

    def write(self, data: memoryview) -> int:
        self.tries.append(len(data))
        takes = self._takes.pop(0) if self._takes and data else len(data)
        if data and takes == 0:
            raise BlockingIOError
        self.taken += data[:takes]
        return min(takes, len(data))

    def close(self) -> None:
        os.close(self.reads_from)
        os.close(self._far)


@pytest.fixture(scope="module")
def loop() -> Iterator[LoopThread]:
    """A loop for all examples."""
    with running_loop() as loop:
        yield loop


@contextlib.contextmanager
def wire_to(end: Grudging, loop: LoopThread) -> Iterator[DescriptorWire]:
    wire = DescriptorWire(end, loop.loop)
    yield wire
    loop.call(lambda: wire.cut_off("the test is over"))
    loop.call(lambda: None)


def written(wire: DescriptorWire, loop: LoopThread) -> None:
    for _ in range(1000):
        if not wire.unsent_bytes:
            return
        loop.call(lambda: None)
    raise AssertionError(f"{wire.unsent_bytes} bytes never left")


@given(
    sizes=st.lists(st.integers(0, 40) | st.sampled_from([ONE_GO - 1, ONE_GO, ONE_GO + 1]), min_size=1, max_size=12),
    takes=st.lists(st.integers(0, 60) | st.just(ONE_GO), max_size=30),
)
def test_whatever_the_peer_takes_all_leaves_in_order_and_each_is_said_to_have_left(
    loop: LoopThread, sizes: list[int], takes: list[int]
) -> None:
    end = Grudging(takes)
    told: list[tuple[int, int]] = []

    def numbered(number: int, size: int) -> Parcel:
        return Parcel(bytes([number]) * size, lambda: told.append((number, len(end.taken))))

    parcels = [numbered(number, size) for number, size in enumerate(sizes, 1)]
    with wire_to(end, loop) as wire:
        loop.call(lambda: wire.write(parcels))
        written(wire, loop)
        loop.call(lambda: None)
    assert bytes(end.taken) == b"".join(parcel.data for parcel in parcels)
    assert [number for number, _ in told] == [*range(1, len(sizes) + 1)]
    assert all(taken >= sum(sizes[:number]) for number, taken in told), "one was said to have left before it had"


def test_small_parcels_leave_together(loop: LoopThread) -> None:
    end = Grudging([])
    with wire_to(end, loop) as wire:
        loop.call(lambda: wire.write([Parcel(b"x" * 100)] * 50))
        loop.call(lambda: wire.write([Parcel(b"x" * ONE_GO), Parcel(b"y")]))
    assert end.tries == [5000, ONE_GO, 1]
