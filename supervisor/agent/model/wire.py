"""The choice between the two wires, by the endpoint. No I/O."""

from typing import assert_never

from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.model import chat, responses
from supervisor.agent.model.decoding import Decoder
from supervisor.agent.model.endpoint import Endpoint
from supervisor.agent.model.pieces import Form
from supervisor.agent.model.request import ModelRequest
from supervisor.config.shared import WireApi

FORMS: dict[WireApi, Form] = {WireApi.CHAT: chat.FORM, WireApi.RESPONSES: responses.FORM}


def body(endpoint: Endpoint, request: ModelRequest) -> list[bytes]:
    """Build the body of a request, as bytes that belong one behind the other."""
    match endpoint.wire:
        case WireApi.CHAT:
            return chat.body(request, include_usage=endpoint.include_usage)
        case WireApi.RESPONSES:
            return responses.body(request)
        case _:
            assert_never(endpoint.wire)


def decoder(wire: WireApi, bounds: Bounds = DEFAULTS) -> Decoder:
    match wire:
        case WireApi.CHAT:
            return chat.ChatDecoder(bounds)
        case WireApi.RESPONSES:
            return responses.ResponsesDecoder(bounds)
