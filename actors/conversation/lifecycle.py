"""The life cycle of a conversation: begin, rename, archive, fail, come back, fall idle, leave."""

from msgspec.structs import replace

from actors.conversation import sending, storing_tails
from actors.conversation.approving import deny
from actors.conversation.closing import settle_claims
from actors.conversation.commits import settle_stranded
from actors.conversation.draft import Draft
from actors.conversation.jobs import give_up_lost, refuse_while_running
from actors.conversation.queueing import withdraw_awaited_input
from actors.conversation.reading import end_subscription
from actors.conversation.restore import adopt_readers
from actors.conversation.starting import start_next
from actors.conversation.state import Retiring, Stage, StopDecision
from actors.conversation.turns import set_deadline, stop_turn
from actors.conversation.unanswerable import deny_if_alone, inherit
from actors.messages.conversation import Archive, Begin, Park, Quiesce, Rename, Restart, Retire, Revived, TimerFired
from actors.messages.effects import Leave, OfferToPark, SetTimer, Stay
from actors.messages.orders import SuspendAgent
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done, StartedConversation
from actors.vocabulary.errors import TurnFailed, UnknownConversation, WrongState
from actors.vocabulary.ids import ApprovalId, InputId
from actors.vocabulary.setting_changes import model_of
from actors.vocabulary.settings import AbortReason

LEAST_LOOK_S = 0.1  # between two looks at a conversation that is read or runs, even if the idle time is zero


def begin(draft: Draft, command: Begin) -> None:
    facts = draft.facts
    if facts.seq:
        draft.reply_now(WrongState(f"conversation {facts.conversation} exists"))
        return
    draft.emit(
        ev.SessionConfigured(
            session_id=facts.conversation,
            model=model_of(command.settings) or command.settings.agent,
            settings=command.settings,
            name=command.name,
        )
    )
    draft.reply_when_stored(StartedConversation(facts.conversation, command.settings))


def refuse_before_begin(draft: Draft) -> bool:
    """Refuse a command before the first event, which the disk may have refused. Returns whether it was refused."""
    unborn = draft.facts.seq == 0
    if unborn:
        draft.reply_now(UnknownConversation(f"no conversation {draft.facts.conversation}"))
    return unborn


def rename(draft: Draft, command: Rename) -> None:
    if refuse_before_begin(draft):
        return
    if command.name != draft.facts.name:
        draft.emit(ev.ConversationRenamed(name=command.name, by=command.by))
    draft.reply_when_stored(Done())


def archive(draft: Draft, command: Archive) -> None:
    if refuse_before_begin(draft):
        return
    if command.archived and draft.facts.turn is not None:
        draft.reply_now(WrongState("a turn is running; interrupt it first"))
        return
    if command.archived and refuse_while_running(draft):
        return
    if command.archived != draft.facts.archived:
        if command.archived:
            withdraw_awaited_input(draft, "the conversation was archived")
        draft.emit(ev.ConversationArchived(archived=command.archived))
    draft.reply_when_stored(Done())


def restart(draft: Draft, command: Restart) -> None:
    """Restart a conversation that was given up; after a turn that ended in an error, without its pictures.

    A provider that refuses a picture refuses every later request with it. Nothing else in a history can do that.
    """
    facts = draft.facts
    if facts.turn is not None:
        draft.reply_now(WrongState("a turn is open; interrupt it first"))
        return
    if facts.failed is None and not facts.stumbled:
        draft.reply_now(WrongState("nothing to restart: the last turn did not end in an error"))
        return
    draft.emit(ev.ConversationRestarted(by=command.by, without_pictures=facts.failed is None))
    start_next(draft)
    draft.reply_when_stored(Done())


def revive(draft: Draft, news: Revived) -> None:
    """Settle after a restore what was left open, and keep a turn that waits for an answer."""
    if news.survivors is not None:
        draft.state.subscribers = adopt_readers(draft.state, news.survivors)
        inherit(draft, news.survivors)
    give_up_lost(draft)
    if news.gave_up is not None:  # said first, so that the end of its turn starts no other
        draft.emit(ev.ConversationFailed(message=news.message, traceback=news.gave_up))
        stop_turn(draft, StopDecision(news.reason, message=news.message))
    settle_stranded(draft, news.reason, news.message)
    draft.state.tails = ()  # a turn that is resumed says it again
    for asked in draft.facts.open_questions:
        set_deadline(draft, asked)
    for caller in news.survivors.callers if news.survivors else ():
        draft.answer_now(caller, TurnFailed(f"the conversation's actor failed: {news.message}"))
    start_next(draft)


