"""The choice between the two wires, by the endpoint. No I/O."""

import json
from typing import assert_never

from pydantic_core import PydanticSerializationError, to_json

from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.model import chat, responses
from supervisor.agent.model.decoding import Decoder
from supervisor.agent.model.endpoint import Endpoint
from supervisor.agent.model.request import ModelRequest
from supervisor.config.shared import WireApi


def encoded(endpoint: Endpoint, request: ModelRequest) -> bytes:
    match endpoint.wire:
        case WireApi.CHAT:
            body = chat.body(request, include_usage=endpoint.include_usage)
        case WireApi.RESPONSES:
            body = responses.body(request)
        case _:
            assert_never(endpoint.wire)
    try:
        return to_json(body)
    except PydanticSerializationError:  # a lone half of a surrogate pair, as in a file name that isn't UTF-8
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def decoder(wire: WireApi, bounds: Bounds = DEFAULTS) -> Decoder:
    match wire:
        case WireApi.CHAT:
            return chat.ChatDecoder(bounds)
        case WireApi.RESPONSES:
            return responses.ResponsesDecoder(bounds)
