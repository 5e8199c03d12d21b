"""The doctor's checks. Each yields a line if all is well, else the finding, the advice, and whether it is a fault."""

import os
import socket as sockets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from actors.vocabulary.errors import ConfigError
from supervisor.cli.facts import room_at
from supervisor.cli.kit.formatting import plural, size
from supervisor.config.load import load
from supervisor.config.providers import choose_provider
from supervisor.daemon.daemon_lock import LOOK_S, STRANGE_S, AlreadyRunning, is_alive, lock_holder
from supervisor.journal.opening import size_on_disk
from supervisor.paths import UnsafePath, locate, private_directory, second_journal, socket_path
from supervisor.version import VERSION
from supervisor.work.processes.command import INSTANCE
from supervisor.work.processes.platform import table_of_this_system
from supervisor.work.sandbox.sandbox import Sandbox

if TYPE_CHECKING:
    from supervisor.cli.doctor import Installation

CheckResults = Iterator[tuple[str, str, bool] | str]
CONNECT_S = 2.0
ROOM_BYTES = 200 << 20  # a busy day fills less than that
FORCE = "wait a moment; `greenroom up --force` ends it and starts another, and running turns are lost"
LOG_ADVICE = "see the log: {}"


def directories(_: "Installation") -> CheckResults:
    try:
        paths = locate()
        for directory in (paths.state, paths.run):
            if os.path.lexists(directory):
                private_directory(directory, create=False)
    except UnsafePath as error:
        yield str(error), "make it a directory of your own with mode 700, or remove it", True
        return
    yield f"state in {paths.state}, config in {paths.config}"
    other = second_journal(paths)
    if other:
        yield (
            f"this HOME has a second journal, {other}, which programs with other XDG variables use",
            "give all programs the same XDG_STATE_HOME; `greenroom export` and `import` move conversations",
            False,
        )


def socket(installation: "Installation") -> CheckResults:
    path = socket_path(locate())
    if installation.control is not None:
        yield f"a daemon answers at {path}"
    elif installation.path_untrusted:
        yield installation.silence, "correct that; a running daemon is found again then", True
    elif _holder() is not None:
        yield f"the daemon of this home runs, but does not answer ({installation.silence})", FORCE, True
    elif Path(path).exists():
        yield f"{path} exists, but no daemon answers ({installation.silence})", "`greenroom up` replaces it", True
    else:
        yield "no daemon runs", "`greenroom up` starts it", False


def lock(installation: "Installation") -> CheckResults:
    """Check the lock, in which the one owner of the journal has written its pid and address."""
    holder = _holder()
    if holder is None:
        lost = installation.control is not None and installation.control.status().trouble
        advice = "see the finding about the journal" if lost else "restart it: `greenroom down && greenroom up`"
        yield ("not held, although a daemon runs", advice, True) if installation.control else "free"
        return
    if installation.control is None and not installation.path_untrusted:
        yield f"held by {holder.lock_text or 'an unknown process'}, which does not answer", FORCE, True
    else:
        yield f"held by {holder.lock_text.partition(',')[0]}"


def _holder() -> AlreadyRunning | None:
    """The lock's holder. A dead one is looked up again: a child that it was starting has the lock until its exec."""
    deadline = time.monotonic() + STRANGE_S
    while (
        (found := lock_holder(locate().lock_file)) is not None
        and not is_alive(found.pid)
        and time.monotonic() < deadline
    ):
        time.sleep(LOOK_S)
    return found


def version(installation: "Installation") -> CheckResults:
    theirs = installation.control.welcome["version"] if installation.control else VERSION
    if theirs != VERSION:
        yield f"the daemon is {theirs}, this program {VERSION}", "`greenroom down && greenroom up`", True
    else:
        yield VERSION


def leftovers(installation: "Installation") -> CheckResults:
    """Check for commands that a killed daemon left running. A daemon ends those of its predecessor when it starts."""
    paths = locate()
    if installation.control is not None:
        survivors = installation.control.status().processes["survivors"]
        if survivors:
            yield (
                f"{plural(survivors, 'process', 'processes')} could not be ended",
                LOG_ADVICE.format(paths.log_file),
                True,
            )
        else:
            yield "no process is left"
        return
    table = table_of_this_system()
    table.refresh()
    left = [pid for pid in table.all_pids() if pid != os.getpid() and table.marks(pid).get(INSTANCE) == paths.state]
    left = [pid for pid in left if pid not in _ancestors()]
    if left:
        count = plural(len(left), "process", "processes")
        yield f"{count} of the last daemon left running: {left}", "`greenroom up` ends them", True
    else:
        yield "no process is left"


