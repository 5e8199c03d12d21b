"""The beginning of a session: what is asked of an agent, in which order, and what is said when its memory is gone."""

from pathlib import Path

import pytest

from actors.messages.orders import KnownSession
from actors.vocabulary.settings import Settings, WorkspaceWrite
from supervisor.agents.acp.agent_process import Capabilities, capabilities_of
from supervisor.agents.acp.session_start import (
    SessionNotStarted,
    StartedSession,
    StepReply,
    session_params,
    start_requests,
)
from supervisor.config.mcp_servers import McpServer

PLACE = {"cwd": "/w", "mcpServers": []}
KNOWN = KnownSession("claude", "s1", 9)
BOTH = Capabilities(("resume sessions", "load sessions"))
LOADS = Capabilities(("load sessions",))
ANEW = StepReply({"sessionId": "s2"})


def played(can: Capabilities, known: KnownSession | None, *answers: StepReply) -> tuple[list[str], StartedSession]:
    """Answer its requests one after the other, and return their methods and what it came to."""
    beginning, asked, left = start_requests(can, PLACE, known), [], list(answers)
    request = next(beginning)
    while True:
        asked.append(request.method)
        try:
            request = beginning.send(left.pop(0))
        except StopIteration as end:
            assert not left
            return asked, end.value


def test_the_first_session_is_new() -> None:
    assert played(BOTH, None, ANEW) == (["session/new"], StartedSession("s2", "new", ANEW.answer))


def test_a_known_session_is_resumed_where_the_agent_can() -> None:
    assert played(BOTH, KNOWN, StepReply({})) == (["session/resume"], StartedSession("s1", "resumed", {}))


def test_it_is_loaded_where_it_can_only_be_loaded() -> None:
    assert played(LOADS, KNOWN, StepReply(None, replayed=2)) == (
        ["session/load"],
        StartedSession("s1", "loaded", None),
    )


def test_a_failed_resume_is_followed_by_a_load() -> None:
    asked, begun = played(BOTH, KNOWN, StepReply(failed="gone"), StepReply(None, replayed=1))
    assert (asked, begun.how, begun.lost) == (["session/resume", "session/load"], "loaded", "")


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (StepReply(failed="Resource not found"), "Resource not found"),
        (StepReply({"sessionId": "s7"}, replayed=1), "it took up another session"),
        (StepReply(None, replayed=0), "the session that it took up is empty"),
    ],
)
def test_memory_that_is_gone_is_never_passed_over_in_silence(given: StepReply, why: str) -> None:
    asked, begun = played(LOADS, KNOWN, given, ANEW)
    assert asked == ["session/load", "session/new"]
    assert (begun.session, begun.how, begun.lost) == ("s2", "new", f"session/load: {why}")


def test_an_agent_that_was_silent_is_not_asked_for_its_memory_again() -> None:
    silent = StepReply(failed="no answer within 60 s", timed_out=True)
    asked, begun = played(BOTH, KNOWN, silent, ANEW)
    assert asked == ["session/resume", "session/new"]
    assert begun.lost == "session/resume: no answer within 60 s"


def test_an_agent_without_memory_says_so() -> None:
    assert played(Capabilities(), KNOWN, ANEW)[1].lost == "it can't take sessions up"


def test_a_session_in_which_nothing_was_said_may_be_empty() -> None:
    assert played(LOADS, KnownSession("claude", "s1", 0), StepReply(None))[1].how == "loaded"


@pytest.mark.parametrize(
    "given", [StepReply(failed="Authentication required"), StepReply({}), StepReply([]), StepReply(None)]
)
def test_no_session_at_all_is_an_error(given: StepReply) -> None:
    with pytest.raises(SessionNotStarted):
        played(BOTH, None, given)


# --- capabilities and places -----------------------------------------------------------


@pytest.mark.parametrize("offer", [{}, True, {"form": True}, {"form": {}}])
def test_all_shapes_of_an_offer_are_understood(offer: object) -> None:
    about = {"agentCapabilities": {"sessionCapabilities": {"resume": offer}}}
    assert capabilities_of(about).names == ("resume sessions",)


@pytest.mark.parametrize("offer", [None, False, {"form": False}, 0, "no", []])
def test_an_invalid_offer_is_none(offer: object) -> None:
    assert capabilities_of({"agentCapabilities": {"sessionCapabilities": {"resume": offer}}}).names == ()
    assert capabilities_of({"agentCapabilities": offer}).names == ()


def test_servers_are_handed_on_in_the_protocols_shape() -> None:
    servers = {
        "db": McpServer(command="db-mcp", args=("--ro",), env={"A": "1"}, env_vars=("TOKEN", "UNSET")),
        "web": McpServer(url="https://mcp.example/x", bearer_token_env_var="TOKEN", http_headers={"X": "y"}),
        "off": McpServer(command="off", enabled=False),
    }
    settings = Settings(model="m", cwd=Path("/w"), sandbox=WorkspaceWrite(writable_roots=(Path("/more"),)))
    place = session_params(settings, Capabilities(("MCP over HTTP", "further directories")), servers, {"TOKEN": "t"})
    assert place["additionalDirectories"] == ["/more"]
    assert place["mcpServers"] == [
        {
            "name": "db",
            "command": "db-mcp",
            "args": ["--ro"],
            "env": [{"name": "TOKEN", "value": "t"}, {"name": "A", "value": "1"}],
        },
        {
            "type": "http",
            "name": "web",
            "url": "https://mcp.example/x",
            "headers": [{"name": "X", "value": "y"}, {"name": "Authorization", "value": "Bearer t"}],
        },
    ]
    plain = session_params(settings, Capabilities(), servers, {})
    assert [one["name"] for one in plain["mcpServers"]] == ["db"]
    assert "additionalDirectories" not in plain
