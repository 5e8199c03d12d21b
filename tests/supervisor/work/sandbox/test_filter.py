"""Things that no mount separates: other programs' sockets, the kernel's keyrings, files that run as their owner."""

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import new_token
from tests.supervisor.work.place import CLOSED, Place, on_linux

pytestmark = on_linux
NETWORK = CLOSED.model_copy(update={"network_access": True})
EITHER = pytest.mark.parametrize("policy", [CLOSED, NETWORK], ids=["without network", "with network"])


@pytest.fixture
def short() -> Iterator[Path]:
    """Make a short path: names of sockets may have 107 bytes."""
    folder = Path("/tmp") / new_token()[:20]
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


PAIRS = """
import socket, sys
kinds = {"stream": socket.SOCK_STREAM, "seqpacket": socket.SOCK_SEQPACKET, "dgram": socket.SOCK_DGRAM, "raw": 3}
try:
    one, other = socket.socketpair(socket.AF_UNIX, kinds[sys.argv[1]] | socket.SOCK_NONBLOCK)
except PermissionError:
    sys.exit("no pair")
for attempt in (lambda: one.connect(sys.argv[2]), lambda: one.sendto(b"x", sys.argv[2]),
                lambda: one.sendmsg([b"x"], [], 0, sys.argv[2])):
    try:
        attempt()
    except OSError:
        pass
other.close()
try:
    one.connect(sys.argv[2]); print("connected")
except OSError:
    pass
"""


@EITHER
@pytest.mark.parametrize("kind", ["stream", "seqpacket", "dgram", "raw"])
def test_a_pair_of_sockets_reaches_nobody_outside(place: Place, short: Path, kind: str, policy: object) -> None:
    with ExitStack() as stack:
        servers = {}
        for name, number in (("stream", 1), ("dgram", 2), ("seqpacket", 5)):
            servers[name] = stack.enter_context(socket.socket(socket.AF_UNIX, number | socket.SOCK_NONBLOCK))
            servers[name].bind(str(short / name))
            if name != "dgram":
                servers[name].listen()
        where = str(short / ("dgram" if kind == "raw" else kind))
        did = place.python(PAIRS, kind, where, policy=policy)  # type: ignore[arg-type]  # ids want objects
        assert did.stdout == ""
        assert ("no pair" in did.stderr) == (kind in {"dgram", "raw"})
        with pytest.raises(BlockingIOError):
            servers["dgram"].recv(1)
        for name in ("stream", "seqpacket"):
            with pytest.raises(BlockingIOError):
                servers[name].accept()


KEYS = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (248, 249, 250), "aarch64": (217, 218, 219)}[os.uname().machine]
for number in numbers:
    assert libc.syscall(number, 0, -3, 0, 0, 0) == -1 and ctypes.get_errno() == 1, number
