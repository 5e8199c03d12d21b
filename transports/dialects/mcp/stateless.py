"""The methods of the stateless revision, and the members that only its results have."""

from collections.abc import Mapping

from msgspec import Struct

from actors.vocabulary.ids import RequestId
from transports import jsonrpc
from transports.dialects.kit.methods import Method, always_urgent, method
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.requests import Finish
from transports.dialects.mcp import listening, methods
from transports.dialects.mcp.calls import extension_tasks as tasks
from transports.dialects.mcp.protocol import introduction, resources
from transports.dialects.mcp.protocol.introduction import DISCOVER
from transports.dialects.mcp.protocol.state import McpCall


def discover(call: McpCall, _: methods.NoParams) -> Mapping[str, object]:
    return introduction.discovery_result(call.state.version, call.state.options.tools)


def finish(name: str, version: str, send: Finish) -> Finish:
    """Wrap `send` for requests of this revision: it adds the required members and maps error numbers."""

    def end(request: RequestId, outcome: object) -> None:
        if isinstance(outcome, dict | Struct):
            outcome = introduction.complete_result(name, jsonrpc.plain(outcome), version)
        elif isinstance(outcome, MethodError) and outcome.number == resources.NOT_FOUND:
            outcome = MethodError(jsonrpc.INVALID_PARAMS, outcome.message, outcome.data)
        send(request, outcome)

    return end


SHARED = (
    *("tools/list", "tools/call", "prompts/list", "prompts/get", "completion/complete"),
    *("resources/list", "resources/templates/list", "resources/read"),
)
METHODS: Mapping[str, Method[McpCall]] = {
    DISCOVER: method(methods.NoParams, discover),
    "tasks/get": method(tasks.ExtensionTaskParams, tasks.get),
    "tasks/update": method(tasks.UpdateTask, tasks.update),
    "tasks/cancel": method(tasks.ExtensionTaskParams, tasks.cancel, urgent=always_urgent),
    "subscriptions/listen": method(listening.Listen, listening.listen),
    **{name: methods.METHODS[name] for name in SHARED},
}
