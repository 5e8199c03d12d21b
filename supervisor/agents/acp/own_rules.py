"""The rules that a third-party agent makes of its own `always` options: where each holds, and until when. Pure.

They outlive the conversation, or reach beyond the question. So no rule is made unless a person chooses it.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from supervisor.work.reach.known_agents import KNOWN_AGENTS

# The words in an option's name by which the adapters say that its rule lasts as long as their own session.
SESSION = re.compile(r"\b(this|the) (session|conversation)\b|\ball edits\b", re.IGNORECASE)


class RuleReach(Struct, frozen=True):
    """The reach and the end of a rule. `options`: words in the ids of the options that make it; empty: any."""

    where: str
    until: str
    options: tuple[str, ...] = ()


OF_A_SESSION = RuleReach("in its own session of this conversation", "until that session ends")
UNKNOWN = RuleReach("where and until when is its own to say", "")
# Taken from the agents' source code. Entries with `options` come first, then names that say "session", then the rest.
REACHES: Mapping[str, tuple[RuleReach, ...]] = {
    "claude": (
        RuleReach("in its own session of this conversation", "until its mode is set otherwise", ("exit-plan",)),
        RuleReach("for the whole project", "until you remove it from .claude/settings.local.json"),
    ),
    "codex": (
        RuleReach("for every project", "until you remove it from ~/.codex/rules/default.rules", ("execpolicy",)),
        RuleReach("for every project", "until you remove it from ~/.codex", ("network", "allow_always")),
        OF_A_SESSION,
    ),
    "gemini": (
        RuleReach("for every project", "until you remove it from ~/.gemini/policies/auto-saved.toml", ("save",)),
        OF_A_SESSION,
    ),
    "opencode": (RuleReach("for the whole project", "until its program ends"),),
}


def own_rule(agent: str, kind: str, option: str, name: str) -> str:
    """Describe the rule in a line. `agent`: its name in the config; `kind`: its name among known agents, or empty."""
    rule = _lasting(kind, option, name)
    until = f", {rule.until}" if rule.until else ""
    title = KNOWN_AGENTS[kind].title if kind in KNOWN_AGENTS else agent
    return f"{title}'s own rule: “{name}”, {rule.where}{until}"


def _lasting(kind: str, option: str, name: str) -> RuleReach:
    known = REACHES.get(kind, ())
    special = next((lasting for lasting in known if any(word in option for word in lasting.options)), None)
    if special is not None:
        return special
    if SESSION.search(name):
        return OF_A_SESSION
    return next((lasting for lasting in known if not lasting.options), UNKNOWN)
