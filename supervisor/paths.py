"""The paths of Greenroom's files and directories, which are closed to other users.

Standard library only, and little of it: the bridge and the everyday verbs import this before anything else.
Owns names and permissions, not the files' contents. Safe from any thread.
"""

# ruff: noqa: PTH101, PTH102, PTH112, PTH117, PTH105, PTH109, PTH118, PTH120, PTH123 # pathlib alone takes 9 ms of 35

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # loading typing or collections.abc costs more than all of this
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
JOURNAL, LOCK, CONFIG_FILE = "journal.sqlite3", "daemon.lock", "config.toml"
OUR_FILES = frozenset({JOURNAL, LOCK, CONFIG_FILE, "daemon.pid", "greenroom.log", "greenroom.sock", "run"})
LOCK_TEXT_BYTES = 4096  # of the lock file: its holder, and the holder's address
SOCKET = ", socket "


class UnsafePath(Exception):
    """A directory can't be used because of its owner, its kind or its name. The text says what to do."""


class Paths:
    """The directories of one home, and its socket. Nothing is created until `private_directory` is asked to."""

    __slots__ = (
        *("config", "home", "run", "socket", "state"),
        *("config_file", "journal_file", "ledger_file", "lock_file", "log_file", "pid_file", "search_file"),
        *("leftovers", "seal_file", "stacks_file"),
    )

    def __init__(self, config: str, state: str, run: str, home: str = "", socket: str = "") -> None:
        """`home` is HOME; "" where GREENROOM_HOME decides instead."""
        self.config = config
        self.state = state
        self.run = run
        self.home = home
        self.socket = socket or os.path.join(run, "greenroom.sock")
        self.pid_file = os.path.join(run, "daemon.pid")
        self.config_file = os.path.join(config, CONFIG_FILE)
        self.journal_file = os.path.join(state, JOURNAL)
        self.search_file = os.path.join(state, "search.sqlite3")
        self.ledger_file = os.path.join(state, "processes.ledger")
        self.leftovers = os.path.join(state, "leftovers")  # temporary files of commands' sandboxes
        self.seal_file = os.path.join(state, "seal.key")
        self.log_file = os.path.join(state, "greenroom.log")
        self.stacks_file = os.path.join(state, "greenroom.stacks")  # of all threads, which SIGUSR1 asks for
        self.lock_file = os.path.join(state, LOCK)  # beside the journal, which has one owner for all run directories

    def __repr__(self) -> str:
        return f"Paths(config={self.config!r}, state={self.state!r}, socket={self.socket!r})"

    def listening_at(self, socket: str) -> Paths:
        return Paths(self.config, self.state, self.run, self.home, socket)

    @property
    def hidden_directories(self) -> tuple[str, ...]:
        """Directories that no command may see: at the socket it could answer its own approvals, and a reader of the
        journal can lock it against the daemon.
        """
        return tuple(dict.fromkeys((self.state, self.run, os.path.dirname(self.socket))))

    @property
    def protected_directories(self) -> tuple[str, ...]:
        """Directories that no command may write."""
        usual = (_usual_state(self.home),) if self.home else ()
        return tuple(dict.fromkeys((self.state, self.config, *self.hidden_directories, *usual)))


def locate(environ: Mapping[str, str] | None = None) -> Paths:
    """The directories that this environment names: all under $GREENROOM_HOME, or where XDG puts them below HOME.

    No other variable counts, XDG_RUNTIME_DIR least of all: editors start their MCP servers with HOME and little more.
    Links are resolved, so that a home is the same home by every name.
    """
    environ = os.environ if environ is None else environ
    home = environ.get("GREENROOM_HOME", "")
    if home:
        if not os.path.isabs(home):
            raise UnsafePath(f"GREENROOM_HOME must be an absolute path, found {home!r}")
        home = os.path.realpath(home)
        return Paths(home, os.path.join(home, "state"), os.path.join(home, "run"))
    home = os.path.realpath(_home(environ))
    state, config = _xdg_directory(environ, "XDG_STATE_HOME"), _xdg_directory(environ, "XDG_CONFIG_HOME")
    if state and _is_used(_usual_state(home)) and not _is_used(state):
        state = ""  # a program without the variable was first, so both programs mean that daemon
    if not (state and config):
        noted_state, noted_config = _directories_in_force(home)
        state = state or noted_state or _usual_state(home)
        config = config or (noted_config if state == noted_state else "") or _usual_config(home)
    return Paths(config, state, os.path.join(state, "run"), home)


