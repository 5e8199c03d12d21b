"""The verbs that an editor starts: their options, and a bridge between its standard streams and the daemon.

Standard library only, and little of it: every window of an editor starts a bridge. Main thread.
"""

# ruff: noqa: PTH105, PTH110, PTH118, PTH123, PTH202 # pathlib alone takes a third of the time that this may

from __future__ import annotations

import os
import sys
import time

from supervisor.daemon.connecting import dial
from supervisor.disk.umask import own_umask
from supervisor.paths import UnsafePath, locate, private_directory, working_directory
from supervisor.version import VERSION
from transports import PROTOCOL
from transports.bridge import c_modules
from transports.bridge.bridge import Bridge
from transports.bridge.daemon_link import DaemonLink
from transports.bridge.messages import message_line
from transports.stdio import StandardStreams

TYPE_CHECKING = False  # loading typing and argparse costs more than everything else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from types import FrameType

    from supervisor.daemon.launch import Launch
    from supervisor.paths import Paths
    from transports.bridge.replay import Replay

    HelloChoices = dict[str, dict[str, object]]

ENDS = {c_modules.SIGTERM: "SIGTERM", c_modules.SIGINT: "SIGINT", c_modules.SIGHUP: "SIGHUP"}
LOG_BYTES = 1 << 20  # then a new log begins, and the previous log is kept; a connection logs one line


class NoOptions:
    """The options of a bare verb, as most editors start it; loading argparse would double the time."""

    embedded = False
    cwd = agent = model = profile = sandbox = approval = config = None


class BridgeVerb:
    """A verb that starts a bridge. `replay` makes the dialect's part of the bridge from the choices of the hello.

    `instead`: by the word after the options, a function that runs in place of the bridge.
    """

    def __init__(
        self,
        name: str,
        dialect: str,
        replay: Callable[[HelloChoices], Replay],
        instead: dict[str, Callable[[argparse.Namespace], int]],
    ) -> None:
        self.name = name
        self.dialect = dialect
        self.replay = replay
        self.alternatives = instead


def main(verb: BridgeVerb, arguments: Sequence[str]) -> int:
    if not arguments:
        return run(verb, NoOptions)
    from supervisor.cli.kit.problems import Problem

    try:
        chosen, word = parse_options(verb, arguments)
        return verb.alternatives[word](chosen) if word else run(verb, chosen)
    except Problem as problem:
        sys.stderr.write(f"greenroom: {problem}\n")
        return problem.exit


def parse_options(wanted: BridgeVerb, arguments: Sequence[str]) -> tuple[argparse.Namespace, str]:
    """The options of the verb, in Codex's spellings too, and the word after them, if any."""
    from supervisor.cli.kit.arguments import parser
    from supervisor.cli.verbs import find
    from supervisor.cli.verbs.options import APPROVALS, SANDBOXES

    verb = find(wanted.name)
    assert verb is not None  # noqa: S101  # the verb that runs
    made = parser(verb)
    made.said = arguments
    made.add_argument("-p", dest="profile")
    made.add_argument("-s", dest="sandbox", choices=SANDBOXES)
    made.add_argument("-a", "--ask-for-approval", dest="approval", choices=APPROVALS)
    chosen, rest = made.parse_known_args(arguments)
    if rest and (len(rest) > 1 or rest[0] not in wanted.alternatives):
        made.error(f"unrecognized arguments: {' '.join(rest)}")
    return chosen, rest[0] if rest else ""


def run(verb: BridgeVerb, chosen: argparse.Namespace | type[NoOptions]) -> int:
    try:
        said = hello_choices(verb, chosen)
        paths = locate()
        private_directory(paths.state)
    except (UnsafePath, ValueError) as error:
        sys.stderr.write(f"greenroom {verb.name}: {error}\n")
        return 2
    if chosen.embedded:
        from supervisor.daemon.embedded import serve

        return serve(said, verb.dialect)
    return _bridge(verb, paths, said)


def _bridge(verb: BridgeVerb, paths: Paths, said: HelloChoices) -> int:
    log = Log(os.path.join(paths.state, "bridge.log"), verb.name)
    if not _have_standard_streams():
        log.note(f"standard output is closed; `greenroom {verb.name}` needs it, so start it from an editor")
        return 1
    client = StandardStreams()
    try:
        replay = verb.replay(said)
        link = DaemonLink(DaemonAddress(paths), hello(verb, said), replay, log.note)
        return _run_to_the_end(client, link, log)
    except Exception:  # noqa: BLE001  # every error belongs in the log, none on the wire
        import traceback

        log.note(f"failed\n{traceback.format_exc()}")
        return 1
    finally:
        client.close()


