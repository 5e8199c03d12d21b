"""The rules that a third-party agent makes of an `always` of its own: whose, for what, where, until when. Pure.

They outlive the conversation, or reach beyond what was asked. So none is made unless a person names it.
"""

import re
from collections.abc import Mapping

from msgspec import Struct

from supervisor.work.reach.known_agents import KNOWN

# The adapters say in the name of an option that it lasts as long as their own session.
SESSION = re.compile(r"\b(this|the) (session|conversation)\b|\ball edits\b", re.IGNORECASE)


class Lasting(Struct, frozen=True):
    """The reach of a rule, and its end. `options`: words in the ids of the options that make one; empty: all."""

    where: str
    until: str
    options: tuple[str, ...] = ()


OF_A_SESSION = Lasting("in its own session of this conversation", "until that session ends")
UNKNOWN = Lasting("where and until when is its own to say", "")
# Read in the programs; the first that fits counts. What says that it is for its session is.
LASTING: Mapping[str, tuple[Lasting, ...]] = {
    "claude": (
        Lasting("in its own session of this conversation", "until its mode is set otherwise", ("exit-plan",)),
        Lasting("for the whole project", "until you remove it from .claude/settings.local.json"),
    ),
    "codex": (
        Lasting("for every project", "until you remove it from ~/.codex/rules/default.rules", ("execpolicy",)),
        Lasting("for every project", "until you remove it from ~/.codex", ("network", "allow_always")),
        OF_A_SESSION,
    ),
    "gemini": (
        Lasting("for every project", "until you remove it from ~/.gemini/policies/auto-saved.toml", ("save",)),
        OF_A_SESSION,
    ),
    "opencode": (Lasting("for the whole project", "until its program ends"),),
}


def own_rule(agent: str, kind: str, option: str, name: str) -> str:
    """Return the line. `agent`: its name in the config; `kind`: which of the known agents it is, or nothing."""
    lasting = _lasting(kind, option, name)
    until = f", {lasting.until}" if lasting.until else ""
    title = KNOWN[kind].title if kind in KNOWN else agent
    return f"{title}'s own rule: “{name}”, {lasting.where}{until}"


def _lasting(kind: str, option: str, name: str) -> Lasting:
    known = LASTING.get(kind, ())
    special = next((one for one in known if any(word in option for word in one.options)), None)
    if special is not None:
        return special
    if SESSION.search(name):
        return OF_A_SESSION
    return next((one for one in known if not one.options), UNKNOWN)
