"""The table of methods, and the handlers of a few lines."""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from actors.vocabulary.answers import ChangedSettings, Done
from actors.vocabulary.errors import InvalidInput
from transports.dialect import Introduce
from transports.dialects.acp import params as p
from transports.dialects.acp import prompts, sessions
from transports.dialects.acp.abilities import abilities, client_name
from transports.dialects.acp.introduction import authentication_result, introduction
from transports.dialects.acp.settings import MODE, options_of, values_for, values_of_mode
from transports.dialects.acp.state import AcpCall, EditorSession
from transports.dialects.acp.updates import Option
from transports.dialects.kit.methods import Method, always_urgent, method
from transports.dialects.kit.script import Script
from transports.dialects.kit.settings_changes import change_settings
from transports.jsonrpc import JsonObject
from transports.supervisor_requests import NewValues


class ChangedOptions(Struct, frozen=True):
    options: tuple[Option, ...] = field(name="configOptions")


def initialize(call: AcpCall, params: p.IgnoredParams) -> JsonObject:
    """Introduce a client; a bridge that has found another daemon repeats it."""
    state, members = call.state, params.model_dump(by_alias=True)
    result = introduction(members, state.version)
    if result is None:
        raise InvalidInput("protocolVersion: a whole number is needed")
    state.abilities = abilities(members)
    name = client_name(members)
    state.client = replace(state.client, name=name.name or state.client.name, version=name.version)
    call.do(Introduce(state.client))
    return result


def authenticate(_: AcpCall, params: p.IgnoredParams) -> JsonObject:
    result = authentication_result(params.model_dump(by_alias=True))
    if result is None:
        raise InvalidInput("methodId: there is no such method; initialize names those that there are")
    return result


def set_mode(call: AcpCall, params: p.SetModeParams) -> Script[Done]:
    session = call.state.session(params.session_id)
    mode = next(option for option in sessions.session_options(session) if option.id == MODE)
    yield from _change(call, session, values_of_mode(params.mode_id, mode))
    return Done()


def set_option(call: AcpCall, params: p.SetOptionParams) -> Script[ChangedOptions]:
    session = call.state.session(params.session_id)
    options = sessions.session_options(session)
    changed = yield from _change(call, session, values_for(params.config_id, params.value, options))
    if changed is not None:
        options = options_of(changed.settings, session.offers, session.translator.agent_options)
    return ChangedOptions(tuple(options))


def _change(call: AcpCall, session: EditorSession, values: NewValues) -> Script[ChangedSettings | None]:
    """Change the settings within this client's ceiling; None if nothing is to change."""
    if not values:
        return None
    return (yield from change_settings(session.conversation, values, call.state.person, call.client.label))


METHODS: Mapping[str, Method[AcpCall]] = {
    "initialize": method(p.IgnoredParams, initialize),
    "authenticate": method(p.IgnoredParams, authenticate),
    "session/new": method(p.NewSessionParams, sessions.new),
    "session/load": method(p.OpenSessionParams, sessions.load),
    "session/resume": method(p.OpenSessionParams, sessions.resume),
    "session/fork": method(p.OpenSessionParams, sessions.fork),
    "session/list": method(p.ListSessionsParams, sessions.list_sessions),
    "session/delete": method(p.SessionParams, sessions.delete),
    "session/close": method(p.SessionParams, sessions.close, urgent=always_urgent),
    "session/prompt": method(p.PromptParams, prompts.prompt),
    "session/set_mode": method(p.SetModeParams, set_mode),
    "session/set_config_option": method(p.SetOptionParams, set_option),
    "_session/steering": method(p.SteerParams, prompts.steer),
    "_greenroom/attach": method(p.AttachSessionParams, sessions.attach),
}
