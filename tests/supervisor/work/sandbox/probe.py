"""A program for inside of a sandbox: tries each row of the table, and reports the rows in which it succeeded.

`python probe.py WHERE`, in the conversation's directory, where WHERE is a JSON object of places. Standard
library alone.
"""

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

WHERE = json.loads(sys.argv[1])
ROOT, OURS = Path(WHERE["root"]), Path(WHERE["ours"])
LIBC = ctypes.CDLL(None, use_errno=True)
KEYCTL = {"x86_64": 250, "aarch64": 219}
MS_BIND = 4096


def write(path: object) -> None:
    Path(str(path)).write_text("x", encoding="utf-8")


def make(path: Path) -> None:
    path.mkdir(parents=True, exist_ok=True)
    write(path / "config")


def connect(family: int, address: object) -> None:
    with socket.socket(family) as one:
        one.connect(address)  # type: ignore[arg-type]  # of either family


def loopback() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


def pair(kind: int) -> None:
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    one.send(b"x")
    assert other.recv(1) == b"x"


def system(result: int) -> None:
    if result == -1:
        raise OSError(ctypes.get_errno(), "refused")


def leave_set_id() -> None:
    write("/dev/shm/tool")
    target = Path("tool") if os.access(".", os.W_OK) else Path("/dev/shm/tool")
    write(target)
    target.chmod(0o4755)


def seen_process() -> None:
    """Find a process by its argv: its number may be another's in here."""
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and b"pytest" in (process / "cmdline").read_bytes().split(b"\0", 3)[2:3]:
            return
    os.kill(WHERE["pid"], 0)


def mount() -> None:
    system(LIBC.mount(b"/dev/shm", str(OURS / "config/us").encode(), None, MS_BIND, None))


def inherited() -> None:
    if sum(1 for _ in Path("/proc/self/fd").iterdir()) <= 4:  # the three, and the descriptor that lists them
        raise OSError(0, "nothing")


def rename() -> None:
    (OURS / "config").rename(OURS / "moved")


def namespace() -> None:
    system(LIBC.unshare(0x10000000))


def lease() -> None:
    with Path(WHERE["secret"]).open(encoding="utf-8") as file:
        system(LIBC.fcntl(file.fileno(), 1024, 0))


def hidden() -> None:
    write(OURS / "run/socket")


ROWS: dict[str, Callable[[], object]] = {
    "read any file of the user's": lambda: Path(WHERE["secret"]).read_text(encoding="utf-8"),
    "write in the conversation's directory": lambda: write("new"),
    "write in a further root": lambda: write(ROOT / "new"),
    "write in `/tmp`": lambda: write(WHERE["tmp"]),
    "write in `$TMPDIR`": lambda: write(Path(os.environ["TMPDIR"]) / "new"),
    "write anywhere else": lambda: write(Path(WHERE["elsewhere"]) / "new"),
    "write in a root through a link that leads out of it": lambda: write("out/new"),
    "link a file from outside into a root": lambda: os.link(WHERE["secret"], ROOT / "linked"),
    "write in its own `/dev/shm`": lambda: write("/dev/shm/new"),
    "change settings of the kernel": lambda: Path("/proc/sys/kernel/hostname").open("r+").close(),
    "change the `.git` of a root": lambda: write(".git/config"),
    "make a `.git` in a root that has none": lambda: make(ROOT / ".git"),
    "change a `.git` below a root": lambda: write(ROOT / "packages/app/.git/config"),
    "make a `.git` where a submodule belongs": lambda: make(ROOT / "packages/app/lib/.git"),
    "make a `HEAD` in a root that is no repository": lambda: write(ROOT / "HEAD"),
    "change a folder of hooks that the root's repository names": lambda: make(Path(".hooks")),
    "change what agents and editors obey in a root": lambda: write(ROOT / "packages/app/.claude/settings.json"),
    "make a folder that an agent or an editor obeys": lambda: make(ROOT / ".vscode"),
    "make a repository in a folder below a root": lambda: make(ROOT / "fresh/.git"),
    "change Greenroom's configuration or state": lambda: write(OURS / "config/us/config.toml"),
    "make a configuration that Greenroom would read": lambda: write(OURS / "codex.toml"),
    "see the folder of Greenroom's socket": hidden,
    "rename a folder on the way to what is closed": rename,
    "leave a file that runs as its owner": leave_set_id,
    "see processes outside": seen_process,
    "mount something over what is closed": mount,
    "connect to the host's loopback": lambda: connect(socket.AF_INET, ("127.0.0.1", WHERE["port"])),
    "use a loopback": loopback,
    "connect to a unix socket outside": lambda: connect(socket.AF_UNIX, WHERE["unix"]),
    "connect to an abstract unix socket outside": lambda: connect(socket.AF_UNIX, WHERE["abstract"]),
    "use a pair of connected sockets": lambda: pair(socket.SOCK_STREAM),
    "use a pair of datagram sockets": lambda: pair(socket.SOCK_DGRAM),
    "write into a named pipe outside that somebody reads": lambda: os.close(
        os.open(WHERE["pipe"], os.O_WRONLY | os.O_NONBLOCK)
    ),
    "keep others from opening a file by a lease": lease,
    "make a user namespace": namespace,
    "change a bare repository below a root": lambda: write(ROOT / "bare/config"),
    "make a repository in a folder above a root that is none": lambda: make(ROOT.parent / ".git"),
    "use the kernel's keyrings": lambda: system(LIBC.syscall(KEYCTL[os.uname().machine], 0, -3, 0)),
    "use a descriptor of the daemon's": inherited,
}


def could(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    print(json.dumps({what: could(attempt) for what, attempt in ROWS.items()}))