"""


@EITHER
def test_the_keyrings_of_the_user_are_out_of_reach(place: Place, policy: object) -> None:
    did = place.python(KEYS, policy=policy)  # type: ignore[arg-type]  # ids want objects
    assert (did.exit_code, did.stderr) == (0, "")


SET_ID = """
import ctypes, os, stat
libc = ctypes.CDLL(None, use_errno=True)
class How(ctypes.Structure):
    _fields_ = [("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64)]
open("plain", "w").close()
fd = os.open("plain", os.O_RDONLY)
here = os.open(".", os.O_RDONLY)
machine = os.uname().machine
numbers = {"x86_64": {"open": 2, "creat": 85, "mknod": 133, "chmod": 90}, "aarch64": {}}[machine]
how = How(os.O_CREAT | os.O_WRONLY, 0o4755, 0)
for bits in (0o4755, 0o2755, 0o6755):
    attempts = {
        "chmod": lambda: os.chmod("plain", bits),
        "fchmod": lambda: os.fchmod(fd, bits),
        "fchmodat": lambda: os.chmod("plain", bits, dir_fd=here),
        "fchmodat2": lambda: libc.syscall(452, here, b"plain", bits, 0),
        "openat": lambda: os.open("o", os.O_CREAT | os.O_WRONLY, bits),
        "tmpfile": lambda: os.open(".", os.O_TMPFILE | os.O_WRONLY, bits),
        "mknodat": lambda: os.mknod("m", bits | stat.S_IFREG),
        "openat2": lambda: libc.syscall(437, here, b"o2", ctypes.byref(how), 24),
        **{name: (lambda number=number, name=name: libc.syscall(
            number, name.encode() if name != "chmod" else b"plain", *(
                (0o101, bits) if name == "open" else (bits | (stat.S_IFREG if name == "mknod" else 0), 0))))
           for name, number in numbers.items()},
    }
    for name, attempt in attempts.items():
        try:
            attempt()
        except OSError:
            pass
left = [name for name in os.listdir(".") if os.lstat(name).st_mode & 0o6000]
assert not left, left
os.chmod("plain", 0o755)
os.close(os.open("ordinary", os.O_CREAT | os.O_WRONLY, 0o1644))
os.close(os.open("ordinary", os.O_RDONLY, 0o4755))
libc.syscall({"x86_64": 257, "aarch64": 56}[machine], here, b"ordinary", 0, 0o7777)
"""


def test_a_command_leaves_no_file_that_runs_as_its_owner(place: Place) -> None:
    did = place.python(SET_ID)
    assert (did.exit_code, did.stderr) == (0, "")
    assert (place.workspace / "plain").stat().st_mode & 0o7777 == 0o755
    assert [path for path in place.workspace.iterdir() if path.stat().st_mode & 0o6000] == []


OTHERS = """
import ctypes, errno, fcntl, os, struct
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == "x86_64"
NEW_USER = 0x10000000
def refused(result, why=errno.EPERM):
    assert result == -1 and ctypes.get_errno() == why, (result, ctypes.get_errno())
for flags in (NEW_USER, NEW_USER | 0x20000):
    refused(libc.syscall(272 if x86 else 97, flags))
    refused(libc.syscall(56 if x86 else 220, flags | 17, 0, 0, 0, 0))
refused(libc.syscall(435, struct.pack("QQQQQQQQ", NEW_USER, 0, 0, 0, 17, 0, 0, 0), 64), errno.ENOSYS)
fd = os.open("plain", os.O_RDONLY | os.O_CREAT)
for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
    refused(libc.syscall(72 if x86 else 25, fd, 1024, kind))
fcntl.lockf(fd, fcntl.LOCK_SH)
"""


def test_a_command_makes_no_user_namespace_and_takes_no_lease(place: Place) -> None:
    did = place.python(OTHERS)
    assert (did.exit_code, did.stderr) == (0, "")


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
@EITHER
def test_a_terminal_multiplexer_runs_nothing_for_a_command(place: Place, short: Path, policy: object) -> None:
    tmux = ["tmux", "-S", str(short / "tmux")]
    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d", "sleep 300"], check=True)
    try:
        subprocess.run([*tmux, "run-shell", f"touch {short}/works"], check=True)
        did = place.run(*tmux, "run-shell", f"touch {short}/owned", policy=policy)  # type: ignore[arg-type]  # ids
        assert did.exit_code != 0
        assert (short / "works").exists()
        assert not (short / "owned").exists()
    finally:
        subprocess.run([*tmux, "kill-server"], check=True)


TRY = """
import socket, sys
for name in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(name.replace("@", "\\0"))
        print("reached", name)
    except OSError:
        pass
"""


def listening(stack: ExitStack, *names: str) -> None:
    for name in names:
        server = stack.enter_context(socket.socket(socket.AF_UNIX))
        server.bind(name.replace("@", "\0"))
        server.listen()


@pytest.mark.parametrize("network", [False, True])
def test_of_all_sockets_only_the_named_ones_are_reached(place: Place, short: Path, *, network: bool) -> None:
    """A bus, Docker's socket and a project's are tried, the last also by a link."""
    bus, docker, project, named = (str(short / name) for name in ("bus", "docker.sock", "p", "named"))
    (place.workspace / "link").symlink_to(docker)
    policy = CLOSED.model_copy(update={"network_access": network, "unix_sockets": (Path(named),)})
    with ExitStack() as stack:
        listening(stack, bus, docker, project, named)
        did = place.python(TRY, bus, docker, project, named, str(place.workspace / "link"), policy=policy)
    assert did.stdout == f"reached {named}\n"


def test_a_name_that_is_no_socket_or_leads_over_a_link_opens_none(place: Place, short: Path) -> None:
    (short / "file").write_text("")
    (short / "way").symlink_to(short)
    with ExitStack() as stack:
        listening(stack, str(short / "s"))
        (short / "link").symlink_to(short / "s")
        for name in ("file", "way/s", "gone", "link"):
            policy = CLOSED.model_copy(update={"unix_sockets": (short / name,)})
            with pytest.raises(OSError), place.sandbox.confine(policy, place.workspace, ["true"], {}):
                pass


def test_the_folder_where_a_users_sockets_lie_hides_those_that_come_later(place: Place, short: Path) -> None:
    usual = Path(f"/tmp/tmux-{os.getuid()}")
    made = not usual.exists()
    usual.mkdir(exist_ok=True)
    late = usual / new_token()
    policy = CLOSED.model_copy(update={"unix_sockets": (short / "named",)})
    try:
        with ExitStack() as stack:
            listening(stack, str(short / "named"))
            with Sandbox().confine(policy, place.workspace, [sys.executable, "-c", TRY, str(late)], {}) as inside:
                listening(stack, str(late))
                told = subprocess.run(
                    inside.argv, env=inside.env, pass_fds=inside.pass_fds, capture_output=True, check=True
                )
        assert told.stdout == b""
    finally:
        late.unlink()
        if made:
            usual.rmdir()


def test_names_of_hosts_are_found_with_the_network_on(place: Place) -> None:
    script = "import socket; print(socket.getaddrinfo('localhost', 80)[0][4][1])"
    assert place.python(script, policy=NETWORK).stdout == "80\n"
