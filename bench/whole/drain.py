"""A reader in a process of its own that discards what it reads, so that it takes little time from the measurement.

python -m bench.whole.drain SOCKET CONVERSATION…
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from greenroom.wire import ControlWire
from tests.faults.caller import dial
from tests.faults.daemon_harness import ROOT


def main() -> None:
    sock, _ = dial(Path(sys.argv[1]), "drain", Path("/"))
    wire = ControlWire(print)
    for conversation in sys.argv[2:]:
        params = {"conversation": conversation, "after": None}
        sock.sendall(wire.request("conversation/attach", params, print)[1])
        sock.recv(65536)
    print("attached", flush=True)
    sock.settimeout(None)
    while sock.recv(1 << 20):
        pass


@contextmanager
def draining_readers(socket: Path, conversations: Sequence[str]) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.whole.drain", str(socket), *conversations], cwd=ROOT, stdout=subprocess.PIPE
    ) as reader:
        assert reader.stdout is not None
        try:
            assert reader.stdout.readline() == b"attached\n"
            yield
        finally:
            reader.kill()


if __name__ == "__main__":
    main()
