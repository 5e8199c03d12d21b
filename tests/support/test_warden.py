"""A run that is killed leaves nothing, neither its children nor the daemons that have left it."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support import warden
from tests.support.bridge import wait_until
from tests.support.home import Home

ROOT = Path(__file__).resolve().parents[2]
RUN = """
import sys, threading
from pathlib import Path
from tests.support import warden
from tests.support.home import Home
warden.watch()
child, detached = (Home(Path(one)) for one in sys.argv[1:])
child.start().said()
detached.launch()
print("running", flush=True)
threading.Event().wait()
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM])
def test_a_run_that_is_killed_leaves_no_daemon(tmp_path: Path, signum: signal.Signals) -> None:
    homes = [Home(tmp_path / name) for name in ("child", "detached")]
    environ = {key: value for key, value in os.environ.items() if key != warden.MARK}  # a run of its own
    command = [sys.executable, "-c", RUN, *(str(home.directory) for home in homes)]
    with subprocess.Popen(command, env=environ, cwd=ROOT, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == b"running\n"
        pids = [int(Path(home.paths.pid_file).read_text()) for home in homes]
        run.send_signal(signum)
        run.wait()
    for pid in pids:
        wait_until(partial(gone, pid), "a daemon was left")


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_this_run_is_watched_and_everything_it_starts_bears_its_mark() -> None:
    mark = os.environ[warden.MARK]
    with subprocess.Popen(["sleep", "300"]) as child:
        try:
            wait_until(lambda: child.pid in warden.marked(mark), "it bears no mark")
            assert child.pid not in warden.marked("another")
        finally:
            child.kill()
