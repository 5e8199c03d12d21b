"""Lines put together from what is JSON already, which goes out as it is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from actors.vocabulary.ids import RequestId
from transports import jsonrpc

quoted = json.encoder.encode_basestring  # a string of ours as JSON, without the machinery for everything else


@dataclass(frozen=True, slots=True)
class Raw:
    value: Mapping[str, object]
    encoded: Mapping[str, bytes] = field(default_factory=dict)


def result_line(request: RequestId, raw: Raw) -> bytes:
    members = b"".join(b',"' + name.encode() + b'":' + value for name, value in raw.encoded.items())
    return jsonrpc.result(request, raw.value)[:-3] + members + b"}}\n"


def notification_line(method: str, params: Mapping[str, str], shared: bytes) -> bytes:
    """`shared` are further members of the params, already encoded. Written for every piece of every stream."""
    members = "".join(f"{quoted(name)}:{quoted(value)}," for name, value in params.items())
    start = f'{{"jsonrpc":"2.0","method":{quoted(method)},"params":{{{members}'
    return b"".join((start.encode(), shared, b"}\n"))
