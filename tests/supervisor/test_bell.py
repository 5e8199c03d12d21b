"""What a signal handler touches, in the middle of whatever the main thread does with it."""

import subprocess
import sys

from supervisor.bell import Wish

# The handler runs before every instruction of what it interrupts, as a signal may.
AT_EVERY_MOMENT = """
import faulthandler, sys
from supervisor.bell import Wish
faulthandler.dump_traceback_later(5, exit=True)
wish = Wish()
def handler(frame, *_):
    frame.f_trace_opcodes = True
    wish.set()
    return handler
sys.settrace(handler)
wish.clear()
wish.wait(0.0)
wish.set()
"""


def test_a_wish_can_be_set_by_a_signal_at_every_moment() -> None:
    subprocess.run([sys.executable, "-c", AT_EVERY_MOMENT], check=True, timeout=20)


def test_a_wait_ends_with_the_time_and_says_whether_it_was_wished() -> None:
    wish = Wish()
    assert not wish.wait(0.0)
    wish.set()
    assert wish.wait(60.0)
    wish.clear()
    assert not wish.is_set()
