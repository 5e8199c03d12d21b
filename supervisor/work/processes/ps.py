"""The process table of macOS, read by `ps`: a snapshot for each look at a tree.

macOS has no sub-reaper, so every process is a candidate, and is recognised by group, descent and marks only; a
process without all three escapes. Written from the manual of ps(1); only the parsing is tested on Linux.
"""

import calendar
import os
import re
import subprocess
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence

from supervisor.work.processes.command import MARKS
from supervisor.work.processes.table import Process

PS = ("/bin/ps", "-axwwE", "-o", "pid=,ppid=,pgid=,stat=,lstart=,command=")
PS_TIMEOUT_S = 5.0  # takes some 20 ms; if it hangs, we must not
LINE = re.compile(r"\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]{8}\s+\d{4})\s?(.*)")
MARK = re.compile(rf"(?:^|\s)({'|'.join(MARKS)})=(\S*)")


class PsTable:
    boot = "-"  # lstart is a date, and means the same after another boot

    def __init__(self) -> None:
        self._processes: dict[int, Process] = {}
        self._marks: dict[int, dict[str, str]] = {}
        self._children: dict[int, list[int]] = defaultdict(list)

    def now(self) -> int:
        return int(time.time())

    def refresh(self) -> None:
        env = {**os.environ, "LC_ALL": "C", "TZ": "UTC"}
        done = subprocess.run(PS, env=env, capture_output=True, timeout=PS_TIMEOUT_S, check=True)  # noqa: S603 - a constant
        self.read(done.stdout.decode("utf-8", "replace"))

    def read(self, listing: str) -> None:
        self._processes.clear()
        self._marks.clear()
        self._children.clear()
        for line in listing.splitlines():
            if match := LINE.match(line):
                pid, ppid, pgid = int(match[1]), int(match[2]), int(match[3])
                start = calendar.timegm(time.strptime(match[5], "%a %b %d %H:%M:%S %Y"))
                self._processes[pid] = Process(pid, ppid, pgid, pgid, start, dead="Z" in match[4])
                self._marks[pid] = {found[1]: found[2] for found in MARK.finditer(match[6])}
                self._children[ppid].append(pid)

    def candidates(self) -> Sequence[int]:
        return list(self._processes)

    def all_pids(self) -> Sequence[int]:
        return list(self._processes)

    def look(self, pid: int) -> Process | None:
        return self._processes.get(pid)

    def children(self, pid: int) -> Sequence[int]:
        return self._children.get(pid, ())

    def tag(self, _: int) -> None:
        return None  # macOS has no such number

    def marks(self, pid: int) -> Mapping[str, str]:
        return self._marks.get(pid, {})
