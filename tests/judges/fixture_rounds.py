"""The tools of the conformance suite that ask by `input_required`. A test-only provider, as `fixture_tools` is.

What reads the answers and seals the state is the dialect's own.
"""

from collections.abc import Callable
from typing import Any, cast

from actors.vocabulary.ids import RequestId
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script
from transports.dialects.mcp.calls.codex import codex
from transports.dialects.mcp.protocol.answers import Answers, bad_answers
from transports.dialects.mcp.protocol.introduction import META_CAPABILITIES, MISSING_CAPABILITY
from transports.dialects.mcp.protocol.notifications import TOOLS_CHANGED
from transports.dialects.mcp.protocol.seal import seal_content, unseal
from transports.dialects.mcp.protocol.state import McpCall
from transports.jsonrpc import Request

Json = dict[str, Any]
Handler = Callable[[McpCall, Any], Script[Json]]

capabilities: dict[RequestId, Json] = {}  # as the last request of this id has declared them


def note_capabilities(request: Request) -> None:
    meta = request.params.get("_meta", {}) if isinstance(request.params, dict) else {}
    capabilities[request.id] = meta.get(META_CAPABILITIES, {})


def form(message: str, **properties: str) -> Json:
    schema = {name: {"type": kind} for name, kind in properties.items()}
    params = {"message": message, "requestedSchema": {"type": "object", "properties": schema, "required": [*schema]}}
    return {"method": "elicitation/create", "params": params}


def sampling(words: str) -> Json:
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}}


ROOTS: Json = {"method": "roots/list", "params": {}}
ABILITY = {"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}


def in_rounds(*rounds: Json, keeps: bool = True) -> Handler:
    """A tool that asks in as many rounds. `keeps`: the client brings back which round it is in."""

    def handle(call: McpCall, _: Any) -> Script[Json]:
        yield from ()
        answers, step, secret = call.answers or Answers(), 0, call.state.options.secret
        if keeps and answers.state is not None:
            kept = unseal(secret, answers.state)
            if kept is None:
                raise bad_answers("`requestState` is not as it was given")
            step = cast("int", kept["step"])
        if (answers.state is not None or not keeps) and rounds[step].keys() <= answers.responses.keys():
            step += 1
        if step == len(rounds):
            return {"content": [{"type": "text", "text": f"state-ok {dict(answers.responses)}"}]}
        state = {"requestState": seal_content(secret, {"step": step})} if keeps else {}
        return {"resultType": "input_required", "inputRequests": _declared(call, rounds[step]), **state}

    return handle


def _declared(call: McpCall, requests: Json) -> Json:
    """Those that the client can answer."""
    able = capabilities[call.request]
    return {name: request for name, request in requests.items() if ABILITY[request["method"]] in able}


def needs_sampling(call: McpCall, _: Any) -> Script[Json]:
    yield from ()
    if "sampling" not in capabilities[call.request]:
        data: Json = {"requiredCapabilities": {"sampling": {}}}
        raise MethodError(MISSING_CAPABILITY, "Missing required client capability: sampling", data)
    return {"content": []}


def changes_tools(call: McpCall, _: Any) -> Script[Json]:
    yield from ()
    call.state.tell_change(TOOLS_CHANGED)
    return {"content": []}


def greets(_: McpCall, given: Any) -> Script[Json]:
    yield from ()
    return {"content": [{"type": "text", "text": f"Hello, {given.name}!"}]}


def works(call: McpCall, given: Any) -> Script[Any]:
    """A turn of the demo model: the only work that is a task here."""
    return codex(call, {"prompt": f"work on {given.model_dump().get('label', 'something')}"})


def fails(call: McpCall, _: Any) -> Script[Any]:
    """A turn whose model can't be reached."""
    return codex(call, {"prompt": "fail", "config": {"model_provider": "nowhere"}})


NAME = {"user_name": form("What is your name?", name="string")}
CAPITAL = {"capital_question": sampling("What is the capital of France?")}
EVERYTHING = {**NAME, "greeting": sampling("Generate a greeting"), "client_roots": ROOTS}
HANDLERS: dict[str, Handler] = {
    "test_input_required_result_elicitation": in_rounds(NAME, keeps=False),
    "test_input_required_result_sampling": in_rounds(CAPITAL, keeps=False),
    "test_input_required_result_list_roots": in_rounds({"client_roots": ROOTS}, keeps=False),
    "test_input_required_result_request_state": in_rounds({"confirm": form("Please confirm", ok="boolean")}),
    "test_input_required_result_multiple_inputs": in_rounds(EVERYTHING),
    "test_input_required_result_multi_round": in_rounds(
        {"step1": form("Step 1: What is your name?", name="string")},
        {"step2": form("Step 2: What is your favorite color?", color="string")},
    ),
    "test_input_required_result_tampered_state": in_rounds({"confirm": form("Please confirm", ok="boolean")}),
    "test_input_required_result_capabilities": in_rounds({**NAME, **CAPITAL}, keeps=False),
    "test_streaming_elicitation": in_rounds(NAME, keeps=False),
    "greet": greets,
    "slow_compute": works,
    "failing_job": fails,
    "test_missing_capability": needs_sampling,
    "test_trigger_tool_change": changes_tools,
}
