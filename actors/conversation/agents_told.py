"""The things that agents of others have said of themselves: kept for `inspect` and lists, bounded. Pure."""

from dataclasses import replace

from actors.conversation.agents import settings_now
from actors.conversation.facts import Facts
from actors.vocabulary import events as ev
from actors.vocabulary.agent_now import MODEL, AgentNow, OptionNow
from actors.vocabulary.setting_changes import model_of

# All of it is in each checkpoint. What is longer or more is in the events.
KEPT = 4  # agents of one conversation
OPTIONS = 24  # the agents that were measured have at most five
CAN = 24
TEXT = 120  # characters of a value, a name, an ability
NOTE = 500
TITLE = 80  # what a line of `ls` has room for


def after_session(facts: Facts, event: ev.AgentSession) -> tuple[AgentNow, ...]:
    """The agents after a session has begun. Its program tells its options anew."""
    begun = AgentNow(
        agent=event.agent,
        session=event.session,
        how=event.how,
        program=_cut(event.program),
        can=tuple(map(_cut, event.can[:CAN])),
        note=_cut(event.note, NOTE),
    )
    return _with(facts, begun)


def after_options(facts: Facts, event: ev.AgentOptions) -> tuple[AgentNow, ...]:
    options = tuple(
        OptionNow(_cut(one.id), _cut(one.name), _cut(one.category), _cut(one.value))
        for one in event.options[:OPTIONS]
    )
    known = _known(facts, event.agent) or AgentNow(event.agent)
    return _with(facts, replace(known, options=options, wanted=settings_now(facts).agent_model))


def title_of(event: ev.AgentTitle) -> str:
    return _cut(" ".join(event.title.split()), TITLE)


def agent_now(facts: Facts) -> AgentNow | None:
    """Return what the conversation's agent has said; None: it has said nothing yet, or it is our own."""
    return _known(facts, facts.settings.agent) if facts.settings.agent else None


def model_now(facts: Facts) -> str:
    """Return the model: the one that the agent says it has, as long as nobody has named another since."""
    named, told = model_of(facts.settings), agent_now(facts)
    if told is None or told.wanted != facts.settings.agent_model:
        return named
    return told.value(MODEL) or named


def about(facts: Facts) -> str:
    """Return what it is about: the agent's title, or how it began."""
    return facts.title or facts.preview


def _known(facts: Facts, agent: str) -> AgentNow | None:
    return next((one for one in facts.agents_told if one.agent == agent), None)


def _with(facts: Facts, now: AgentNow) -> tuple[AgentNow, ...]:
    return (*(one for one in facts.agents_told if one.agent != now.agent), now)[-KEPT:]


def _cut(text: str, most: int = TEXT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