def _ancestors() -> set[int]:
    """The ancestors of this process, which carry marks if a conversation's command runs the doctor."""
    table, pid, found = table_of_this_system(), os.getpid(), set[int]()
    while (process := table.look(pid)) is not None and process.ppid > 0:
        found.add(pid := process.ppid)
    return found


def sandbox(_: "Installation") -> CheckResults:
    found = Sandbox().availability
    if found.ok:
        yield "commands can be sandboxed"
    else:
        yield f"commands can't be sandboxed: {found.reason}", found.how_to_get or "install bubblewrap", False


def config(installation: "Installation") -> CheckResults:
    try:
        loaded = load(environ=installation.environ)
    except ConfigError as error:
        first, _, rest = error.message.partition("\n")
        yield first + (" (and more)" if rest else ""), "`greenroom config check` shows all errors", True
        return
    for warning in loaded.warnings:
        yield warning, "the key is ignored; correct or remove it", False
    directory = Path(locate(installation.environ).config)
    if directory.exists() and not directory.is_dir():
        yield f"{directory} is a file, so nothing is read", f"move it to {directory}/config.toml", True
        return
    yield loaded.file.path or "no file; defaults apply"


def model(installation: "Installation") -> CheckResults:
    """Check that the provider can be reached and a key is set. The key is not sent anywhere."""
    try:
        loaded = load(environ=installation.environ)
    except ConfigError:
        yield "unknown while the config has errors", "correct the config first", True
        return
    try:
        choice = choose_provider(loaded.config, installation.environ)
    except ConfigError as error:
        yield error.message, "correct the file that `greenroom config path` prints", True
        return
    provider = choice.provider
    if not provider.base_url:
        yield "the built-in demo model", choice.notice or "", False
        return
    try:
        provider.api_key(installation.environ)
    except ConfigError as error:
        yield error.message, "export it in the shell that runs the client", True
    address = urlsplit(provider.base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        sockets.create_connection((address.hostname or "", port), CONNECT_S).close()
    except OSError as error:
        yield (
            f"{provider.id} at {address.hostname}:{port} can't be reached: {error}",
            "check the network and the provider's base_url",
            True,
        )
    else:
        yield f"{provider.id} at {address.hostname}:{port} can be reached"


def disk(_: "Installation") -> CheckResults:
    there, free = room_at(locate().state)
    if not os.access(there, os.W_OK):
        yield f"{there} can't be written", "change its owner or set GREENROOM_HOME", True
    elif free < ROOM_BYTES:
        yield (
            f"only {size(free)} are free at {there}",
            "free some disk space; when it is full, turns stop, and what is stored stays",
            True,
        )
    else:
        yield f"{size(free)} free"


def journal(installation: "Installation") -> CheckResults:
    if installation.control is None:
        found = Path(locate().journal_file)
        yield size(size_on_disk(found)) if found.exists() else "none yet"
        return
    status = installation.control.status()
    if status.trouble:
        what, _, advice = status.trouble.partition("; nothing is stored any more; ")
        yield what, advice or LOG_ADVICE.format(status.log), True
    elif status.journal_repaired:
        yield f"the journal was repaired: {status.journal_repaired}", LOG_ADVICE.format(status.log), False
    else:
        yield f"{size(status.journal_bytes)}, no damage found"


def search(installation: "Installation") -> CheckResults:
    if installation.control is None:
        found = Path(locate().search_file)
        yield size(size_on_disk(found)) if found.exists() else "no file yet"
        return
    status = installation.control.status()
    if status.search_trouble:
        yield f"nothing new is found: {status.search_trouble}", LOG_ADVICE.format(status.log), False
    else:
        yield size(status.search_bytes) if status.search_bytes else "no file yet"


CHECKS: dict[str, Callable[["Installation"], CheckResults]] = {
    "files": directories,
    "socket": socket,
    "lock": lock,
    "version": version,
    "processes": leftovers,
    "sandbox": sandbox,
    "config": config,
    "model": model,
    "disk": disk,
    "journal": journal,
    "search": search,
}
