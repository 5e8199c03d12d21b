"""The lock that keeps one daemon per home, and the files with its address and pid. Imports little, see __main__.

The lock file's text is `pid N, socket PATH` while the holder can be reached, `pid N` while it starts or stops,
`pid N, busy: TEXT` if starting takes long, and `pid N, embedded` while a program without a socket serves the home.
The file's second block tells that process from any other that ever has the same pid.
"""

# ruff: noqa: PTH105, PTH108, PTH123 # pathlib would be most of the imports here

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Callable

from actors.vocabulary.errors import GreenroomError
from supervisor.paths import LOCK_TEXT_BYTES, SOCKET
from transports.address import use_short_path

LOOK_S = 0.02  # between looks at a lock that is taken
EMBEDDED_MARK = ", embedded"
BUSY = ", busy: "
CONNECT_S = 1.0  # a living daemon is connected at once: the kernel puts us into its backlog
STRANGE_S = 0.5  # a daemon writes its pid as soon as it has the lock; children of a killed one end soon


class AlreadyRunning(GreenroomError):
    """Another daemon of this home holds the lock."""

    code = "already_running"

    def __init__(self, told: str, life: str = "") -> None:
        """`life`: the holder's `life_of`, "" if the lock file does not have it yet."""
        self.lock_text = told
        self.life = life
        self.is_embedded = told.endswith(EMBEDDED_MARK)
        rest, _, self.socket = told.removesuffix(EMBEDDED_MARK).partition(SOCKET)
        named, _, self.busy_with = rest.partition(BUSY)
        self.pid = int(named.removeprefix("pid ")) if named.removeprefix("pid ").isdecimal() else None
        doing = "already runs" if self.socket else "is starting or stopping"
        super().__init__(f"a daemon {doing} ({told or 'no pid yet'})")


class HeldByAnEmbedded(GreenroomError):
    """A program serves the home by itself as long as it lives, so waiting would not help."""

    code = "held_by_an_embedded"


class HeldByAStranger(GreenroomError):
    """A process that is not a daemon holds the lock, so waiting would not help."""

    code = "held_by_a_stranger"


class DaemonLock:
    """A lock that is held as long as the process lives: the kernel frees it however the process ends.

    The lock stays in its directory, wherever that is moved: another directory at the same path is another home.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._place, self._name = os.path.split(path)
        self._more = ""
        self._lost: list[int] = []  # handles of deleted files; kept open, as another thread may be writing there
        # Open as long as the process lives, so that no other directory gets the same inode number.
        self._directory = os.open(self._place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._handle = _open_locked(path, self._name, self._directory)
            self._tell_first()
        except BaseException:
            os.close(self._directory)
            raise

    def _tell_first(self) -> None:
        try:
            self.tell()
        except OSError as error:
            os.close(self._handle)
            raise OSError(error.errno, error.strerror, self._path) from error

    def home_is_here(self) -> bool:
        """Whether the locked home is still at its path. From any thread, as long as the lock is held."""
        return _same_file(self._directory, self._place)

    def tell(self, address: str = "") -> None:
        """Write the holder and its address into the lock file. A single write, so no reader sees half of it."""
        self._write(f"{SOCKET}{address}" if address else "")

    def tell_busy(self, text: str) -> None:
        """Note the work that takes this start so long; processes that wait for it go on waiting."""
        self._write(f"{BUSY}{text}")

    def tell_embedded(self) -> None:
        """Note that this process serves a single client and no socket."""
        self._write(EMBEDDED_MARK)

    def look(self) -> str | None:
        """Take the lock again if its file was deleted; return a complaint if that fails. From one thread only."""
        if _same_file(self._handle, self._name, self._directory):
            return None
        try:
            fresh = _open_locked(self._path, self._name, self._directory)
        except (AlreadyRunning, OSError) as error:
            return f"{self._path} was taken away, and can't be made again: {error}"
        self._lost.append(self._handle)
        self._handle = fresh  # from here on `tell` writes there; the present text is written again
        self._write(self._more)
        return None

    def _write(self, more: str) -> None:
        self._more = more
        text = os.fsencode(f"pid {os.getpid()}{more}").ljust(LOCK_TEXT_BYTES)
        os.pwrite(self._handle, text + life_of(os.getpid()).encode().ljust(LOCK_TEXT_BYTES), 0)

    def release(self) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._handle, 0)
        for handle in (*self._lost, self._handle, self._directory):
            os.close(handle)


def life_of(pid: int) -> str:
    """An identity that no other process with this pid ever has; "" if the process is gone or the system has none."""
    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as boot:
            return f"{boot.read().strip().decode()}:{_stat(pid)[19]}"
    except (OSError, IndexError):
        return ""


def _open_locked(path: str, name: str, directory: int) -> int:
    try:
        handle = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600, dir_fd=directory)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _holder(handle)
        os.close(handle)
        raise holder from None
    except BaseException:
        os.close(handle)
        raise
    return handle


def _same_file(handle: int, path: str, directory: int | None = None) -> bool:
    try:
        return os.path.samestat(os.stat(path, dir_fd=directory), os.fstat(handle))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # a disk that does not answer has not lost the file
        return True


def lock_holder(path: str) -> AlreadyRunning | None:
    """The holder of the lock, for programs that don't take it themselves; None if it is free."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared, so that two callers don't see each other
    except BlockingIOError:
        return _holder(handle)
    finally:
        os.close(handle)
    return None