def _run_to_the_end(client: StandardStreams, link: DaemonLink, log: Log) -> int:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    c_modules.set_wakeup_fd(writer, warn_on_full_buffer=False)
    bridge = Bridge(client, link, log.note, reader)
    caught = [0]

    def stop(signum: int, _: FrameType | None) -> None:
        caught[0] = 128 + signum
        bridge.stop(ENDS[signum])

    for number in ENDS:
        c_modules.signal(number, stop)
    bridge.begin()
    bridge.run()
    return caught[0]


class DaemonAddress:
    """The daemon of this home: how to reach it, and how to start it."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths

    def dial(self) -> c_modules.socket | None:
        try:
            return dial(self._paths, _nonblocking_socket)
        except UnsafePath:
            return None  # the start of the daemon reports the unsafe path

    def start(self) -> Launch:
        from supervisor.daemon.launch import Launch

        return Launch(("--for-editor",))

    def left_in_order(self) -> bool:
        """True if the pid file is gone: a daemon in good order removes it before it disconnects its clients."""
        return not os.path.exists(self._paths.pid_file)


def _nonblocking_socket() -> c_modules.socket:
    fresh = c_modules.socket(c_modules.AF_UNIX, c_modules.SOCK_STREAM)
    fresh.setblocking(False)
    return fresh


class Log:
    """The log in the state directory, bounded; lines that can't be written there go to standard error."""

    def __init__(self, path: str, verb: str) -> None:
        self._path = path
        self._verb = verb

    def note(self, text: str) -> None:
        line = f"{time.strftime('%Y-%m-%dT%H:%M:%S')} [{os.getpid()}] {text}\n"
        try:
            if os.path.exists(self._path) and os.path.getsize(self._path) > LOG_BYTES:
                os.replace(self._path, f"{self._path}.1")
            with open(self._path, "a", encoding="utf-8", errors="replace") as log:
                log.write(line)
        except OSError:
            try:  # noqa: SIM105  # contextlib costs more than everything else here
                sys.stderr.write(f"greenroom {self._verb}: {text}\n")
            except (OSError, ValueError):  # standard error can't be written either
                pass


# --- the hello ------------------------------------------------------------------------------------------------------


def hello(verb: BridgeVerb, said: HelloChoices) -> bytes:
    """The first line: this client, and the environment for commands of new conversations, kept only in memory."""
    client = {
        "name": verb.name,
        "version": VERSION,
        "pid": os.getpid(),
        "cwd": working_directory(),
        "env": dict(os.environ),
    }
    client["umask"] = own_umask()
    body = {"protocol": PROTOCOL, "dialect": verb.dialect, "client": client, "bridge": os.urandom(16).hex(), **said}
    return message_line({"greenroom": body})


def hello_choices(verb: BridgeVerb, chosen: argparse.Namespace | type[NoOptions]) -> HelloChoices:
    """The choices of the command line, for the dialect: for new conversations, and for this connection."""
    return {"defaults": defaults(chosen), "settings": _settings(verb, chosen.config or ())}


def _settings(verb: BridgeVerb, overrides: Sequence[str]) -> dict[str, object]:
    """The settings of this connection, from `-c greenroom…`. Checked here, where a person reads the error."""
    if not any(_is_ours(override) for override in overrides):
        return {}
    from actors.vocabulary.errors import ConfigError
    from supervisor.config.connection_settings import connection_settings
    from supervisor.config.overrides import parse_overrides

    try:
        return dict(connection_settings(parse_overrides(filter(_is_ours, overrides)), verb.name))
    except ConfigError as error:
        raise ValueError(f"-c {error.message}") from error


def _is_ours(override: str) -> bool:
    return override.partition("=")[0].partition(".")[0].strip() == "greenroom"


def defaults(chosen: argparse.Namespace | type[NoOptions]) -> dict[str, object]:
    """The values for new conversations where a call gives none."""
    said = {
        "agent": chosen.agent,
        "model": chosen.model,
        "profile": chosen.profile,
        "cwd": None if chosen.cwd is None else os.path.join(working_directory(), chosen.cwd),
        "approval_policy": chosen.approval,
        "sandbox": chosen.sandbox,
    }
    if chosen.config:
        from supervisor.cli.kit.arguments import pairs

        said["config"] = pairs([override for override in chosen.config if not _is_ours(override)])
    return {name: value for name, value in said.items() if value}


def _have_standard_streams() -> bool:
    """Whether standard output is open. Closed standard streams are opened as /dev/null, to keep their numbers."""
    missing = [fd for fd in (0, 1, 2) if not _is_open(fd)]
    for fd in missing:
        os.dup2(os.open(os.devnull, os.O_RDWR), fd)
    return 1 not in missing


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
