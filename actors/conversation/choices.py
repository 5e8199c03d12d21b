"""The possible answers to a question, in the order in which a person is offered them. Pure.

A yes for the conversation is ours: the conversation keeps it, and the agent gets a yes for this once. The `always`
of a third-party agent makes a rule of its own, and is a choice of its own, after ours.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.settings import Decision

OUTSIDE = "approved_outside"

Kind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]


class ApprovalChoice(Struct, frozen=True):
    """A possible answer. `option`: the id of the agent's option that it stands for; empty: it is ours."""

    id: str
    name: str
    kind: Kind
    decision: Decision
    option: str = ""
    outside: bool = False


ONCE: frozenset[Kind] = frozenset({"allow_once"})
RULES: frozenset[Kind] = frozenset({"allow_always"})
NOES: frozenset[Kind] = frozenset({"reject_once", "reject_always"})
YES = ApprovalChoice("approved", "Yes", "allow_once", Decision.APPROVED)
YES_INSIDE = ApprovalChoice("approved", "Yes, in the sandbox", "allow_once", Decision.APPROVED)
YES_OUTSIDE = ApprovalChoice(OUTSIDE, "Yes, outside the sandbox", "allow_once", Decision.APPROVED, outside=True)
ALWAYS = "approved_for_session"
NO = ApprovalChoice("denied", "No", "reject_once", Decision.DENIED)
ABORT = ApprovalChoice("abort", "No, and stop", "reject_once", Decision.ABORT)


def choices(request: ev.ApprovalRequested) -> tuple[ApprovalChoice, ...]:
    if not request.options:
        return (*_own_yeses(request), NO, ABORT)
    once, rules, noes = (tuple(_choices_of(request.options, kinds)) for kinds in (ONCE, RULES, NOES))
    return (*once, *_own_always(request, {option.id for option in request.options}, once=bool(once)), *rules, *noes)


def can_be_kept(request: ev.ApprovalRequested) -> bool:
    """Tell whether a yes can hold for the conversation."""
    return request.standing is not None or request.grant_root is not None


def _own_yeses(request: ev.ApprovalRequested) -> Iterator[ApprovalChoice]:
    yield YES_INSIDE if request.may_leave else YES
    yield from _own_always(request, set())
    if request.may_leave:
        yield YES_OUTSIDE


def _own_always(request: ev.ApprovalRequested, taken: set[str], *, once: bool = True) -> Iterator[ApprovalChoice]:
    """Our own `always`, under an id that no option of the agent has."""
    if can_be_kept(request) and once:
        name = ALWAYS
        while name in taken:
            name = f"{name}_here"
        yield ApprovalChoice(name, "Yes, always in this conversation", "allow_always", Decision.APPROVED_FOR_SESSION)


def _choices_of(options: tuple[ev.ApprovalOption, ...], kinds: frozenset[Kind]) -> Iterator[ApprovalChoice]:
    for option in options:
        if option.kind in kinds:
            decision = Decision.DENIED if option.kind in NOES else Decision.APPROVED
            yield ApprovalChoice(
                option.id, option.rule or option.name or option.id, option.kind, decision, option=option.id
            )
