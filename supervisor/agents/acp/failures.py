"""Failures of third-party agents, as the end of a turn reports them. A leaf.

AgentFailed            the agent, or the connection to it, failed; the message is for people
├── ChildEnded         its process is gone, or was never there
│   └── GoneBeforePrompt   it was gone before it could begin with the prompt
└── AgentRefused       it answered a request with an error
    └── LoginWanted    because the user is not logged in
"""

from supervisor.agents.errors import ModelError
from supervisor.work.reach.known_agents import KNOWN_AGENTS, roads_to_a_login


class AgentFailed(ModelError):
    """The agent, or the connection to it, failed. The turn ends with the message."""

    code = "agent_failed"
    jsonrpc = -31520


class ChildEnded(AgentFailed):
    """The agent's process has ended, or could not be started."""

    code = "agent_ended"
    jsonrpc = -31521


class GoneBeforePrompt(ChildEnded):
    """The agent was gone already when it was prompted, which was noticed later: it did nothing of the prompt."""


class AgentRefused(AgentFailed):
    """The agent answered a request with an error; `given` is the error's code."""

    code = "agent_refused"
    jsonrpc = -31522

    def __init__(self, message: str, given: int) -> None:
        super().__init__(message)
        self.error_code = given


def _login_advice(agent: str) -> str:
    """Name the ways to log in; for an unknown agent, where to look."""
    more = f"log in by {roads_to_a_login(agent)}; " if agent in KNOWN_AGENTS else ""
    return f"{more}`greenroom agents {agent}` says how to log in"


class LoginWanted(AgentRefused):
    """The agent wants the user to log in; `said` are its own words."""

    def __init__(self, said: str, agent: str, given: int) -> None:
        super().__init__(f"{said.rstrip('.')}; {_login_advice(agent)}", given)
        self.agent_message = said
