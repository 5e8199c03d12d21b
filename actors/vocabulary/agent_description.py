"""A third-party agent as it last described itself in a conversation. A leaf."""

from dataclasses import dataclass

MODE, MODEL, EFFORT = "mode", "model", "thought_level"  # categories of options, as the protocol calls them


@dataclass(frozen=True, slots=True)
class AgentOptionValue:
    """A setting of the agent, and its value. The other possible values are in the event."""

    id: str
    name: str
    category: str
    value: str


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
