"""The directories that a policy opens, as they were when first named, and a check that they are still the same.

Anybody who may write above a directory can make its name mean another one. The sandbox and the patches therefore
open the directory that was found first, or nothing. Blocking: looks at the disk.
"""

import functools
import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Pin, SandboxPolicy, Settings, WorkspaceWrite
from supervisor.disk.folders import open_folder
from supervisor.disk.workspace import project_directories, temporary_directories

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
KEPT = 4096  # conversations whose later names are remembered; as many as have an environment of their own


class Moved(Exception):
    """A root's name leads to another directory than before. The text is for models and people."""


def pins_of(policy: SandboxPolicy, cwd: Path, tmpdir: Path | None) -> tuple[Pin, ...]:
    return tuple(pin_directory(name) for name in names_of(policy, cwd, tmpdir))


def names_of(policy: SandboxPolicy, cwd: Path, tmpdir: Path | None) -> Iterator[Path]:
    if isinstance(policy, WorkspaceWrite):
        yield from dict.fromkeys((*project_directories(policy, cwd), *temporary_directories(policy, tmpdir)))


def pin_directory(name: Path) -> Pin:
    if not name.is_absolute():
        return Pin(name=name)
    try:
        real = name.resolve(strict=True)
        folder = open_folder(real)
    except (OSError, ValueError, RuntimeError):  # not there; a NUL; links in a circle
        return Pin(name=name)
    try:
        found = os.fstat(folder)
    finally:
        os.close(folder)
    return Pin(name=name, path=real, device=found.st_dev, inode=found.st_ino, boot=this_boot())


def missing_roots(pins: Sequence[Pin], policy: SandboxPolicy, cwd: Path) -> Iterator[str]:
    """Name the roots that a person chose and that do not exist. Temporary directories are not chosen."""
    named = set(project_directories(policy, cwd)) if isinstance(policy, WorkspaceWrite) else set()
    for pin in pins:
        if pin.path is None and pin.name in named:
            yield (
                f"writable root left out, there is no such directory: {pin.name}; "
                "make it, then begin the conversation again, or fork it"
            )


def open_pinned(path: Path, pin: Pin) -> int:
    """Return a descriptor of the directory that was meant, opened at its path. Raises Moved."""
    try:
        folder = open_folder(path)
    except OSError as error:
        raise Moved(_not_writable(pin, f"it can't be opened as it was: {error.strerror}")) from None
    if not _is_same(pin, os.fstat(folder)):
        os.close(folder)
        raise Moved(
            _not_writable(pin, "its name leads to another directory than when the conversation named it first")
        )
    return folder


def _is_same(pin: Pin, found: os.stat_result) -> bool:
    """Compare by inode, and within one boot also by device: device numbers are given anew at each boot."""
    return found.st_ino == pin.inode and (found.st_dev == pin.device or pin.boot != this_boot())


def _not_writable(pin: Pin, why: str) -> str:
    return f"{pin.name} is not writable: {why}; a new conversation, or a fork, takes what is there now"


@functools.cache
def this_boot() -> str:
    """Return the boot's id, or an empty text where the system has none; then devices are always compared."""
    try:
        return BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return ""


class Pins:
    """The pins of directories that were named after a conversation began, or by journals without pins. Any thread."""

    def __init__(self) -> None:
        self._of: dict[ConversationId, dict[Path, Pin]] = {}
        self._lock = threading.Lock()

    def pins_for(self, conversation: ConversationId, settings: Settings, tmpdir: Path | None) -> tuple[Pin, ...]:
        journalled = {pin.name: pin for pin in settings.roots or ()}
        return tuple(
            journalled.get(name) or self._pin_once(conversation, name)
            for name in names_of(settings.sandbox, settings.cwd, tmpdir)
        )

    def _pin_once(self, conversation: ConversationId, name: Path) -> Pin:
        with self._lock:
            known = self._of.get(conversation, {}).get(name)
        if known is not None:
            return known
        found = pin_directory(name)  # not under the lock: the disk may be away
        with self._lock:
            while len(self._of) >= KEPT and conversation not in self._of:
                del self._of[next(iter(self._of))]
            return self._of.setdefault(conversation, {}).setdefault(name, found)