def take_lock(path: str, patience_s: float, busy: Callable[[str], None] = lambda _: None) -> DaemonLock:
    """Take the lock, waiting for a holder that starts or stops. AlreadyRunning when the holder serves.

    Each report of a holder's start (`busy`) begins the wait anew. A holder counts as serving only if it answers: the
    text stays when its writer is killed.
    """
    deadline = time.monotonic() + patience_s
    strange_since, shown = None, ""
    while True:
        try:
            return DaemonLock(path)
        except AlreadyRunning as taken:
            if taken.socket and is_answering(taken.socket):
                raise
            if taken.is_embedded and is_alive(taken.pid):
                raise HeldByAnEmbedded(
                    f"pid {taken.pid} serves this home by itself (`greenroom mcp --embedded`); end it, "
                    "start it without --embedded, or set another GREENROOM_HOME"
                ) from None
            now = time.monotonic()
            if taken.busy_with not in {"", shown}:
                shown, deadline = taken.busy_with, now + patience_s
                busy(shown)
            strange_since = None if is_alive(taken.pid) else strange_since or now
            if strange_since is not None and now - strange_since > STRANGE_S:
                raise HeldByAStranger(
                    f"{path} is locked by a process that is not a daemon; `fuser {path}` shows which"
                ) from None
            if now > deadline:
                raise
        time.sleep(LOOK_S)


def _holder(handle: int) -> AlreadyRunning:
    text, life = (os.fsdecode(os.pread(handle, LOCK_TEXT_BYTES, at)).strip() for at in (0, LOCK_TEXT_BYTES))
    return AlreadyRunning(text, life)


def is_alive(pid: int | None) -> bool:
    """Whether the process is alive. A zombie has ended, though it still has its pid."""
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's process, but alive
        return True
    return state_of(pid) != "Z"


def state_of(pid: int) -> str:
    """The process's state as the kernel's letter; "" if there is no such process."""
    return next(iter(_stat(pid)), "")


def _stat(pid: int) -> list[str]:
    """Fields of /proc/PID/stat from the state on; empty if there is no such process."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            return stat.read().rpartition(b")")[2].decode().split()
    except OSError:
        return []


def is_answering(address: str) -> bool:
    """Whether a live process listens there.

    A child that a killed daemon was just starting keeps the inherited descriptors, the lock's too, until its exec.
    """
    from transports.peer_credentials import (
        peer_of,  # imported here, because most starts find no daemon and don't need it
    )

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(CONNECT_S)
        try:
            use_short_path(address, probe.connect)
            listener = peer_of(probe).pid
        except OSError:
            return False
        return listener is None or is_alive(listener)  # None: a process of another namespace, which we can't see


def write_pid(path: str) -> None:
    """Write the pid file whole or not at all, as others may read it meanwhile."""
    fresh = f"{path}.new"
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(handle, 0o600)  # the file of an earlier process may have had another mode
        os.write(handle, f"{os.getpid()}\n".encode())
    finally:
        os.close(handle)
    os.replace(fresh, path)


def remove_pid(path: str) -> None:
    """Remove our pid file; if our home was replaced, the file there may be another daemon's."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        with open(path, "rb") as file:
            ours = file.read().strip() == str(os.getpid()).encode()
        if ours:
            os.unlink(path)
