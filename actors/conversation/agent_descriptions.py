"""Third-party agents' descriptions of themselves: kept for `inspect` and lists, bounded. Pure."""

from dataclasses import replace

from actors.conversation.agents import settings_now
from actors.conversation.facts import Facts
from actors.vocabulary import events as ev
from actors.vocabulary.agent_description import MODE, MODEL, AgentDescription, AgentNow, AgentOptionValue
from actors.vocabulary.setting_changes import model_of

# All of it is in each checkpoint. The events have the rest.
AGENTS_KEPT = 4  # agents of one conversation
OPTIONS_KEPT = 24  # the agents that were measured have at most five
ABILITIES_KEPT = 24
TEXT = 120  # characters of a value, a name, an ability
NOTE = 500
TITLE = 80  # what a line of `ls` has room for


def after_session(facts: Facts, event: ev.AgentSession) -> tuple[AgentDescription, ...]:
    """The agents after a session has begun. Its program tells its options again."""
    begun = AgentDescription(
        agent=event.agent,
        session=event.session,
        how=event.how,
        program=_shorten(event.program),
        can=tuple(map(_shorten, event.can[:ABILITIES_KEPT])),
        note=_shorten(event.note, NOTE),
    )
    return _with_description(facts, begun)


def after_options(facts: Facts, event: ev.AgentOptions) -> tuple[AgentDescription, ...]:
    options = tuple(
        AgentOptionValue(
            _shorten(option.id), _shorten(option.name), _shorten(option.category), _shorten(option.value)
        )
        for option in event.options[:OPTIONS_KEPT]
    )
    known = _description_of(facts, event.agent) or AgentDescription(event.agent)
    return _with_description(facts, replace(known, options=options, wanted=settings_now(facts).agent_model))


def title_of(event: ev.AgentTitle) -> str:
    return _shorten(" ".join(event.title.split()), TITLE)


def agent_now(facts: Facts) -> AgentNow | None:
    """Return how the conversation's agent describes itself; None: not yet, or it is our own."""
    told = _description_of(facts, facts.settings.agent)
    if told is None:
        return None
    model, mode = told.value(MODEL), told.value(MODE)
    return AgentNow(told.agent, told.session, told.how, told.program, told.can, told.note, model, mode, told.options)


def model_now(facts: Facts) -> str:
    """Return the model that the agent says it has, unless the settings have named another since."""
    named, told = model_of(facts.settings), _description_of(facts, facts.settings.agent)
    if told is None or told.wanted != facts.settings.agent_model:
        return named
    return told.value(MODEL) or named


def title_or_preview(facts: Facts) -> str:
    """Return the agent's title of the conversation, or else the beginning of its first message."""
    return facts.title or facts.preview


def _description_of(facts: Facts, agent: str) -> AgentDescription | None:
    """The agent's description; None for our own, which has no name."""
    return next((known for known in facts.agents_told if known.agent == agent), None)


def _with_description(facts: Facts, now: AgentDescription) -> tuple[AgentDescription, ...]:
    return (*(known for known in facts.agents_told if known.agent != now.agent), now)[-AGENTS_KEPT:]


def _shorten(text: str, most: int = TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
