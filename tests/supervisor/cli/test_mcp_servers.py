"""`greenroom mcp-servers`: what each server offers, and why another offers nothing."""

import json
import sys
from typing import Any

from greenroom.answers import Server
from supervisor.cli.mcp_servers import GIVEN_SERVERS, given_row
from tests.supervisor.cli.place import Place
from tests.support import scripted_mcp_server

SCRIPTED = json.dumps([scripted_mcp_server.__file__])
DIES = json.dumps([scripted_mcp_server.__file__, "dies"])
CONFIG = f"""
[mcp_servers.toys]
command = "{sys.executable}"
args = {SCRIPTED}
enabled_tools = ["echo", "write"]
tools = {{ write = {{ approval_mode = "approve" }} }}
[mcp_servers.sick]
command = "{sys.executable}"
args = {DIES}
[mcp_servers.off]
command = "nothing"
enabled = false
[mcp_servers.locked]
url = "http://127.0.0.1:9/mcp"
bearer_token_env_var = "NO_SUCH_TOKEN"
"""


def test_servers_are_tried_and_listed_with_what_is_wrong_and_no_daemon_is_started(quiet: Place) -> None:
    (quiet.home / "config.toml").write_text(CONFIG)
    rows = {row["name"]: row for row in quiet.json("mcp-servers", "--json")}
    assert {name: row["state"] for name, row in rows.items()} == {
        "toys": "ready", "sick": "failed", "off": "off", "locked": "failed",
    }  # fmt: skip
    offered = {tool["name"]: (tool["offered"], tool["approval"]) for tool in rows["toys"]["tools"]}
    assert offered["echo"] == ("toys__echo", "prompt")
    assert offered["write"] == ("toys__write", "approve")
    assert offered["die"] == (None, "prompt")
    assert rows["toys"]["about"] == "scripted 1"
    assert rows["sick"]["wrong"] == "it ended with status 4, and said last: no licence"
    assert rows["locked"]["wrong"].startswith("the variable NO_SUCH_TOKEN, which holds its token, is not set")
    shown = quiet.run("mcp-servers").stdout
    assert "2: echo, write" in shown
    assert "enabled = false" in shown


def test_those_that_clients_gave_are_listed_by_command_or_address_and_names_of_values() -> None:
    nothing: dict[str, Any] = {"command": [], "variables": [], "url": "", "headers": [], "approved": None}
    program = {**nothing, "name": "files", "kind": "stdio", "command": ["a b", "-x"], "variables": ["KEY"]}
    address = {**nothing, "name": "web", "kind": "http", "url": "https://x/", "headers": ["A"]}
    rows = [given_row(Server.from_json(one)) for one in ({**program, "approved": True}, address)]
    assert [[column.cell(row) for column in GIVEN_SERVERS.columns] for row in rows] == [
        ["files", "stdio", "yes", "'a b' -x", "KEY"],
        ["web", "http", "not asked", "https://x/", "A"],
    ]


def test_a_conversation_that_was_given_none_lists_none(place: Place) -> None:
    conversation = place.new("say hello")
    assert place.json("mcp-servers", conversation, "--json") == []
    assert place.json("inspect", conversation)["servers"] == []
    assert "no conversation 'nobody'" in place.run("mcp-servers", "nobody", code=5).stderr


def test_without_servers_the_list_is_empty_and_says_how_to_add_one(quiet: Place) -> None:
    assert quiet.json("mcp-servers", "--json") == []


def test_a_narrow_terminal_has_the_whole_reason_below_the_table(quiet: Place) -> None:
    (quiet.home / "config.toml").write_text('[mcp_servers.gone]\ncommand = "/nowhere/a-server-that-is-not-there"\n')
    terminal = quiet.terminal("mcp-servers", columns=60)
    terminal.expect("gone: it could not be started: ")
    terminal.expect("a-server-that-is-not-there'")
    assert terminal.end() == 0
