"""The judge of all that we send in ACP: the models of the official Python SDK, and no member beside them."""

from typing import Any

from acp import schema
from pydantic import BaseModel, TypeAdapter

Json = dict[str, Any]
RESULTS: dict[str, Any] = {
    "initialize": schema.InitializeResponse,
    "authenticate": schema.AuthenticateResponse,
    "session/new": schema.NewSessionResponse,
    "session/load": schema.LoadSessionResponse,
    "session/resume": schema.ResumeSessionResponse,
    "session/fork": schema.ForkSessionResponse,
    "session/list": schema.ListSessionsResponse,
    "session/delete": schema.DeleteSessionResponse,
    "session/close": schema.CloseSessionResponse,
    "session/prompt": schema.PromptResponse,
    "session/set_mode": schema.SetSessionModeResponse,
    "session/set_config_option": schema.SetSessionConfigOptionResponse,
}
REQUESTS: dict[str, Any] = {
    "session/request_permission": schema.RequestPermissionRequest,
    "elicitation/create": schema.CreateElicitationRequest,
}
NOTIFICATIONS: dict[str, Any] = {
    "session/update": schema.SessionNotification,
    "$/cancel_request": schema.CancelRequestNotification,
}
OPEN = {".authMethods[].type"}  # `agent`, which the schema leaves out
OURS = frozenset({"_session/steering", "_greenroom/attach"})


def judge(message: Json, method: str | None = None) -> None:
    """`method`: that of the request which the message answers. Raises for anything that the schema forbids."""
    assert message["jsonrpc"] == "2.0", message
    if "method" in message:
        assert set(message) <= {"jsonrpc", "id", "method", "params"}, message
        known = REQUESTS if "id" in message else NOTIFICATIONS
        _fits(known[message["method"]], message["params"])
    elif "result" in message:
        assert set(message) == {"jsonrpc", "id", "result"}, message
        if method not in OURS:
            _fits(RESULTS[str(method)], message["result"])
    else:
        _fits(schema.Error, message["error"])


def _fits(model: Any, value: Json) -> None:
    read = TypeAdapter(model).validate_python(value)
    back = read.model_dump(mode="json", by_alias=True, exclude_unset=True) if isinstance(read, BaseModel) else read
    unknown = sorted(_members(value) - _members(back) - OPEN)
    assert not unknown, f"{unknown} are not of the schema: {value}"


def _members(value: Any, place: str = "") -> set[str]:
    """The places of all members, but for those whose content is free."""
    match value:
        case dict():
            free = {"_meta", "rawInput", "rawOutput"}
            inner = (_members(one, f"{place}.{name}") for name, one in value.items() if name not in free)
            return {f"{place}.{name}" for name in value}.union(*inner)
        case list():
            return set().union(*(_members(one, f"{place}[]") for one in value))
        case _:
            return set()
