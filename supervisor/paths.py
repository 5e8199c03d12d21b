"""Where Greenroom keeps its files, and that nobody else can reach them.

Standard library only, and little of it: the bridge and the everyday verbs import this before anything else.
Knows names and permissions; what is in the files is somebody else's. Safe from any thread.
"""

# ruff: noqa: PTH101, PTH102, PTH111, PTH112, PTH116, PTH117, PTH118, PTH120 # pathlib alone takes 9 ms of 35

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False  # loading typing or collections.abc costs more than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping

# sizeof(sockaddr_un.sun_path), the closing NUL included. A longer path is cut or refused by bind().
SOCKET_PATH_BYTES = 108 if sys.platform == "linux" else 104
# Not $TMPDIR: that differs between an editor, a nix-shell and a terminal, and all must find the same socket.
TEMP_ROOT = "/tmp"  # noqa: S108 - only a directory of our own below it is used, and its owner is checked
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class UnsafePath(Exception):
    """A directory can't be used because of who owns it, what it is, or how it was named. The text says what to do."""


class Paths:
    """The three directories of one home. Nothing is created until `private_directory` is asked to."""

    __slots__ = ("config", "run", "state")

    def __init__(self, config: str, state: str, run: str) -> None:
        self.config = config
        self.state = state
        self.run = run

    def __repr__(self) -> str:
        return f"Paths(config={self.config!r}, state={self.state!r}, run={self.run!r})"

    @property
    def config_file(self) -> str:
        return os.path.join(self.config, "config.toml")

    @property
    def journal_file(self) -> str:
        return os.path.join(self.state, "journal.sqlite3")

    @property
    def ledger_file(self) -> str:
        return os.path.join(self.state, "processes.ledger")

    @property
    def log_file(self) -> str:
        return os.path.join(self.state, "greenroom.log")

    @property
    def stacks_file(self) -> str:
        """What every thread does, when somebody asked for it with SIGUSR1."""
        return os.path.join(self.state, "greenroom.stacks")

    @property
    def lock_file(self) -> str:
        """In the state directory, because one journal has one owner whatever the run directory is."""
        return os.path.join(self.state, "daemon.lock")

    @property
    def pid_file(self) -> str:
        return os.path.join(self.run, "daemon.pid")


def locate(environ: Mapping[str, str] | None = None, temp_root: str = TEMP_ROOT) -> Paths:
    """The directories that this environment names: all under $GREENROOM_HOME, or where XDG puts them."""
    environ = os.environ if environ is None else environ
    home = environ.get("GREENROOM_HOME", "")
    if home:
        if not os.path.isabs(home):
            raise UnsafePath(f"GREENROOM_HOME must be an absolute path, found {home!r}")
        return Paths(home, os.path.join(home, "state"), os.path.join(home, "run"))
    return Paths(
        config=os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), "greenroom"),
        state=os.path.join(_xdg(environ, "XDG_STATE_HOME", ".local/state"), "greenroom"),
        run=_run_directory(environ, temp_root),
    )


def socket_path(paths: Paths, temp_root: str = TEMP_ROOT) -> str:
    """The daemon's socket. A name too long for the system is replaced by a short one that only depends on it.

    The directory is made by whoever binds, and must pass `private_directory` before anybody connects.
    """
    path = os.path.join(paths.run, "greenroom.sock")
    if len(os.fsencode(path)) < SOCKET_PATH_BYTES:
        return path
    import hashlib  # only here, because loading it costs more than the rest of this module

    name = hashlib.sha256(os.fsencode(paths.run)).hexdigest()[:16]
    return os.path.join(_temporary(temp_root), f"{name}.sock")


def codex_config_file(environ: Mapping[str, str] | None = None) -> str:
    environ = os.environ if environ is None else environ
    return os.path.join(environ.get("CODEX_HOME", "") or os.path.join(_home(environ), ".codex"), "config.toml")


def config_files(environ: Mapping[str, str] | None = None) -> list[str]:
    """Where our own file may be, most important first. $GREENROOM_HOME does not hide what XDG has."""
    environ = os.environ if environ is None else environ
    everyday = os.path.join(_xdg(environ, "XDG_CONFIG_HOME", ".config"), "greenroom", "config.toml")
    here = locate(environ).config_file
    return [here] if here == everyday else [here, everyday]


def private_directory(path: str, *, create: bool = True) -> str:
    """Make sure that `path` is a directory of ours which nobody else can enter; its missing parents are made too.

    The mode is set on the open directory, so neither the umask nor a rename in between can change what is meant.
    """
    made = False
    try:
        if create:
            made = _make(path)
        owner = os.lstat(path).st_uid
        if owner != os.getuid():
            # Also true of a foreign symbolic link to a directory of ours, which is why lstat is asked first.
            raise UnsafePath(f"{path} belongs to uid {owner}, not to you; remove it, or set GREENROOM_HOME")
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _make_private(handle, path, made=made)
        finally:
            os.close(handle)
    except OSError as error:
        raise UnsafePath(f"{path} can't be used: {error.strerror or error}") from error
    return path


def _make_private(handle: int, path: str, *, made: bool) -> None:
    found = os.fstat(handle)
    if found.st_uid != os.getuid():
        raise UnsafePath(
            f"{path} leads to a directory of uid {found.st_uid}, not of yours; remove it, or set GREENROOM_HOME"
        )
    mode = stat.S_IMODE(found.st_mode)
    if mode & OTHERS_MAY_WRITE and not made:
        # Somebody may have put a socket or a file there already; making it private now would be too late.
        raise UnsafePath(
            f"{path} may be written by others (mode {mode:04o}); check its files, then run `chmod 700 {path}`"
        )
    if mode != 0o700:
        os.fchmod(handle, 0o700)


def _make(path: str) -> bool:
    """Twenty processes may do this at once: whoever comes second finds the directory and is content."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        _make(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return False
    os.chmod(path, 0o700)  # a umask of 0o277 would have left a directory that we can't enter ourselves
    return True


def _run_directory(environ: Mapping[str, str], temp_root: str) -> str:
    base = environ.get("XDG_RUNTIME_DIR", "")
    # `su` and `sudo` leave somebody else's directory in the environment.
    if os.path.isabs(base) and _is_ours(base):
        return os.path.join(base, "greenroom")
    return _temporary(temp_root)


def _is_ours(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()


def _temporary(temp_root: str) -> str:
    return os.path.join(temp_root, f"greenroom-{os.getuid()}")


def _xdg(environ: Mapping[str, str], name: str, default: str) -> str:
    value = environ.get(name, "")
    # The XDG specification: a relative path in these variables is invalid and to be ignored.
    return value if os.path.isabs(value) else os.path.join(_home(environ), default)


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    return home if os.path.isabs(home) else os.path.expanduser("~")
