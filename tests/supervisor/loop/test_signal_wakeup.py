"""The objects that signal handlers touch while the main thread uses them."""

import subprocess
import sys

# The handler runs before every instruction of what it interrupts, as a signal may.
AT_EVERY_MOMENT = """
import faulthandler, sys
from supervisor.loop.signal_wakeup import SignalFlag
faulthandler.dump_traceback_later(5, exit=True)
flag = SignalFlag()
def handler(frame, *_):
    frame.f_trace_opcodes = True
    flag.set()
    return handler
sys.settrace(handler)
flag.clear()
flag.is_set()
flag.set()
"""


def test_a_flag_can_be_set_by_a_signal_at_every_moment() -> None:
    subprocess.run([sys.executable, "-c", AT_EVERY_MOMENT], check=True, timeout=20)
