"""The real daemon, of the directory it is started in, whose loop notes the callbacks that hold it up.

A wrapper: `python watched.py FILE python -m supervisor …`. Each callback that takes a millisecond or more of the
loop's thread is a line in FILE: its CPU time, its time, and its name. CPU time does not count a wait for a
processor or for the interpreter's lock, so it is the callback's own on a busy machine, too.
"""

import asyncio
import os
import sys
import time
from pathlib import Path

LONG_S = 0.001


def watch(file: Path) -> None:
    notes = file.open("a", encoding="utf-8", buffering=1)
    run = asyncio.Handle._run  # noqa: SLF001  # every callback of a loop goes through it

    def run_and_note(handle: asyncio.Handle) -> None:
        cpu, began = time.thread_time(), time.perf_counter()
        run(handle)
        took = time.thread_time() - cpu
        if took > LONG_S:
            what = getattr(handle._callback, "__self__", handle)  # type: ignore[attr-defined]  # noqa: SLF001  # a task
            notes.write(f"{took * 1e3:.2f} {(time.perf_counter() - began) * 1e3:.2f} {what!r}\n")

    asyncio.Handle._run = run_and_note  # type: ignore[method-assign,assignment]  # noqa: SLF001  # see above


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
    sys.path.insert(0, os.getcwd())  # noqa: PTH109  # as `python -m` does
    sys.argv[1:] = sys.argv[5:]  # after `python -m supervisor`
    from supervisor.daemon import daemon_start  # behind the directory that it is read from

    sys.exit(daemon_start.main())