def retire(draft: Draft, _: Retire) -> None:
    """Prepare for deletion. Refused while a turn is open; readers and callers learn of it."""
    if draft.facts.turn is not None:
        draft.reply_now(WrongState("a turn is running; interrupt it first"))
        draft.at_once(Stay())
        return
    if refuse_while_running(draft):
        draft.at_once(Stay())
        return
    for reader in draft.state.subscribers:
        end_subscription(draft, reader, "the conversation is being deleted")
    gone = UnknownConversation(f"conversation {draft.facts.conversation} is being deleted")
    settle_claims(draft, draft.state.claims, gone)
    draft.state.claims = ()
    draft.state.retiring = Retiring(draft.caller)


def leave_if_retired(draft: Draft) -> None:
    """Leave when everything that was decided before is on disk."""
    if draft.state.retiring is not None and is_quiet(draft):
        draft.after_events(Leave())  # and after the answers that waited for the disk, too


def quiesce(draft: Draft, news: Quiesce) -> None:
    draft.state.quiescing = True
    turn = draft.facts.turn
    if news.interrupt and turn is not None and not turn.only_waits:
        stop_turn(draft, StopDecision(AbortReason.INTERRUPTED, ("the daemon",), "the daemon was stopped"))


def suspend_waiting_turn(draft: Draft) -> None:
    """End the agent of a turn that only waits for answers; an answer will start it again.

    Background commands end with their agent, so they keep it, unless the daemon is stopping.
    """
    run, turn = draft.state.run, draft.facts.turn
    if draft.facts.jobs and not draft.state.quiescing:
        return
    if run and turn and turn.only_waits and run.stage is Stage.RUNNING and not run.suspending:
        draft.state.run = replace(run, suspending=True)
        draft.at_once(SuspendAgent(turn.id))


# --- idleness ----------------------------------------------------------------------------------------


def is_quiet(draft: Draft) -> bool:
    """True if nothing would be lost or noticed if the actor ended now. A question with a deadline keeps it alive."""
    state, turn = draft.state, draft.facts.turn
    return (
        state.run is None
        and not state.subscribers
        and not state.versions
        and not state.held
        and not state.claims
        and not state.passes
        and not state.facts.jobs
        and (turn is None or (turn.only_waits and all(asked.deadline_s is None for asked in turn.approvals)))
    )


def watch_idleness(draft: Draft) -> None:
    """Keep one timer running, which checks whether the conversation has been quiet for long enough."""
    if not draft.state.idle_timer:
        draft.state.idle_timer = True
        draft.at_once(SetTimer("idle", max(draft.state.limits.idle_park_s, LEAST_LOOK_S)))


def take_timer(draft: Draft, news: TimerFired) -> None:
    kind, _, rest = news.name.partition(":")
    match kind:
        case "idle":
            _look_at_idleness(draft)
        case "approval":
            _deny_overdue(draft, ApprovalId(rest))
        case "unanswerable":
            deny_if_alone(draft, ApprovalId(rest))
        case sending.CALLER_GONE:
            sending.stop_abandoned_turn(draft, InputId(rest))
        case storing_tails.TIMER:
            storing_tails.keep_tails(draft)
        case "storage":
            settle_stranded(draft, AbortReason.FAILED, draft.state.storage_error or "")
        case _:
            raise ValueError(f"unknown timer {news.name}")


def _look_at_idleness(draft: Draft) -> None:
    draft.state.idle_timer = False
    state = draft.state
    waited = draft.now - state.last_command
    if waited < state.limits.idle_park_s:
        return
    if is_quiet(draft):
        draft.at_once(OfferToPark())
        return
    if not state.subscribers:
        suspend_waiting_turn(draft)


def _deny_overdue(draft: Draft, approval: ApprovalId) -> None:
    asked = draft.facts.approval(approval)
    if asked is not None:
        deny(draft, approval, "deadline", "nobody answered in time", asked.default)


def park(draft: Draft, _: Park) -> None:
    draft.at_once(Leave() if is_quiet(draft) else Stay())
