"""The real daemon, which says on SIGUSR2 how long its garbage collector has stopped everything, and begins anew.

Counted is the processor's time of the thread: on a busy machine the other counts what else the machine does.
"""

import gc
import os
import signal
import sys
import time
from pathlib import Path

from supervisor.daemon import daemon_start

STOPS = "STOPS_FILE"  # the variable with the name of the file that is written


class Stops:
    def __init__(self) -> None:
        self._began = 0.0
        self._longest_s = 0.0

    def note(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.thread_time()
        else:
            self._longest_s = max(self._longest_s, time.thread_time() - self._began)

    def tell(self, *_: object) -> None:
        """Write the longest, in seconds."""
        place = Path(os.environ[STOPS])
        unfinished = place.with_suffix(".new")
        unfinished.write_text(f"{self._longest_s}", encoding="ascii")
        unfinished.rename(place)
        self._longest_s = 0.0


if __name__ == "__main__":
    stops = Stops()
    gc.callbacks.append(stops.note)
    signal.signal(signal.SIGUSR2, stops.tell)
    sys.exit(daemon_start.main())
