"""Directories that a client opens besides the working directory: writable up to the person's ceiling."""

from collections.abc import Sequence
from pathlib import Path

from actors.vocabulary.errors import InvalidInput, NotAllowed
from actors.vocabulary.settings import DangerFullAccess, Settings, WorkspaceWrite
from transports.dialects.acp.state import AcpCall, EditorSession
from transports.dialects.kit.script import Script, ask
from transports.dialects.kit.settings_changes import change_settings
from transports.supervisor_requests import AlterSettings, NewValues


def with_directories(call: AcpCall, settings: Settings, directories: Sequence[str]) -> Script[Settings]:
    """The settings of a new session with all directories that may be opened; the client is warned of the others."""
    for directory in _not_yet_open(settings, directories):
        try:
            made = yield from ask(AlterSettings(settings, _values_with(settings, directory), call.state.person))
            settings = made.settings
        except (InvalidInput, NotAllowed) as why:
            _warn(call, directory, why)
    return settings


def open_directories(call: AcpCall, session: EditorSession, directories: Sequence[str]) -> Script[None]:
    """Open directories in an existing session. None is closed: other clients may work in it."""
    settings = session.translator.settings
    assert settings is not None  # noqa: S101  # its history was read
    for directory in _not_yet_open(settings, directories):
        try:
            values = _values_with(settings, directory)
            changed = yield from change_settings(session.conversation, values, call.state.person, call.client.label)
            settings = changed.settings
        except (InvalidInput, NotAllowed) as why:
            _warn(call, directory, why)


def _not_yet_open(settings: Settings, directories: Sequence[str]) -> tuple[str, ...]:
    """The directories that are not writable yet."""
    if isinstance(settings.sandbox, DangerFullAccess):
        return ()
    roots = (settings.cwd, *_roots(settings))
    return tuple(
        directory for directory in directories if not any(Path(directory).is_relative_to(root) for root in roots)
    )


def _values_with(settings: Settings, directory: str) -> NewValues:
    return {"writable_roots": (*map(str, _roots(settings)), directory)}


def _roots(settings: Settings) -> tuple[Path, ...]:
    return settings.sandbox.writable_roots if isinstance(settings.sandbox, WorkspaceWrite) else ()


def _warn(call: AcpCall, directory: str, why: InvalidInput | NotAllowed) -> None:
    call.state.log.say("warning", f"{directory} can be read, and not written: {why.message}")
