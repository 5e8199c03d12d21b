"""The abilities of a client, as its `initialize` says. A member that can't be read is not there. Pure."""

from msgspec import Struct

from transports.jsonrpc import JsonObject


class Abilities(Struct, frozen=True):
    """`screens`: it shows terminals that we own, as clients say it in `_meta.terminal_output`."""

    forms: bool = False
    pages: bool = False
    notices: bool = False
    screens: bool = False


class ClientName(Struct, frozen=True):
    name: str = ""
    version: str = ""


def abilities(params: JsonObject) -> Abilities:
    said = _of(params, "clientCapabilities") or _of(params, "capabilities")
    elicitation = _of(said, "elicitation")
    return Abilities(
        forms=isinstance(elicitation.get("form"), dict),
        pages=isinstance(elicitation.get("url"), dict),
        notices=isinstance(_of(said, "session").get("notices"), dict),
        screens=_of(said, "_meta").get("terminal_output") is True,
    )


def client_name(params: JsonObject) -> ClientName:
    info = _of(params, "clientInfo") or _of(params, "info")
    name, version = info.get("name"), info.get("version")
    return ClientName(name if isinstance(name, str) else "", version if isinstance(version, str) else "")


def _of(members: JsonObject, name: str) -> JsonObject:
    inner = members.get(name)
    return inner if isinstance(inner, dict) else {}
