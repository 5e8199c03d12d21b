"""News of an agent that are no work: what can be set in it, its title, the commands it knows. Pure."""

from collections.abc import Iterator
from typing import Any

from actors.vocabulary.agent_events import (
    AgentCommand,
    AgentCommands,
    AgentOption,
    AgentOptions,
    AgentTitle,
    OptionChoice,
)
from supervisor.agents.acp.shapes import Shape, shape, shapes, short

News = AgentOptions | AgentCommands | AgentTitle

MOST_OPTIONS = 50
MOST_CHOICES = 200  # models of a provider, for example
MOST_COMMANDS = 500
MODE, MODEL = "mode", "model"
NAME = 200  # characters of a name or a value
SENTENCE = 500  # characters of what a command does: some agents write pages, of which all are in each event


class AgentNews:
    """The last of each kind: what says nothing new is no news."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._options: tuple[AgentOption, ...] = ()
        self._commands: tuple[AgentCommand, ...] | None = None
        self._title = ""

    @property
    def options(self) -> tuple[AgentOption, ...]:
        return self._options

    @property
    def model(self) -> str:
        """The model that is set, where the agent says."""
        return next((one.value for one in self._options if one.category == MODEL), "")

    def begun(self, answer: Any) -> Iterator[News]:
        """The answer with which a session begins: new, resumed or loaded."""
        told = shape(answer)
        options = (*_options(told.get("configOptions")), *_legacy(told))
        yield from self._set(_first_of_each(options))

    def take(self, update: Shape) -> Iterator[News]:
        match update.get("sessionUpdate"):
            case "config_option_update":
                kept = (one for one in self._options if one.id == one.category)  # modes and models told otherwise
                yield from self._set(_first_of_each((*_options(update.get("configOptions")), *kept)))
            case "current_mode_update":
                yield from self._choose(MODE, short(update.get("currentModeId"), NAME))
            case "available_commands_update":
                yield from self._know(_commands(update.get("availableCommands")))
            case "session_info_update" if "title" in update:
                yield from self._call(short(update["title"]))
            case _:
                pass

    def chosen(self, option: str, value: str) -> Iterator[News]:
        """The agent took a value that we set, and did not say so itself."""
        yield from self._set(tuple(_with(one, value) if one.id == option else one for one in self._options))

    def _choose(self, category: str, value: str) -> Iterator[News]:
        if value:
            known = tuple(_with(one, value) if one.category == category else one for one in self._options)
            absent = not any(one.category == category for one in known)
            more = (AgentOption(id=category, category=category, value=value),) if absent else ()
            yield from self._set((*known, *more))

    def _set(self, options: tuple[AgentOption, ...]) -> Iterator[News]:
        if options and options != self._options:
            self._options = options
            yield AgentOptions(agent=self._agent, options=options)

    def _know(self, commands: tuple[AgentCommand, ...]) -> Iterator[News]:
        if commands != (self._commands or ()):
            self._commands = commands
            yield AgentCommands(agent=self._agent, commands=commands)

    def _call(self, title: str) -> Iterator[News]:
        if title != self._title:
            self._title = title
            yield AgentTitle(title=title)


def _with(option: AgentOption, value: str) -> AgentOption:
    return option.model_copy(update={"value": value})


def _first_of_each(options: tuple[AgentOption, ...]) -> tuple[AgentOption, ...]:
    """One option of a mode and one of a model, though agents tell them in two ways; and each id once."""
    found: dict[str, AgentOption] = {}
    for one in options:
        told = one.category in {MODE, MODEL} and any(other.category == one.category for other in found.values())
        if one.id not in found and not told:
            found[one.id] = one
    return tuple(found.values())[:MOST_OPTIONS]


def _options(listed: Any) -> Iterator[AgentOption]:
    for one in shapes(listed, MOST_OPTIONS):
        option = short(one.get("id"), NAME)
        if option:
            yield AgentOption(
                id=option,
                name=short(one.get("name"), NAME),
                category=short(one.get("category"), NAME),
                value=_value(one.get("currentValue")),
                choices=tuple(_choices(one))[:MOST_CHOICES],
            )


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else short(value, NAME)


def _choices(option: Shape) -> Iterator[OptionChoice]:
    """The choices of an option, which may be in groups; a switch has two."""
    if isinstance(option.get("currentValue"), bool):
        yield from (OptionChoice(value="true", name="on"), OptionChoice(value="false", name="off"))
    for one in shapes(option.get("options"), MOST_CHOICES):
        grouped = list(shapes(one.get("options"), MOST_CHOICES))
        for choice in grouped or [one]:
            value = _value(choice.get("value"))
            if value:
                yield OptionChoice(value=value, name=short(choice.get("name"), NAME))


def _legacy(told: Shape) -> Iterator[AgentOption]:
    """Modes and models as they were told before there were options."""
    modes, models = shape(told.get("modes")), shape(told.get("models"))
    if modes:
        yield _folded(MODE, "Mode", modes, "currentModeId", "availableModes", "id")
    if models:
        yield _folded(MODEL, "Model", models, "currentModelId", "availableModels", "modelId")


def _folded(option: str, name: str, told: Shape, now: str, listed: str, id_: str) -> AgentOption:
    found = (
        (short(one.get(id_), NAME), short(one.get("name"), NAME)) for one in shapes(told.get(listed), MOST_CHOICES)
    )
    choices = tuple(OptionChoice(value=value, name=what) for value, what in found if value)
    return AgentOption(id=option, name=name, category=option, value=short(told.get(now), NAME), choices=choices)


def _commands(listed: Any) -> tuple[AgentCommand, ...]:
    return tuple(
        AgentCommand(
            name=short(one.get("name"), NAME),
            description=short(one.get("description"), SENTENCE),
            hint=short(shape(one.get("input")).get("hint"), NAME),
        )
        for one in shapes(listed, MOST_COMMANDS)
        if short(one.get("name"), NAME)
    )
