"""Failures of other people's agents, as a turn's end tells them. A leaf.

AgentFailed            the agent, or the way to it, gave up; the message is for people
├── ChildEnded         its process is gone, or was never there
│   └── CameTooLate    it was gone before it could begin with what it was asked
└── Refused            it answered a request with an error
    └── LoginWanted    because nobody is logged in
"""

from supervisor.agents.errors import ModelError
from supervisor.work.reach.known_agents import KNOWN, roads_to_a_login


class AgentFailed(ModelError):
    """The agent, or the way to it, gave up. The turn ends with the message."""

    code = "agent_failed"
    jsonrpc = -31520


class ChildEnded(AgentFailed):
    """The agent's process has ended, or could not be started."""

    code = "agent_ended"
    jsonrpc = -31521


class CameTooLate(ChildEnded):
    """The agent was gone when it was prompted, though nobody knew it yet: nothing of the prompt was done."""


class Refused(AgentFailed):
    """The agent answered a request with an error; `given` is the number of it."""

    code = "agent_refused"
    jsonrpc = -31522

    def __init__(self, message: str, given: int) -> None:
        super().__init__(message)
        self.given = given


def _ways(agent: str) -> str:
    """Name all ways to log in; of an agent that nobody knows, where to look."""
    more = f"log in by {roads_to_a_login(agent)}; " if agent in KNOWN else ""
    return f"{more}`greenroom agents {agent}` says how to log in"


class LoginWanted(Refused):
    """The agent wants somebody to log in; `said` are its own words."""

    def __init__(self, said: str, agent: str, given: int) -> None:
        super().__init__(f"{said.rstrip('.')}; {_ways(agent)}", given)
        self.said = said
