"""The common steps of all ways to make a conversation."""

from msgspec.structs import fields
from pydantic import BaseModel

from actors.messages.conversation import Begin
from actors.messages.routing import Create
from actors.vocabulary.answers import StartedConversation
from actors.vocabulary.errors import WrongState
from actors.vocabulary.ids import ConversationId
from actors.vocabulary.settings import Settings
from transports.dialect import Ask
from transports.dialects.kit.identifiers import fresh_conversation
from transports.dialects.kit.reading_state import ReadingState
from transports.dialects.kit.script import Script, ask, look_up
from transports.supervisor_answers import SettingsMade
from transports.supervisor_requests import MakeSettings, Person, RememberEnvironment

SETTINGS = frozenset(field.name for field in fields(MakeSettings))


def settings_request(person: Person | None, description: BaseModel, provider: str | None = None) -> MakeSettings:
    """The request for settings. `description`: any of the models in which clients describe a conversation."""
    arguments = {name: getattr(description, name) for name in SETTINGS & description.model_fields_set}
    arguments = {name: value for name, value in arguments.items() if value is not None}
    return MakeSettings(**arguments, model_provider=provider, person=person)


def make_settings(state: ReadingState, description: BaseModel) -> Script[SettingsMade]:
    made = yield from ask(settings_request(state.person, description))
    tell_notices(state, made)
    return made


def tell_notices(state: ReadingState, made: SettingsMade) -> None:
    for warning in made.warnings:
        state.log.once("warning", warning)
    if made.notice is not None:
        state.log.once("notice", made.notice)


def begin(state: ReadingState, conversation: ConversationId, settings: Settings) -> Script[StartedConversation]:
    state.do(Ask(RememberEnvironment(conversation)))
    return (yield from look_up(Create(conversation, Begin(settings))))


def begin_somewhere(state: ReadingState, conversation: ConversationId, settings: Settings) -> Script[ConversationId]:
    """Begin a conversation under this id, or under a fresh one if it is taken."""
    try:
        yield from begin(state, conversation, settings)
    except WrongState:
        conversation = fresh_conversation()
        yield from begin(state, conversation, settings)
    return conversation
