"""Freed memory goes back to the system, also from between blocks in use."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
from pathlib import Path
from supervisor.engine.allocator import MemoryTrimming, keep_little


class Clock:
    def tell_later(self, delay_s, address, message):
        self.told = lambda: address.tell(message)

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

keep_little()
clock = Clock()
MemoryTrimming(clock, lambda work: work()).begin()
blocks = [bytearray(40_000) for _ in range(2_000)]
kept = blocks[::20]
del blocks
before = resident()
clock.told()
print(before - resident())
clock.told()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps memory its own way")
def test_pages_between_what_is_kept_go_back_each_time_the_clock_says_so() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 50 << 20
