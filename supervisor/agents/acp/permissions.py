"""A third-party agent's requests for permission: each becomes an approval, asked once for a tool call. Loop thread.

An agent may ask twice for a call, about different things: its directory, then its command. Those are two questions.
The sandbox bounds the agent; the questions are for people who want to know before. A rule that the agent makes of its
own `always` options outlives the conversation, or reaches beyond the question, so none is made unless a person
chooses it.
"""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from secrets import token_hex
from typing import Any, Literal

from msgspec import Struct

from actors.messages.orders import AgentNews
from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, approval_in
from actors.vocabulary.settings import ApprovalPolicy, Decision
from supervisor.agents.acp.confinement import is_confined, kind_of
from supervisor.agents.acp.json_readers import shapes, short, text
from supervisor.agents.acp.tool_use import ToolUse
from supervisor.agents.acp.updates import Updates
from supervisor.agents.acp.wire import Json
from supervisor.agents.tool_lines import line_of_action
from supervisor.agents.turn import ApprovalAnswer, Turn
from supervisor.config.agent_definitions import AgentDefinition
from supervisor.work.patch.plan import PatchPlan
from supervisor.work.reach.known_agents import KNOWN_AGENTS
from supervisor.work.reach.project_settings import settings_in
from supervisor.work.safety.rules import OBEYED_REASON

OPTIONS = 20  # most that a question may offer; agents offer three
OPTION_ID = 200  # characters; people could not tell longer ids apart
QUESTIONS = 1_000  # of a turn that are remembered, so that the same question gets the same answer
KINDS = ("allow_once", "allow_always", "reject_once", "reject_always")
# An answer without an option never chooses a rule of the agent's own. A yes for the conversation is a rule of ours.
OPTION_KIND_OF = {
    Decision.APPROVED: "allow_once",
    Decision.APPROVED_FOR_SESSION: "allow_once",
    Decision.DENIED: "reject_once",
    Decision.ABORT: "reject_once",
}
READING_SORTS = {"read", "search", "think"}
READS_UNASKED = {ApprovalPolicy.ON_REQUEST, ApprovalPolicy.ON_FAILURE}
CANCELLED: Json = {"outcome": {"outcome": "cancelled"}}
YES = ApprovalAnswer(Decision.APPROVED)
REFUSAL_NOTE = "[Refused: {}. The reason: {}]"


class PermissionQuestion(Struct, frozen=True):
    """A question of the turn, and the task that waits for its answer."""

    about: tuple[object, ...]
    answer: "asyncio.Task[ApprovalAnswer]"


class Deadline(Struct, frozen=True):
    """The time that a question waits, and its answer after that."""

    after_s: float | None = None
    default: Literal[Decision.DENIED, Decision.ABORT] = Decision.DENIED


