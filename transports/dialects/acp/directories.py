"""Directories that a client opens beside the working directory: written in as far as the person's ceiling allows."""

from collections.abc import Sequence
from pathlib import Path

from actors.vocabulary.errors import InvalidInput, NotAllowed
from actors.vocabulary.settings import DangerFullAccess, Settings, WorkspaceWrite
from transports.dialects.acp.state import AcpCall, Session
from transports.dialects.kit.changing import change_settings
from transports.dialects.kit.script import Script, ask
from transports.requests import AlterSettings, NewValues


def with_directories(call: AcpCall, settings: Settings, directories: Sequence[str]) -> Script[Settings]:
    """Settings of a new session with the directories that can be opened; of each other one a warning tells."""
    for one in _beyond(settings, directories):
        try:
            made = yield from ask(AlterSettings(settings, _and(settings, one), call.state.person))
            settings = made.settings
        except (InvalidInput, NotAllowed) as why:
            _warn(call, one, why)
    return settings


def open_directories(call: AcpCall, session: Session, directories: Sequence[str]) -> Script[None]:
    """Open directories in a session that exists. None is closed: others may work in it."""
    settings = session.teller.settings
    assert settings is not None  # noqa: S101  # it is read already
    for one in _beyond(settings, directories):
        try:
            values = _and(settings, one)
            changed = yield from change_settings(session.conversation, values, call.state.person, call.client.label)
            settings = changed.settings
        except (InvalidInput, NotAllowed) as why:
            _warn(call, one, why)


def _beyond(settings: Settings, directories: Sequence[str]) -> tuple[str, ...]:
    """The directories that are not open yet."""
    if isinstance(settings.sandbox, DangerFullAccess):
        return ()
    known = (settings.cwd, *_roots(settings))
    return tuple(one for one in directories if not any(Path(one).is_relative_to(each) for each in known))


def _and(settings: Settings, directory: str) -> NewValues:
    return {"writable_roots": (*map(str, _roots(settings)), directory)}


def _roots(settings: Settings) -> tuple[Path, ...]:
    return settings.sandbox.writable_roots if isinstance(settings.sandbox, WorkspaceWrite) else ()


def _warn(call: AcpCall, directory: str, why: InvalidInput | NotAllowed) -> None:
    call.state.log.say("warning", f"{directory} can be read, and not written: {why.message}")