def remember(paths: Paths) -> None:
    """Note below HOME where XDG variables have moved this home, for programs that are started without them.

    Only for the holder of the home's lock.
    """
    if not paths.home or (paths.state, paths.config) == (_usual_state(paths.home), _usual_config(paths.home)):
        return
    private_directory(_usual_state(paths.home))
    file, text = _note_file(paths.home), f"{paths.state}\n{paths.config}\n"
    with open(f"{file}.new", "w", encoding="utf-8", errors="surrogateescape") as fresh:
        fresh.write(text)
    os.replace(f"{file}.new", file)


def _directories_in_force(home: str) -> tuple[str, str]:
    """The state and the config directory that `remember` has noted, each "" if the note does not apply.

    A note does not apply if the usual place has a journal or a config, or if the noted directory is gone.
    """
    state, config = _noted_directories(home)
    usual = _usual_state(home)
    if state != usual and (_is_used(usual) or not _is_used(state)):
        return "", ""
    return state, "" if _has(_usual_config(home), CONFIG_FILE) or not os.path.isdir(config) else config


def _noted_directories(home: str) -> tuple[str, str]:
    try:
        with open(_note_file(home), encoding="utf-8", errors="surrogateescape") as file:
            state, config, _ = file.read().split("\n")
    except (OSError, ValueError):
        return "", ""
    return state, config


def second_journal(paths: Paths) -> str:
    """Another journal of the same HOME, which programs with other XDG variables use; "" where there is none."""
    places = (_usual_state(paths.home), _noted_directories(paths.home)[0]) if paths.home else ()
    others = (os.path.join(place, JOURNAL) for place in places if place not in {"", paths.state})
    return next((file for file in others if os.path.lexists(file)), "")


def _is_used(state: str) -> bool:
    """Whether a daemon has been there. The lock alone counts too: a lost journal must be reported, not ignored."""
    return _has(state, JOURNAL) or _has(state, LOCK)


def _has(directory: str, name: str) -> bool:
    return os.path.lexists(os.path.join(directory, name))


def _usual_state(home: str) -> str:
    return os.path.join(home, ".local", "state", "greenroom")


def _usual_config(home: str) -> str:
    return os.path.join(home, ".config", "greenroom")


def _note_file(home: str) -> str:
    return os.path.join(_usual_state(home), "moved")


def addresses(paths: Paths) -> Iterator[str]:
    """Addresses where the daemon of this home may listen: the usual place, then the place in the lock file."""
    yield paths.socket
    other = noted_address(paths.lock_file)
    if other not in {"", paths.socket}:
        yield other


def noted_address(lock_file: str) -> str:
    """The address that the last holder of the lock wrote; "" if it wrote none."""
    try:
        with open(lock_file, "rb") as file:
            text = os.fsdecode(file.read(LOCK_TEXT_BYTES)).strip()
    except OSError:
        return ""
    address = text.partition(SOCKET)[2]
    return address if os.path.isabs(address) else ""


def socket_path(paths: Paths) -> str:
    """The socket's path, as shown to people."""
    return next((path for path in addresses(paths) if os.path.lexists(path)), paths.socket)


def codex_config_file(environ: Mapping[str, str] | None = None) -> str:
    environ = os.environ if environ is None else environ
    return os.path.join(environ.get("CODEX_HOME", "") or os.path.join(_home(environ), ".codex"), "config.toml")


