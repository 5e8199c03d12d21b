"""The first line of a client, and our answer. Pure: makes no dialect, reads and writes nothing."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from actors.vocabulary.errors import GreenroomError, InvalidInput, Refusal
from transports import PROTOCOL, jsonrpc
from transports.dialect import Client, Dialect
from transports.framing import LINE_TYPES, Line

LONGEST_NAME = 200  # characters; the name is in every event that the client takes part in
LONGEST_PATH = 4_096

Options = Mapping[str, Any]
MakeDialect = Callable[[Client, Options], Dialect]
Dialects = Mapping[str, MakeDialect]


class UnknownProtocol(Refusal):
    """The client speaks another version of this protocol; `details` has both versions."""

    code = "unknown_protocol"
    jsonrpc = -31401


class UnknownDialect(Refusal):
    """The client asks for a dialect that does not exist; `details` has the known ones."""

    code = "unknown_dialect"
    jsonrpc = -31402


class Identity(Struct, frozen=True):
    """The identity of the server: its version, and the id of this run."""

    version: str
    instance: str


class Hello(Struct, frozen=True):
    dialect: str
    name: str
    version: str
    cwd: str
    env: Mapping[str, str]
    umask: int | None  # None: an older client, which does not send it
    options: Options  # all other members, for the dialect


def welcome(identity: Identity) -> bytes:
    body = {"protocol": PROTOCOL, "version": identity.version, "instance": identity.instance}
    return jsonrpc.line({"greenroom": body})


def read(line: Line, dialects: Dialects) -> Hello | GreenroomError:
    """The hello, or the refusal to answer with."""
    if not isinstance(line, LINE_TYPES):
        return InvalidInput(f"the first line: {line.reason}")
    members = _members(line)
    if members is None:
        return InvalidInput(
            'the first line must be a hello: {"greenroom": {"protocol": 1, "dialect": …, "client": {…}}}'
        )
    theirs = members.get("protocol")
    if theirs != PROTOCOL or isinstance(theirs, bool):
        return UnknownProtocol(
            f"this is protocol {PROTOCOL}, the client speaks {theirs!r}", ours=PROTOCOL, theirs=theirs
        )
    dialect = members.get("dialect")
    if not isinstance(dialect, str) or dialect not in dialects:
        known = sorted(dialects)
        return UnknownDialect(f"no dialect {dialect!r}; there are {', '.join(known)}", known=known)
    try:
        return _hello(dialect, members)
    except TypeError as error:
        return InvalidInput(f"hello: {error}")


def _members(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    members = value.get("greenroom") if isinstance(value, dict) else None
    return members if isinstance(members, dict) else None


def _hello(dialect: str, members: dict[str, Any]) -> Hello:
    client = members.get("client", {})
    if not isinstance(client, dict):
        raise TypeError("client is not an object")
    env = client.get("env", {})
    if not (isinstance(env, dict) and all(isinstance(value, str) for value in env.values())):
        raise TypeError("client.env is not an object of strings")
    return Hello(
        dialect,
        _text(client, "name", "")[:LONGEST_NAME],
        _text(client, "version", "")[:LONGEST_NAME],
        _path(client),
        env,
        _umask(client),
        {key: value for key, value in members.items() if key not in {"protocol", "dialect", "client"}},
    )


def _text(client: dict[str, Any], key: str, default: str) -> str:
    value = client.get(key, default)
    if not isinstance(value, str):
        raise TypeError(f"client.{key} is not a string")
    return value


def _umask(client: dict[str, Any]) -> int | None:
    value = client.get("umask")
    if value is not None and (type(value) is not int or not 0 <= value <= 0o777):
        raise TypeError("client.umask is not a whole number from 0 to 511")
    return value


def _path(client: dict[str, Any]) -> str:
    path = _text(client, "cwd", "/")
    if len(path) > LONGEST_PATH:
        raise TypeError(f"client.cwd has {len(path)} characters, {LONGEST_PATH} are possible")
    return path
