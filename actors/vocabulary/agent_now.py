"""An agent of others as it last described itself in a conversation. A leaf."""

from dataclasses import dataclass

MODE, MODEL, EFFORT = "mode", "model", "thought_level"  # categories of options, as the protocol calls them


@dataclass(frozen=True, slots=True)
class OptionNow:
    """Something that is set in the agent, and its value. What else it could be is in the event."""

    id: str
    name: str
    category: str
    value: str


@dataclass(frozen=True, slots=True)
class AgentNow:
    """An agent's own session, the program that has it, and what it is set to. Empty: it has not said.

    `wanted`: the model that the settings named when it told its options; what it told is out of date after a change.
    """

    agent: str
    session: str = ""
    how: str = ""
    program: str = ""
    can: tuple[str, ...] = ()
    note: str = ""
    options: tuple[OptionNow, ...] = ()
    wanted: str = ""

    def value(self, category: str) -> str:
        """Return the value of the option of this category; empty: unknown."""
        return next((one.value for one in self.options if one.category == category), "")
