"""The choice between the wires, by the endpoint. No I/O."""

from typing import assert_never

from supervisor.agents.own.model import chat, messages, messages_stream, responses
from supervisor.agents.own.model.decoding import Decoder
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.history_pieces import Form
from supervisor.agents.own.model.request import ModelRequest
from supervisor.agents.own.model.web_search import plugs_in
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.config.shared_keys import WireApi


def form(wire: WireApi, model: str) -> Form:
    """Return the form in which the model reads a history on this wire."""
    match wire:
        case WireApi.CHAT:
            return chat.form_for(model)
        case WireApi.RESPONSES:
            return responses.FORM
        case WireApi.MESSAGES:
            return messages.form_for(model)


def body(endpoint: Endpoint, request: ModelRequest) -> list[bytes]:
    """Build the body of a request, as a list of byte chunks."""
    match endpoint.wire:
        case WireApi.CHAT:
            plugin = endpoint.web_search and plugs_in(endpoint.base_url)
            return chat.body(request, include_usage=endpoint.include_usage, search_plugin=plugin)
        case WireApi.RESPONSES:
            return responses.body(request, endpoint.longest_answer, web_search=endpoint.web_search)
        case WireApi.MESSAGES:
            return messages.body(request, endpoint.longest_answer, web_search=endpoint.web_search)
        case _:
            assert_never(endpoint.wire)


def decoder(wire: WireApi, bounds: Bounds = DEFAULTS) -> Decoder:
    match wire:
        case WireApi.CHAT:
            return chat.ChatDecoder(bounds)
        case WireApi.RESPONSES:
            return responses.ResponsesDecoder(bounds)
        case WireApi.MESSAGES:
            return messages_stream.MessagesDecoder(bounds)
