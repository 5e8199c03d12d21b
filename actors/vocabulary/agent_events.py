"""The events of third-party agents about their sessions and their settings. A leaf.

Their words, their work and their questions are the same events as those of our own agent, see `events`.
"""

from typing import Literal

from pydantic import BaseModel, Field

from actors.vocabulary.event_bases import AgentEvent
from actors.vocabulary.settings import FROZEN


class AgentSession(AgentEvent):
    """An agent's own session begins or goes on, in a process that was started for it."""

    headline = True
    type: Literal["agent_session"] = "agent_session"
    agent: str = Field(description="The agent, by its name in the config.")
    session: str = Field(description="Its own id of the session.")
    how: Literal["new", "resumed", "loaded", "seeded"] = Field(
        description="new: nothing was said before. resumed, loaded: it remembers. seeded: it began anew, and was "
        "told what had been said."
    )
    program: str = Field("", description="What the program calls itself, with its version.")
    can: tuple[str, ...] = Field((), description="What it said that it can do.")
    note: str = Field("", description="What a person should know about how it began; empty: nothing.")


class OptionChoice(BaseModel):
    model_config = FROZEN
    value: str = Field(description="The value.")
    name: str = Field("", description="What it means, in the agent's words.")


class AgentOption(BaseModel):
    """Something about the agent that can be set."""

    model_config = FROZEN
    id: str = Field(description="The agent's id of it.")
    name: str = Field("", description="What it is, in the agent's words.")
    category: str = Field("", description="mode, model, thought_level, or what the agent calls it.")
    value: str = Field("", description="What it is now.")
    choices: tuple[OptionChoice, ...] = Field((), description="What it can be.")


class AgentOptions(AgentEvent):
    """The settings of the agent, and their values now."""

    headline = True
    type: Literal["agent_options"] = "agent_options"
    agent: str = Field(description="The agent.")
    options: tuple[AgentOption, ...] = Field(description="All of them.")


class AgentCommand(BaseModel):
    model_config = FROZEN
    name: str = Field(description="What is typed after a slash.")
    description: str = Field("", description="What it does.")
    hint: str = Field("", description="What may follow it.")


class AgentCommands(AgentEvent):
    """The commands that the agent understands in a message that begins with a slash."""

    type: Literal["agent_commands"] = "agent_commands"
    agent: str = Field(description="The agent.")
    commands: tuple[AgentCommand, ...] = Field(description="All of them.")


class AgentTitle(AgentEvent):
    """The agent's name for what the conversation is about."""

    headline = True
    type: Literal["agent_title"] = "agent_title"
    title: str = Field(description="The title; empty takes it back.")
