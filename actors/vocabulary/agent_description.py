"""A third-party agent as it last described itself in a conversation. A leaf."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Struct

MODE, MODEL, EFFORT = "mode", "model", "thought_level"  # categories of options, as the protocol calls them


@dataclass(frozen=True, slots=True)
class AgentOptionValue:
    """A setting of the agent, and its value. The other possible values are in the event."""

    id: Annotated[str, Meta(description="The agent's id of it.")]
    name: Annotated[str, Meta(description="What it is, in the agent's words.")]
    category: Annotated[str, Meta(description="mode, model, thought_level, or what the agent calls it.")]
    value: Annotated[str, Meta(description="What it is now.")]


@dataclass(frozen=True, slots=True)
class AgentDescription:
    """An agent's own session, the program that has it, and its settings. Empty: it has not said.

    `wanted`: the model that our settings named when it told its options, which are out of date after a change.
    """

    agent: str
    session: str = ""
    how: str = ""
    program: str = ""
    can: tuple[str, ...] = ()
    note: str = ""
    options: tuple[AgentOptionValue, ...] = ()
    wanted: str = ""

    def value(self, category: str) -> str:
        """Return the value of the option of this category; empty: unknown."""
        return next((option.value for option in self.options if option.category == category), "")


class AgentNow(Struct, frozen=True):
    """A third-party agent in a conversation, as clients see it."""

    agent: Annotated[str, Meta(description="Its name in the config.")]
    session: Annotated[str, Meta(description="Its own id of the session.")]
    how: Annotated[str, Meta(description="How that began: new, resumed, loaded, seeded; empty: not yet.")]
    program: Annotated[str, Meta(description="What the program calls itself, with its version.")]
    can: Annotated[tuple[str, ...], Meta(description="What it said that it can do.")]
    note: Annotated[str, Meta(description="What a person should know about how it began; empty: nothing.")]
    model: Annotated[str, Meta(description="Its model; empty: it has not said.")]
    mode: Annotated[str, Meta(description="Its mode; empty: it has not said.")]
    options: Annotated[
        tuple[AgentOptionValue, ...], Meta(description="All that can be set in it, with the values now.")
    ]
