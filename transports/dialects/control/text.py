"""Text on its way in and out: what no disk can write is refused, what is JSON already goes out as it is."""

import json
from collections.abc import Mapping

from msgspec import Struct, field

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.ids import RequestId
from transports import jsonrpc

PIECE = 64 * 1024  # characters that are looked at together
quoted = json.encoder.encode_basestring  # a string of ours as JSON, without the machinery for everything else


class Raw(Struct, frozen=True):
    value: Mapping[str, object]
    encoded: Mapping[str, bytes] = field(default_factory=dict)


def result_line(request: RequestId, raw: Raw) -> bytes:
    """`encoded` may be long, and is copied once."""
    members = (part for name, value in raw.encoded.items() for part in (b',"', name.encode(), b'":', value))
    start = jsonrpc.line({"jsonrpc": "2.0", "id": request})[:-2]
    return b"".join((start, b',"result":', jsonrpc.line(raw.value)[:-2], *members, b"}}\n"))


def notification_line(method: str, params: Mapping[str, str], shared: bytes) -> bytes:
    """`shared` are further members of the params, already encoded. Written for every piece of every stream."""
    members = "".join(f"{quoted(name)}:{quoted(value)}," for name, value in params.items())
    start = f'{{"jsonrpc":"2.0","method":{quoted(method)},"params":{{{members}'
    return b"".join((start.encode(), shared, b"}\n"))


def unwritable(params: jsonrpc.Params) -> InvalidInput | None:
    """JSON can spell half a surrogate pair, which neither disks nor models take. The text names the place."""
    places: list[tuple[str, object]] = [("", params)]
    while places:
        place, value = places.pop()
        if isinstance(value, str):
            if not _is_text(value):
                return InvalidInput(f"{place}: the text has half a surrogate pair; send whole Unicode characters")
        elif isinstance(value, dict):
            if not all(map(_is_text, value)):
                return InvalidInput(
                    f"{place or 'params'}: the name has half a surrogate pair; send whole Unicode characters"
                )
            places += [(f"{place}.{key}" if place else key, inner) for key, inner in value.items()]
        elif isinstance(value, list):
            places += [(f"{place}.{at}", inner) for at, inner in enumerate(value)]
    return None


def _is_text(value: str) -> bool:
    """A long text is not copied for that."""
    if value.isascii():
        return True
    try:
        for at in range(0, len(value), PIECE):
            value[at : at + PIECE].encode()
    except UnicodeEncodeError:
        return False
    return True
