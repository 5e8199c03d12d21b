"""The main thread's wait, which other threads can end, and every signal ends, whichever thread received it.

A signal that the kernel delivers to another thread wakes no lock that the main thread waits in, and Python runs
handlers on the main thread only. Therefore the main thread waits at a descriptor.
"""

import contextlib
import os
import select
import signal


class SignalFlag:
    """A flag that signal handlers may set: a threading.Event without its lock.

    A handler interrupts the main thread anywhere. If it interrupts another handler, or a wait for this very flag, the
    lock of an Event would be held by code that continues only when the handler has returned.
    """

    def __init__(self) -> None:
        self._set = False

    def set(self) -> None:
        self._set = True

    def clear(self) -> None:
        self._set = False

    def is_set(self) -> bool:
        return self._set


class SignalWakeup:
    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        os.set_blocking(self._reader, False)
        self._before: int | None = None

    def hear_signals(self) -> None:
        """End the wait at each signal, too. From the main thread."""
        self._before = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)

    def wake(self) -> None:
        """End the wait, from any thread."""
        with contextlib.suppress(BlockingIOError):  # full: the wait ends already
            os.write(self._writer, b"\0")

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until the next `wake` or signal since the last wait, or until the time runs out."""
        select.select([self._reader], [], [], timeout_s)
        with contextlib.suppress(BlockingIOError):
            os.read(self._reader, 4096)

    def close(self) -> None:
        if self._before is not None:
            signal.set_wakeup_fd(self._before)
        os.close(self._reader)
        os.close(self._writer)
