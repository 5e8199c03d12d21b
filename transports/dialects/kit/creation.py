"""The steps that all ways of making a conversation have in common."""

from msgspec.structs import fields
from pydantic import BaseModel

from actors.messages.conversation import Begin
from actors.messages.routing import Create
from actors.vocabulary.answers import Begun
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Settings
from transports.dialect import Ask
from transports.dialects.kit.reading import ReadingState
from transports.dialects.kit.script import Script, ask, look_up
from transports.requests import MakeSettings, Person, RememberEnvironment, SettingsMade

SETTINGS = frozenset(one.name for one in fields(MakeSettings))


def settings_request(person: Person | None, wanted: BaseModel, provider: str | None = None) -> MakeSettings:
    """`wanted` is any of the shapes in which clients describe a conversation."""
    said = {name: getattr(wanted, name) for name in SETTINGS & wanted.model_fields_set}
    said = {name: value for name, value in said.items() if value is not None}
    return MakeSettings(**said, model_provider=provider, person=person)


def make_settings(state: ReadingState, wanted: BaseModel) -> Script[SettingsMade]:
    made = yield from ask(settings_request(state.person, wanted))
    tell_notices(state, made)
    return made


def tell_notices(state: ReadingState, made: SettingsMade) -> None:
    for warning in made.warnings:
        state.log.once("warning", warning)
    if made.notice is not None:
        state.log.once("notice", made.notice)


def begin(state: ReadingState, conversation: ConversationId, settings: Settings) -> Script[Begun]:
    state.do(Ask(RememberEnvironment(conversation)))
    return (yield from look_up(Create(conversation, Begin(settings))))
