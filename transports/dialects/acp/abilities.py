"""The abilities of a client, from its `initialize`. An unreadable member counts as missing. Pure."""

from msgspec import Struct

from transports.jsonrpc import JsonObject


class Abilities(Struct, frozen=True):
    """`screens`: it shows terminals that we own; clients say so in `_meta.terminal_output`."""

    forms: bool = False
    pages: bool = False
    notices: bool = False
    screens: bool = False


class ClientName(Struct, frozen=True):
    name: str = ""
    version: str = ""


def abilities(params: JsonObject) -> Abilities:
    capabilities = _object_member(params, "clientCapabilities")
    elicitation = _object_member(capabilities, "elicitation")
    return Abilities(
        forms=isinstance(elicitation.get("form"), dict),
        pages=isinstance(elicitation.get("url"), dict),
        notices=isinstance(_object_member(capabilities, "session").get("notices"), dict),
        screens=_object_member(capabilities, "_meta").get("terminal_output") is True,
    )


def client_name(params: JsonObject) -> ClientName:
    info = _object_member(params, "clientInfo")
    name, version = info.get("name"), info.get("version")
    return ClientName(name if isinstance(name, str) else "", version if isinstance(version, str) else "")


def _object_member(members: JsonObject, name: str) -> JsonObject:
    inner = members.get(name)
    return inner if isinstance(inner, dict) else {}