class Permissions:
    """The questions of a turn."""

    def __init__(
        self,
        turn: Turn,
        definition: AgentDefinition,
        updates: Updates,
        deadline: Deadline = Deadline(),  # noqa: B008 - frozen
    ) -> None:
        self._turn = turn
        self._definition = definition
        self._agent = definition.name
        self._updates = updates
        self._deadline = deadline
        self.reasons: list[str] = []  # of refusals: the protocol's answers have no room for them
        self._asked: dict[CallId, list[PermissionQuestion]] = {}
        self._noticed: set[str] = set()

    async def ask(self, params: Json) -> Json:
        """Return the outcome: a person's answer, or the policy's. The same question is asked only once."""
        use = self._updates.permission(params.get("toolCall"))
        options = tuple(options_of(params.get("options"), self._agent, kind_of(self._definition)))
        if not any(option.kind.startswith("allow") for option in options):
            self._notice(f"{self._agent} asked for a permission and offered no yes, so nobody was asked")
            self._settle(use, approved=False)
            return CANCELLED
        answer = await self._answer(use, options)
        if answer is None:
            return CANCELLED
        result = outcome(answer, options)
        if answer.is_approved and result == CANCELLED:
            self._notice(f"{self._agent} offered no yes for this once, only rules of its own, so it was refused")
        self._settle(use, approved=answer.is_approved and result != CANCELLED)
        if answer.reason and not answer.is_approved:
            self.reasons.append(REFUSAL_NOTE.format(line_of_action(use.subject, use.agent_call), answer.reason))
        return result

    async def _answer(self, use: ToolUse, options: tuple[ev.ApprovalOption, ...]) -> ApprovalAnswer | None:
        """Return the answer; None if the turn was stopped meanwhile."""
        if (unasked := self._by_policy(use)) is not None:
            return unasked
        asking = self._earlier_question(use, options) or self._ask_person(use, options)
        await asyncio.wait({asking})
        return None if asking.cancelled() else asking.result()

    def _by_policy(self, use: ToolUse) -> ApprovalAnswer | None:
        """Return the policy's answer, if it has one: reading needs no question; with policy `never`, nothing does."""
        policy = self._turn.settings.approval_policy
        if policy is ApprovalPolicy.NEVER:
            self._notice(f"what {self._agent} asks for is allowed without a question: the approval policy is never")
            return YES
        looks = use.sort in READING_SORTS and not (use.command or use.changes)
        return YES if looks and policy in READS_UNASKED else None

    def _obeyed_by(self, use: ToolUse) -> tuple[str, ...]:
        """Return the programs that would obey a file which the call would change."""
        if use.sort in READING_SORTS and not use.changes:
            return ()
        cwd = self._turn.settings.cwd
        paths = (*(Path(path) for path in use.changes), *(place.path for place in use.places))
        below = (Path(os.path.relpath(cwd / path, cwd)) for path in paths)
        return tuple(dict.fromkeys(setting.who for path in below for _, setting in settings_in(path.parts)))

    def _earlier_question(
        self, use: ToolUse, options: tuple[ev.ApprovalOption, ...]
    ) -> "asyncio.Task[ApprovalAnswer] | None":
        """Return the same question, if this turn has asked it before: its answer still holds. Needs a call's id."""
        known = self._asked.get(use.call_id, ()) if use.call_id else ()
        return next((asking.answer for asking in known if asking.about == _subject(use, options)), None)

    def _ask_person(self, use: ToolUse, options: tuple[ev.ApprovalOption, ...]) -> "asyncio.Task[ApprovalAnswer]":
        settings = self._turn.settings
        confined = is_confined(settings, self._definition)
        request = ev.ApprovalRequested(
            call_id=use.call_id,
            item_id=use.item_id,
            subject=use.subject,
            agent_call=use.agent_call,
            agent=self._agent,
            obeyed_by=(obeyed := self._obeyed_by(use)),
            reason=OBEYED_REASON.format(" and ".join(obeyed)) if obeyed else None,
            options=options,
            outside_sandbox=None if confined else True,
            beyond=use.asked.further_details(use.words),
            fingerprint=use.fingerprint("confined" if confined else "free", str(settings.cwd)),
            approval_id=approval_in(self._turn.order.conversation, token_hex(6)),
            deadline_s=self._deadline.after_s,
            default=self._deadline.default,
        )
        self._say(self._updates.end_words())  # stored with the question, they outlive a daemon that is killed
        asking = asyncio.create_task(self._turn.ask(request), name=f"ask-{use.call_id}")
        self._asked.setdefault(use.call_id, []).append(PermissionQuestion(_subject(use, options), asking))
        self._forget_the_oldest()
        return asking

    async def ask_for_write(self, plan: PatchPlan, obeyed_by: tuple[str, ...], reason: str) -> bool:
        """Ask whether Greenroom may write a file that other programs obey. False also if the turn is stopped."""
        call = CallId(f"client-{token_hex(6)}")
        request = ev.ApprovalRequested(
            call_id=call,
            agent=self._agent,
            subject=ev.FilesSubject(changes=dict(plan.changes)),
            agent_call=ev.AgentCall(title=f"Write {next(iter(plan.changes), '')}", sort="edit"),
            reason=reason,
            outside_sandbox=True,
            obeyed_by=obeyed_by,
            approval_id=approval_in(self._turn.order.conversation, token_hex(6)),
            deadline_s=self._deadline.after_s,
            default=self._deadline.default,
        )
        self._say(self._updates.end_words())
        asking = asyncio.create_task(self._turn.ask(request, resumable=False), name=f"ask-{call}")
        self._asked[call] = [PermissionQuestion((), asking)]
        self._forget_the_oldest()
        await asyncio.wait({asking})
        return not asking.cancelled() and asking.result().is_approved

    def _forget_the_oldest(self) -> None:
        if sum(map(len, self._asked.values())) > QUESTIONS:
            oldest = next(iter(self._asked))
            kept = [asking for asking in self._asked[oldest][1:] if not asking.answer.done()]
            self._asked.pop(oldest)
            if kept:
                self._asked[oldest] = kept

    def _settle(self, use: ToolUse, *, approved: bool) -> None:
        news = self._updates.allow if approved else self._updates.refuse
        self._say(news(use.call_id))

    def _notice(self, message: str) -> None:
        """Emit a notice, once in a turn."""
        if message not in self._noticed:
            self._noticed.add(message)
            self._say((ev.BackgroundEvent(message=message),))

    def _say(self, news: Iterable[AgentNews]) -> None:
        if emitted := tuple(news):
            self._turn.emit(*emitted)

    @property
    def waits(self) -> bool:
        """True while a question waits for its answer."""
        return any(not asking.answer.done() for known in self._asked.values() for asking in known)

    def cancel(self) -> None:
        """Answer all open questions with `cancelled`: the turn is being stopped."""
        for known in self._asked.values():
            for asking in known:
                asking.answer.cancel()


def _subject(use: ToolUse, options: tuple[ev.ApprovalOption, ...]) -> tuple[object, ...]:
    return use.sort, use.title, use.command, use.asked, use.words, options


def options_of(offered: Any, agent: str, known: str = "") -> Iterator[ev.ApprovalOption]:
    """Yield the options that can be chosen: each with an id of its own, and of a kind that the protocol knows.

    `known`: the agent's name among the known agents.
    """
    taken = set[str]()
    for entry in shapes(offered, OPTIONS):
        option, kind = text(entry.get("optionId")), entry.get("kind")
        if option and len(option) <= OPTION_ID and option not in taken and kind in KINDS:
            taken.add(option)
            name = short(entry.get("name")) or option
            rule = own_rule(agent, known, option, name) if kind.endswith("_always") else ""
            yield ev.ApprovalOption(id=option, name=name, kind=kind, rule=rule)


def outcome(answer: ApprovalAnswer, options: Iterable[ev.ApprovalOption]) -> Json:
    """Return the option that the answer names, or the option that stands for it; else `cancelled`."""
    offered = tuple(options)
    named = (option.id for option in offered if option.id == answer.option)
    meant = (option.id for option in offered if option.kind == OPTION_KIND_OF.get(answer.decision))
    chosen = next(named, None) or next(meant, None)
    return CANCELLED if chosen is None else {"outcome": {"outcome": "selected", "optionId": chosen}}


# --- the agent's own rules ------------------------------------------------------------------------------------------

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
