"""Agents that are programs of others, as a conversation knows them: their sessions, and turns that they begin."""

from dataclasses import replace

from actors.conversation.facts import Facts
from actors.messages.orders import KnownSession
from actors.vocabulary import events as ev
from actors.vocabulary.settings import Settings

DIGITS = 18  # of a seq; an import says what it likes
KEPT = 8  # agents of one conversation; all of them are in each checkpoint


def copied_to(event: ev.SessionConfigured) -> int:
    """Return up to which event a conversation is a copy. Sessions that began in it have an owner."""
    last = (event.forked_from or "").rpartition("@")[2]
    return int(last) if last.isascii() and last.isdigit() and len(last) <= DIGITS else 0


def after_beginning(facts: Facts, event: ev.AgentSession) -> tuple[KnownSession, ...]:
    """The sessions after one has begun. It knows what it knew; the rest it is told with the prompt."""
    others = tuple(one for one in facts.agents if one.agent != event.agent)
    same = (one for one in facts.agents if (one.agent, one.session) == (event.agent, event.session))
    return (*others, next(same, KnownSession(event.agent, event.session, 0)))[-KEPT:]


def after_count(facts: Facts, event: ev.TokenCount) -> tuple[KnownSession, ...]:
    """The sessions after one has said what it has cost so far: its next process may count on from there."""
    total = event.agent_sum_usd
    if total is None:
        return facts.agents
    began = event.agent_sum_from_usd or 0.0
    return tuple(
        replace(one, sum_usd=total, from_usd=began) if one.agent == event.provider else one for one in facts.agents
    )


def knows(facts: Facts, event: ev.DurableEvent) -> bool:
    """Tell whether the agent of the turn knows all up to this. Of a turn that was cut it may forget the end."""
    match event:
        case ev.AgentMessage(cut=None) | ev.ToolUseEnd(cut=None):
            return True
        case ev.TaskComplete():
            return not facts.stumbled
        case _:
            return False


def after_words(facts: Facts) -> tuple[KnownSession, ...]:
    """The sessions after such an event."""
    agent = settings_now(facts).agent
    if not agent:
        return facts.agents
    return tuple(replace(one, seen=facts.seq) if one.agent == agent else one for one in facts.agents)


def known_to(facts: Facts, settings: Settings) -> KnownSession | None:
    """Return the session that the agent of these settings has had in this conversation."""
    return next((one for one in facts.agents if one.agent == settings.agent), None)


def settings_now(facts: Facts) -> Settings:
    return facts.turn.settings if facts.turn and facts.turn.settings else facts.settings
