"""Third-party agents as a conversation knows them: their sessions, and the end of each one's knowledge."""

from dataclasses import replace

from actors.conversation.facts import Facts
from actors.messages.orders import KnownSession
from actors.vocabulary import events as ev
from actors.vocabulary.settings import Settings

DIGITS = 18  # of a seq; an import may say anything
AGENTS_KEPT = 8  # agents of one conversation; all of them are in each checkpoint


def last_copied_seq(event: ev.SessionConfigured) -> int:
    """Return the last event that is a copy of another conversation's. Sessions up to there belong to that one."""
    last = (event.forked_from or "").rpartition("@")[2]
    return int(last) if last.isascii() and last.isdigit() and len(last) <= DIGITS else 0


def after_beginning(facts: Facts, event: ev.AgentSession) -> tuple[KnownSession, ...]:
    """The sessions after an agent has begun its own. It knows what it knew before; the prompt tells it the rest."""
    others = tuple(known for known in facts.agents if known.agent != event.agent)
    same = (known for known in facts.agents if (known.agent, known.session) == (event.agent, event.session))
    return (*others, next(same, KnownSession(event.agent, event.session, 0)))[-AGENTS_KEPT:]


def after_count(facts: Facts, event: ev.TokenCount) -> tuple[KnownSession, ...]:
    """The sessions after an agent has reported its cost so far: its next process may count on from there."""
    total = event.agent_sum_usd
    if total is None:
        return facts.agents
    began = event.agent_sum_from_usd or 0.0
    return tuple(
        replace(known, sum_usd=total, from_usd=began) if known.agent == event.provider else known
        for known in facts.agents
    )


def knows(facts: Facts, event: ev.DurableEvent) -> bool:
    """Tell whether the turn's agent knows everything up to this event. It may forget the end of a cut turn."""
    match event:
        case ev.AgentMessage(cut=None):
            return True
        case ev.WorkEnded(cut=None):
            return event.agent_call is not None
        case ev.TaskComplete():
            return not facts.stumbled
        case _:
            return False


def after_words(facts: Facts) -> tuple[KnownSession, ...]:
    """The sessions after an event that the turn's agent knows."""
    agent = settings_now(facts).agent
    if not agent:
        return facts.agents
    return tuple(replace(known, seen=facts.seq) if known.agent == agent else known for known in facts.agents)


def known_to(facts: Facts, settings: Settings) -> KnownSession | None:
    """Return the session that the agent of these settings has had in this conversation."""
    return next((known for known in facts.agents if known.agent == settings.agent), None)


def settings_now(facts: Facts) -> Settings:
    return facts.turn.settings if facts.turn and facts.turn.settings else facts.settings