def config_files(environ: Mapping[str, str] | None = None) -> list[str]:
    """Paths of our own config file, most important first. $GREENROOM_HOME does not hide the file in XDG's place."""
    environ = os.environ if environ is None else environ
    directory = _xdg_directory(environ, "XDG_CONFIG_HOME") or _usual_config(os.path.realpath(_home(environ)))
    everyday = os.path.join(directory, CONFIG_FILE)
    here = locate(environ).config_file
    return [here] if here == everyday else [here, everyday]


def worktrees(environ: Mapping[str, str] | None = None) -> str:
    """The folder of conversations' worktrees. Not below our state, where no command may write."""
    environ = os.environ if environ is None else environ
    data = _xdg_directory(environ, "XDG_DATA_HOME") or os.path.join(
        os.path.realpath(_home(environ)), ".local", "share", "greenroom"
    )
    return os.path.join(data, "worktrees")


def usual_places(environ: Mapping[str, str]) -> tuple[str, list[str]]:
    """The state directory and the files of configuration of a program that is started with HOME alone."""
    home = os.path.realpath(_home(environ))
    return _usual_state(home), [os.path.join(_usual_config(home), CONFIG_FILE), codex_config_file({"HOME": home})]


def hidden_places(paths: Paths, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The directories that no command may see: those of this home, and the state directory that HOME alone means.

    The latter has the keys and the journal of a daemon that is started without this daemon's variables.
    """
    return tuple(dict.fromkeys((*paths.hidden_directories, usual_places(environ)[0])))


def working_directory() -> str:
    """The working directory, also if it has been removed meanwhile."""
    try:
        return os.getcwd()
    except OSError:
        return "/"


def private_directory(path: str, *, create: bool = True) -> str:
    """Make sure that `path` is a directory of ours, closed to all others; its missing parents are made too.

    The mode is set on the open directory, so neither the umask nor a rename in between can lead it elsewhere.
    """
    made = False
    try:
        if create:
            _refuse_to_be_root_for(path)
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
        # Another user may have put a socket or a file there already; making it private now would be too late.
        raise UnsafePath(
            f"{path} may be written by others (mode {mode:04o}); check its files, then run `chmod 700 {path}`"
        )
    if mode != 0o700:
        if not made and not _only_ours(os.listdir(handle)):
            raise UnsafePath(
                f"{path} holds files of others (mode {mode:04o}); name another directory, or run `chmod 700 {path}`"
            )
        os.fchmod(handle, 0o700)


def _only_ours(names: list[str]) -> bool:
    """Whether the directory is Greenroom's and may be closed to others: not so `/run` when `/` was named as home."""
    return not names or bool(OUR_FILES.intersection(names))


def _refuse_to_be_root_for(path: str) -> None:
    """Raise if root would make a person's directory: after `sudo` with that HOME the person could not enter it."""
    person = os.environ.get("SUDO_UID", "")
    if os.getuid() != 0 or person in {"", "0"}:
        return
    existing = path
    while existing and not os.path.lexists(existing):
        existing = os.path.dirname(existing)
    if str(os.lstat(existing).st_uid) == person:
        raise UnsafePath(
            f"{existing} belongs to uid {person}, and you are root; leave sudo out, or set GREENROOM_HOME"
        )


def _make(path: str) -> bool:
    """Make the directory; false if it exists, as many processes may do this at once."""
    parent = os.path.dirname(path)
    if parent and not os.path.isdir(parent):
        _make(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        return False
    os.chmod(path, 0o700)  # a umask of 0o277 would have left a directory that we can't enter ourselves
    return True


def _xdg_directory(environ: Mapping[str, str], name: str) -> str:
    """The directory that an XDG variable names; "" for a relative path, which the specification says to ignore."""
    value = environ.get(name, "")
    return os.path.join(os.path.realpath(value), "greenroom") if os.path.isabs(value) else ""


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME", "")
    if os.path.isabs(home):
        return home
    import pwd  # only here: nearly every process has a HOME

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        raise UnsafePath(
            f"HOME is not set, and uid {os.getuid()} is no user here; set HOME or GREENROOM_HOME"
        ) from None
