"""Questions that a client can't answer: left to other clients, and denied when no client is left that can.

A client can answer if it reads, does not only watch, and has not passed the question on. A question that nobody has
passed on is not handled here: it waits for ever.
"""

from msgspec.structs import replace

from actors.conversation.approving import deny
from actors.conversation.commits import RETRY_STORAGE_S
from actors.conversation.draft import Draft
from actors.conversation.state import Passes
from actors.messages.conversation import PassOn
from actors.messages.effects import SetTimer, Survivors
from actors.vocabulary.ids import ApprovalId


def pass_on(draft: Draft, command: PassOn) -> None:
    """Deny if no other client can answer. If this one could not even be asked, wait a while: others may come."""
    if draft.facts.approval(command.approval) is None:
        return
    passes = draft.state.passes.get(command.approval, Passes())
    passed = replace(passes, by=passes.by | {command.connection}) if command.asked else passes
    draft.state.passes = {**draft.state.passes, command.approval: passed}
    if command.asked and not draft.state.quiescing and not _somebody_can(draft, passed):
        deny(draft, command.approval, command.by, command.reason)


def watch_passes(draft: Draft) -> None:
    """Note when the last reader that could answer left. One timer at a time for each question."""
    passes = draft.state.passes
    if passes:
        kept = ((key, passed) for key, passed in passes.items() if _is_open(draft, key))
        draft.state.passes = {key: _watch_question(draft, key, passed) for key, passed in kept}


def _is_open(draft: Draft, approval: ApprovalId) -> bool:
    """True if the question still waits: the disk may have refused the denial."""
    durable = draft.state.durable
    return any(facts is not None and facts.approval(approval) is not None for facts in (draft.facts, durable))


def _watch_question(draft: Draft, approval: ApprovalId, passes: Passes) -> Passes:
    if draft.facts.approval(approval) is None or _somebody_can(draft, passes):
        return replace(passes, alone_since=None)
    since = draft.now if passes.alone_since is None else passes.alone_since
    if not passes.timer:
        soonest_s = 0.0 if draft.state.storage_error is None else RETRY_STORAGE_S
        left_s = max(soonest_s, since + draft.state.limits.unanswerable_s - draft.now)
        draft.at_once(SetTimer(f"unanswerable:{approval}", left_s))
    return replace(passes, alone_since=since, timer=True)


def deny_if_alone(draft: Draft, approval: ApprovalId) -> None:
    """Deny when the timer has fired. If that was too early, the next look at the readers sets another."""
    passes = draft.state.passes.get(approval)
    if passes is None or draft.state.quiescing:
        return
    draft.state.passes = {**draft.state.passes, approval: replace(passes, timer=False)}
    patience_s = draft.state.limits.unanswerable_s
    if passes.alone_since is not None and draft.now - passes.alone_since >= patience_s:
        reason = f"no attached client was able to answer it within {patience_s:g} s"
        deny(draft, approval, "the daemon", reason)


def inherit(draft: Draft, survivors: Survivors) -> None:
    draft.state.passes = {approval: Passes(by) for approval, by in survivors.passes}


def _somebody_can(draft: Draft, passes: Passes) -> bool:
    readers = draft.state.subscribers.values()
    return any(not reader.read_only and reader.connection not in passes.by for reader in readers)
