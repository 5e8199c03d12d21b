"""The answer to `initialize`: the version, what we can do, how to log in."""

from typing import Any

import pytest

from transports.dialects.acp.introduction import LOGIN, introduction
from transports.dialects.acp.replay import AcpReplay


def introduced(params: dict[str, Any]) -> dict[str, Any]:
    result = introduction(params, "1.2.3")
    assert result is not None
    return result


@pytest.mark.parametrize("wanted", [0, 1, 2, 3])
def test_a_client_of_any_version_is_answered_with_ours(wanted: int) -> None:
    assert introduced({"protocolVersion": wanted})["protocolVersion"] == 1


@pytest.mark.parametrize("wanted", ["1", None, True, -1, 1 << 16, 1.5])
def test_an_invalid_version_is_no_introduction(wanted: object) -> None:
    assert introduction({"protocolVersion": wanted}, "1.2.3") is None


def test_no_session_is_closed_for_others() -> None:
    assert "close" not in introduced({"protocolVersion": 1})["agentCapabilities"]["sessionCapabilities"]


def test_only_a_client_that_starts_us_in_a_terminal_is_offered_that() -> None:
    offered = introduced({"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}})
    assert [(one["type"], one["args"]) for one in offered["authMethods"]] == [("terminal", ["login"])]
    others = introduced({"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": False}}})
    assert [one["type"] for one in others["authMethods"]] == ["agent"]
    assert "greenroom login" in others["authMethods"][0]["description"]


@pytest.mark.parametrize(
    "said", [None, [], {"auth": None}, {"auth": []}, {"auth": {"terminal": "yes"}}, {"auth": {"terminal": {}}}]
)
def test_capabilities_of_a_wrong_type_are_none(said: object) -> None:
    methods = introduced({"protocolVersion": 1, "clientCapabilities": said})["authMethods"]
    assert [one["type"] for one in methods] == ["agent"]


def test_authenticating_needs_no_daemon_and_an_unknown_method_is_for_the_daemon_to_refuse() -> None:
    replay = AcpReplay("1.2.3")
    said = {"jsonrpc": "2.0", "id": 1, "method": "authenticate"}
    assert replay.answer_at_once({**said, "params": {"methodId": LOGIN}}) == {"result": {}}
    assert replay.answer_at_once({**said, "params": {"methodId": "x"}}) is None
    assert replay.answer_at_once({**said, "params": []}) is None
