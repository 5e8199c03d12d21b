"""The cases in which a person is asked before a call, and what a server's own question becomes."""

from pathlib import Path

import pytest

from actors.vocabulary.settings import ApprovalPolicy, DangerFullAccess, SandboxPolicy, Settings, WorkspaceWrite
from supervisor.agents.own.mcp_client.questions import (
    ARGUMENTS_SHOWN,
    fields_of,
    form_of,
    judge_call,
    page_of,
    shown_arguments,
    unanswerable_fields,
)
from supervisor.agents.own.mcp_client.server_tools import ServerTool
from supervisor.config.mcp_servers import McpServer, ToolApproval

READS = ServerTool("read", "", {}, only_reads=True)
ADDS = ServerTool("add", "", {}, destroys=False)
WRITES = ServerTool("write", "", {})


def settings(policy: str = "on-request", sandbox: SandboxPolicy | None = None) -> Settings:
    return Settings(
        model="m", cwd=Path("/w"), approval_policy=ApprovalPolicy(policy), sandbox=sandbox or WorkspaceWrite()
    )


@pytest.mark.parametrize(
    ("mode", "reads", "adds", "writes"),
    [
        ("prompt", "ask", "ask", "ask"),
        ("writes", "run", "ask", "ask"),
        ("auto", "run", "run", "ask"),
        ("approve", "run", "run", "run"),
    ],
)
def test_the_mode_says_whose_word_counts(mode: str, reads: str, adds: str, writes: str) -> None:
    for policy in ("untrusted", "on-request", "on-failure"):
        found = [judge_call(ToolApproval(mode), tool, settings(policy)) for tool in (READS, ADDS, WRITES)]
        assert found == [reads, adds, writes]


def test_where_nobody_can_be_asked_a_tool_is_refused_unless_there_is_no_sandbox_anyway() -> None:
    assert judge_call(ToolApproval.PROMPT, READS, settings("never")) == "refuse"
    assert judge_call(ToolApproval.WRITES, READS, settings("never")) == "run"
    assert judge_call(ToolApproval.PROMPT, WRITES, settings("never", DangerFullAccess())) == "run"


def test_a_tool_s_own_mode_goes_before_its_server_s() -> None:
    tree = {"command": "x", "default_tools_approval_mode": "approve", "tools": {"rm": {"approval_mode": "prompt"}}}
    server = McpServer.model_validate(tree)
    assert (server.approval_of("rm"), server.approval_of("ls")) == ("prompt", "approve")


def test_a_form_is_shown_with_what_a_yes_sends() -> None:
    params = {
        "requestedSchema": {
            "properties": {
                "colour": {"type": "string", "enum": ["red", "blue"], "default": "blue", "description": "of it"},
                "name": {"type": "string"},
                "nick": {"type": "string"},
            },
            "required": ["colour", "name"],
        }
    }
    assert fields_of(params) == (
        'colour (of it): one of red, blue; a plain yes sends "blue"',
        "name: string; needed",
        "nick: string; optional",
    )
    assert [field.required for field in form_of(params)] == [True, True, False]
    assert unanswerable_fields(params) == ()


def test_choices_are_read_in_every_form_that_a_server_may_use() -> None:
    titled = [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]
    properties = {
        "plain": {"type": "string", "enum": ["r", "b"]},
        "named": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "Blue"]},
        "titled": {"type": "string", "oneOf": titled},
        "several": {"type": "array", "items": {"anyOf": titled}, "minItems": 1, "default": ["b"]},
    }
    plain, named, one_of, several = form_of({"requestedSchema": {"properties": properties}})
    assert [field.choices for field in (plain, named, one_of, several)] == [("r", "b")] * 4
    assert (plain.names, named.names, one_of.names) == ((), ("Red", "Blue"), ("Red", "Blue"))
    assert (several.type, several.least, several.default) == ("array", 1, ("b",))


def test_a_field_that_is_needed_and_of_no_type_of_the_protocol_gets_no_yes() -> None:
    params = {"requestedSchema": {"properties": {"a": {"type": "object"}}, "required": ["a"]}}
    assert (form_of(params), unanswerable_fields(params)) == ((), ("a",))


def test_a_default_that_does_not_fit_its_own_field_is_none() -> None:
    field = {"type": "integer", "minimum": 3, "default": 1}
    assert form_of({"requestedSchema": {"properties": {"a": field}}})[0].default is None


def test_a_form_with_more_fields_than_are_shown_gets_no_yes() -> None:
    """Nobody agrees to what stood behind the last line."""
    properties = {f"f{number}": {"type": "boolean", "default": True} for number in range(22)}
    params = {"message": "?", "requestedSchema": {"properties": properties}}
    assert len(fields_of(params)) == 20
    assert unanswerable_fields(params) == ("f20", "f21")


def test_a_page_to_visit_is_no_form() -> None:
    params = {"mode": "url", "url": "https://x.example", "message": "Log in"}
    assert (page_of(params), fields_of(params), unanswerable_fields(params)) == ("https://x.example", (), ())


def test_long_arguments_are_shown_with_their_beginning_and_end() -> None:
    shown = shown_arguments({"a": "x" * 2 * ARGUMENTS_SHOWN, "z": "end"})
    assert len(shown) < ARGUMENTS_SHOWN + 100
    assert shown.startswith('{"a"')
    assert shown.endswith('"end"}')
