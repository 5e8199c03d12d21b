"""A third-party agent that an MCP client names in the `config` of its call."""

from pathlib import Path

from tests.supervisor.agents.acp.scripted import agent_table
from tests.support.home import Home
from tests.support.mcp_client import McpClient

MORE = '[greenroom.mcp]\nmax_sandbox = "danger-full-access"\n'  # the scripted agent has no sandbox around it


def test_the_config_of_a_call_names_the_agent_that_carries_its_turns_out(tmp_path: Path) -> None:
    home = Home(tmp_path, f'model_provider = "demo"\n{agent_table()}{MORE}')
    with home.daemon(), McpClient(home.env) as client:
        said = client.result("codex", {"prompt": "say words of its own", "config": {"agent": "scripted"}}, 1)
        assert said["structuredContent"]["content"] == "words of its own"
        thread = said["structuredContent"]["threadId"]
        remembered = client.result("codex-reply", {"threadId": thread, "prompt": "memory"}, 2)
        assert remembered["structuredContent"]["content"] == "I remember 2 messages"
        unknown = client.result("codex", {"prompt": "x", "config": {"agent": "nobody"}}, 3)
        assert "nobody" in unknown["content"][0]["text"]
