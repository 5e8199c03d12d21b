"""Names, descriptions and schemas of servers' tools, as models are offered them."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from supervisor.agents.own.mcp_client.offered_tools import (
    DESCRIPTION,
    MOST_OFFERED,
    SCHEMA_BYTES,
    name_of,
    offer_tools,
    schema_of,
)
from supervisor.agents.own.mcp_client.server_tools import ServerTool
from supervisor.config.mcp_servers import McpServer

NAMES = st.text(min_size=1, max_size=80)
SERVER = McpServer(command="x")


def tools(*names: str) -> list[ServerTool]:
    return [ServerTool(name, "", {}) for name in names]


def test_a_plain_name_is_the_server_s_and_the_tool_s() -> None:
    assert name_of("files", "read_file", ()) == "files__read_file"


@given(st.lists(st.tuples(NAMES, NAMES), unique=True, max_size=30))
def test_every_name_is_valid_for_every_provider_and_stands_for_one_tool(pairs: list[tuple[str, str]]) -> None:
    taken: list[str] = []
    for server, tool in pairs:
        taken.append(name_of(server, tool, taken))
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in taken)
    assert len(set(taken)) == len(pairs)


def test_a_name_that_had_to_be_changed_is_the_same_in_the_next_life_whatever_else_there_is() -> None:
    assert name_of("my server", "x", ()) == name_of("my server", "x", ("other",)) != name_of("my_server", "x", ())


def test_only_allowed_tools_are_offered_and_the_denied_are_not_even_if_allowed() -> None:
    config = McpServer(command="x", enabled_tools=("a", "b"), disabled_tools=("b",))
    found, left_out = offer_tools([("s", config, tools("a", "b", "c"))], ())
    assert [one.tool.name for one in found] == ["a"]
    assert left_out == 0


def test_of_too_many_tools_the_first_are_offered_and_the_others_are_counted() -> None:
    found, left_out = offer_tools([("s", SERVER, tools(*(f"t{number}" for number in range(MOST_OFFERED + 3))))], ())
    assert (len(found), left_out) == (MOST_OFFERED, 3)


def test_a_long_description_is_cut_and_a_missing_one_says_whose_tool_it_is() -> None:
    listed = [ServerTool("a", "x" * (2 * DESCRIPTION), {}), ServerTool("b", "", {})]
    (a, b), _ = offer_tools([("s", SERVER, listed)], ())
    assert len(a.spec.description) == DESCRIPTION
    assert b.spec.description == "The tool b of the MCP server s."


def test_a_tool_is_described_once_until_its_server_lists_another() -> None:
    listed = ServerTool("a", "Adds.", {})
    again = ServerTool("a", "Subtracts.", {})
    (first,), _ = offer_tools([("s", SERVER, [listed])], ())
    (second,), _ = offer_tools([("s", SERVER, [listed])], ())
    (other,), _ = offer_tools([("s", SERVER, [again])], ())
    assert first.spec is second.spec
    assert other.spec.description == "Subtracts."


def test_a_schema_is_an_object_in_any_case() -> None:
    assert schema_of({"$schema": "x"}) == {"type": "object", "properties": {}}


def test_a_schema_that_is_too_large_loses_its_prose_but_no_property_of_that_name() -> None:
    prose = "x" * SCHEMA_BYTES
    large = {"type": "object", "properties": {"description": {"type": "string", "description": prose}}}
    assert schema_of(large) == {"type": "object", "properties": {"description": {"type": "string"}}}


def test_a_schema_that_is_too_large_without_prose_takes_anything() -> None:
    large = {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(2000)}}
    assert schema_of(large)["additionalProperties"] is True
    assert len(json.dumps(schema_of(large))) <= SCHEMA_BYTES
