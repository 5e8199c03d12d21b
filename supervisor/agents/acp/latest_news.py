"""News of an agent besides its work: its options, its title, the commands that it knows. Pure."""

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
from supervisor.agents.acp.json_readers import Shape, shape, shapes, short

News = AgentOptions | AgentCommands | AgentTitle

MOST_OPTIONS = 50
MOST_CHOICES = 200  # models of a provider, for example
MOST_COMMANDS = 500
MODE, MODEL = "mode", "model"
NAME = 200  # characters of a name or a value
SENTENCE = 500  # characters of a command's description: some agents write pages, and each event has all of them


class LatestNews:
    """Keeps the latest news of each kind, and yields only those that differ from it."""

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
        """The model that is set; empty if the agent doesn't say."""
        return next((option.value for option in self._options if option.category == MODEL), "")

    def initial_news(self, answer: Any) -> Iterator[News]:
        """Take the answer that starts a session: new, resumed or loaded."""
        shown = shape(answer)
        options = (*_options(shown.get("configOptions")), *_older_options(shown))
        yield from self._set(_first_of_each(options))

    def take(self, update: Shape) -> Iterator[News]:
        match update.get("sessionUpdate"):
            case "config_option_update":
                kept = (
                    option for option in self._options if option.id == option.category
                )  # modes and models in the older form
                yield from self._set(_first_of_each((*_options(update.get("configOptions")), *kept)))
            case "current_mode_update":
                yield from self._choose(MODE, short(update.get("currentModeId"), NAME))
            case "available_commands_update":
                yield from self._know(_commands(update.get("availableCommands")))
            case "session_info_update" if "title" in update:
                yield from self._call(short(update["title"]))
            case _:
                pass

    def news_of_choice(self, option: str, value: str) -> Iterator[News]:
        """Take a value that we have set, where the agent did not report it itself."""
        yield from self._set(
            tuple(_with_value(known, value) if known.id == option else known for known in self._options)
        )

    def _choose(self, category: str, value: str) -> Iterator[News]:
        if value:
            options = tuple(_with_value(old, value) if old.category == category else old for old in self._options)
            absent = not any(option.category == category for option in options)
            more = (AgentOption(id=category, category=category, value=value),) if absent else ()
            yield from self._set((*options, *more))

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


def _with_value(option: AgentOption, value: str) -> AgentOption:
    return option.model_copy(update={"value": value})


def _first_of_each(options: tuple[AgentOption, ...]) -> tuple[AgentOption, ...]:
    """Return each id once, and only one option of a mode and one of a model, though agents send these twice."""
    found: dict[str, AgentOption] = {}
    for option in options:
        is_repeated = option.category in {MODE, MODEL} and any(
            other.category == option.category for other in found.values()
        )
        if option.id not in found and not is_repeated:
            found[option.id] = option
    return tuple(found.values())[:MOST_OPTIONS]


def _options(listed: Any) -> Iterator[AgentOption]:
    for entry in shapes(listed, MOST_OPTIONS):
        option = short(entry.get("id"), NAME)
        if option:
            yield AgentOption(
                id=option,
                name=short(entry.get("name"), NAME),
                category=short(entry.get("category"), NAME),
                value=_value(entry.get("currentValue")),
                choices=tuple(_choices(entry))[:MOST_CHOICES],
            )


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else short(value, NAME)


def _choices(option: Shape) -> Iterator[OptionChoice]:
    """Yield the choices of an option, which may be grouped; a switch has two."""
    if isinstance(option.get("currentValue"), bool):
        yield from (OptionChoice(value="true", name="on"), OptionChoice(value="false", name="off"))
    for entry in shapes(option.get("options"), MOST_CHOICES):
        grouped = list(shapes(entry.get("options"), MOST_CHOICES))
        for choice in grouped or [entry]:
            value = _value(choice.get("value"))
            if value:
                yield OptionChoice(value=value, name=short(choice.get("name"), NAME))


def _older_options(answer: Shape) -> Iterator[AgentOption]:
    """Yield modes and models in the form that they had before ACP had options."""
    modes, models = shape(answer.get("modes")), shape(answer.get("models"))
    if modes:
        yield _older_option(MODE, "Mode", modes, "currentModeId", "availableModes", "id")
    if models:
        yield _older_option(MODEL, "Model", models, "currentModelId", "availableModels", "modelId")


def _older_option(option: str, name: str, state: Shape, now: str, listed: str, id_: str) -> AgentOption:
    found = (
        (short(entry.get(id_), NAME), short(entry.get("name"), NAME))
        for entry in shapes(state.get(listed), MOST_CHOICES)
    )
    choices = tuple(OptionChoice(value=value, name=label) for value, label in found if value)
    return AgentOption(id=option, name=name, category=option, value=short(state.get(now), NAME), choices=choices)


def _commands(listed: Any) -> tuple[AgentCommand, ...]:
    return tuple(
        AgentCommand(
            name=short(command.get("name"), NAME),
            description=short(command.get("description"), SENTENCE),
            hint=short(shape(command.get("input")).get("hint"), NAME),
        )
        for command in shapes(listed, MOST_COMMANDS)
        if short(command.get("name"), NAME)
    )
