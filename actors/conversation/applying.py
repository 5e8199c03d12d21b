"""The one way in which the facts of a conversation change: by an event.

`apply` is used on every new event and on every event read back from the journal, so a restored
state equals the one before.
"""

from actors.conversation import agent_descriptions, agents
from actors.conversation.facts import KEYS_KEPT_S, Facts, KeptYes, Key, OpenItem, OpenJob, TurnFacts
from actors.conversation.waiting_line import (
    add_to_line,
    defer_interrupting,
    defer_steering,
    move_in_line,
    remove_from_line,
)
from actors.messages.orders import PendingInput
from actors.vocabulary import events as ev
from actors.vocabulary.conditions import LastEnding
from actors.vocabulary.fast_replace import replace
from actors.vocabulary.ids import InputId, ItemId, TurnId
from actors.vocabulary.items import text_of
from actors.vocabulary.setting_changes import AGENT_FIELDS, fields_of
from actors.vocabulary.settings import AbortReason, Decision, Settings
from actors.vocabulary.spent_amounts import MOST, NOTHING, Spent, spent_on

ANSWERS_KEPT = 64  # enough to name the winner to everyone who was asked
KEYS_KEPT = 1_000  # all of them are in each checkpoint; nobody repeats a request after so many others
YES_KEPT = 256  # the same; a forgotten yes is asked for again
PREVIEW_LENGTH = 80  # what a line of `ls` has room for


def apply(facts: Facts, event: ev.DurableEvent, ts: float, turn: TurnId | None) -> Facts:
    """The facts after one more event."""
    earlier = facts.earlier if ts == facts.updated else facts.updated
    facts = replace(facts, seq=facts.seq + 1, updated=ts, earlier=earlier)
    if agents.knows(facts, event):
        facts = replace(facts, agents=agents.after_words(facts))
    match event:
        case ev.SessionConfigured():
            copied = agents.last_copied_seq(event)
            settings = event.settings or facts.settings
            return replace(facts, created=ts, name=event.name, settings=settings, copied=copied)
        case ev.SettingsChanged():
            window = _window_after(facts, event.settings)
            turned = _turn_with_new_settings(facts, event)
            return replace(facts, settings=event.settings, turn=turned, context_window=window)
        case ev.ConversationRenamed():
            return replace(facts, name=event.name, self_named=False, nameless=not event.name and bool(event.by))
        case ev.ConversationArchived():
            return replace(facts, archived=event.archived)
        case ev.ConversationFailed():
            return replace(facts, failed=event.message)
        case ev.ConversationRestarted():
            return replace(facts, failed=None, stumbled=False, ended=None)
        case ev.UserMessage():
            return _apply_user_message(facts, event, ts, turn)
        case (
            ev.InputQueued()
            | ev.InputEdited()
            | ev.InputMoved()
            | ev.InputWithdrawn()
            | ev.QueuePaused()
            | ev.QueueResumed()
        ):
            return _apply_to_queue(facts, event, ts)
        case ev.TaskStarted() if turn is not None:
            begun = TurnFacts(turn, event.settings, working_since=ts)
            return _begin_turn(replace(facts, turn=begun, stumbled=False, ended=None), event, ts, turn)
        case ev.ErrorEvent():
            return replace(facts, stumbled=True)
        case ev.TaskComplete() | ev.TurnAborted():
            lost = isinstance(event, ev.TurnAborted) and event.reason is AbortReason.LOST
            worked = _work_until(facts, facts.earlier if lost else ts, turns=1)
            spent = facts.spent.plus(worked).plus(spent_on(event) or NOTHING)
            return replace(facts, turn=None, ended=_ending(facts, event), keys=_keys_with_end(facts), spent=spent)
        case ev.AgentSession() if facts.seq > facts.copied:
            told = agent_descriptions.after_session(facts, event)
            return replace(facts, agents=agents.after_beginning(facts, event), agents_told=told)
        case ev.AgentOptions():
            return replace(facts, agents_told=agent_descriptions.after_options(facts, event))
        case ev.AgentTitle():
            return replace(facts, title=agent_descriptions.title_of(event))
        case ev.JobStarted():
            return replace(facts, jobs=(*facts.jobs, OpenJob(event.job, None if event.keeps else turn)))
        case ev.JobEnded():
            return replace(facts, jobs=tuple(job for job in facts.jobs if job.id != event.job))
        case ev.TokenCount():
            return _take_context_size(_count(facts, event, ts), event)
        case ev.Compacted():
            return replace(
                facts,
                compacted=facts.seq,
                unsummed=False,
                context_tokens=_clamp(event.tokens_after),
                context_window=_clamp(event.context_window),
            )
        case ev.AgentMessage() if not facts.unsummed:
            return replace(facts, unsummed=True)
        case _ if facts.turn is not None:
            counted = _count(facts, event, ts)
            return _apply_to_turn(counted, counted.turn or facts.turn, event)
        case _:
            return facts


def _count(facts: Facts, event: ev.DurableEvent, ts: float) -> Facts:
    """Add the amounts that the event tells of. The clock of the turn's work stops at its first open question."""
    if isinstance(event, ev.ApprovalRequested):
        return _spend(facts, _work_until(facts, ts))
    spent = spent_on(event)
    return facts if spent is None else _spend(facts, spent)


def _spend(facts: Facts, spent: Spent) -> Facts:
    turn = facts.turn and replace(facts.turn, spent=facts.turn.spent.plus(spent))
    both = facts.spent.plus(spent)
    return replace(facts, turn=turn, spent=both, tokens=both.tokens)


def _work_until(facts: Facts, ts: float, *, turns: int = 0) -> Spent:
    """The time that the turn has worked until then. A clock that was set back takes nothing away."""
    if facts.turn is None:
        return NOTHING
    since = facts.turn.working_since
    return replace(NOTHING, turns=turns, seconds=0.0 if since is None else max(0.0, ts - since))


def _window_after(facts: Facts, settings: Settings) -> int | None:
    """The context window under new settings: that of another model is not known before it has answered."""
    now = facts.settings
    same = (settings.model, settings.provider) == (now.model, now.provider)
    return facts.context_window if same else None


def _begin_turn(facts: Facts, event: ev.TaskStarted, ts: float, turn: TurnId) -> Facts:
    """Take a request that is no message into the turn that begins. A message is taken by its own event."""
    if event.input_id is None or facts.turn is None:
        return facts
    return replace(
        facts,
        pending=remove_from_line(facts.pending, event.input_id),
        keys=_remember(facts, event.key, event.input_id, ts, turn),
        turn=replace(facts.turn, inputs=(event.input_id,)),
    )


def _take_context_size(facts: Facts, event: ev.TokenCount) -> Facts:
    return replace(
        facts,
        context_tokens=facts.context_tokens if event.context_tokens is None else _clamp(event.context_tokens),
        context_window=_clamp(event.context_window) or facts.context_window,
        agents=agents.after_count(facts, event),
    )


def _clamp(tokens: int | None) -> int | None:
    """Limit a count to the range that every reader can hold."""
    return None if tokens is None else max(0, min(tokens, MOST))


def _turn_with_new_settings(facts: Facts, event: ev.SettingsChanged) -> TurnFacts | None:
    """Change the open turn's own settings; a turn without any has those of the conversation.

    The turn keeps its agent.
    """
    turn, switched = facts.turn, facts.settings.agent != event.settings.agent
    if turn is None or (turn.settings is None and not switched):
        return turn
    fields = fields_of(event.changed)
    kept = {"agent", *AGENT_FIELDS} if switched else {"agent"}
    return replace(turn, settings=(turn.settings or facts.settings).with_fields_of(event.settings, fields - kept))


def _apply_to_queue(
    facts: Facts,
    event: ev.InputQueued | ev.InputEdited | ev.InputMoved | ev.InputWithdrawn | ev.QueuePaused | ev.QueueResumed,
    ts: float,
) -> Facts:
    match event:
        case ev.InputQueued():
            waiting = PendingInput(
                event.input_id,
                event.items,
                event.policy,
                event.settings,
                event.key,
                event.by,
                event.task,
                event.own,
                since=ts,
            )
            keys = _remember(facts, event.key, event.input_id, ts, None)
            return replace(facts, pending=add_to_line(facts.pending, waiting), keys=keys)
        case ev.InputEdited():
            edited = (
                replace(waiting, items=event.items) if waiting.id == event.input_id else waiting
                for waiting in facts.pending
            )
            return replace(facts, pending=tuple(edited))
        case ev.InputMoved():
            return replace(facts, pending=move_in_line(facts.pending, event.input_id, event.before))
        case ev.InputWithdrawn():
            keys = tuple(known for known in facts.keys if known.input != event.input_id)
            return replace(facts, pending=remove_from_line(facts.pending, event.input_id), keys=keys)
        case ev.QueuePaused():
            pending = defer_interrupting(facts.pending) if facts.turn else defer_steering(facts.pending)
            return replace(facts, paused=True, pending=pending)
        case ev.QueueResumed():
            return replace(facts, paused=False)


def _apply_user_message(facts: Facts, event: ev.UserMessage, ts: float, turn: TurnId | None) -> Facts:
    if event.input_id is None:
        return facts
    return replace(
        facts,
        name=event.names or facts.name,
        self_named=facts.self_named or event.names is not None,
        pending=remove_from_line(facts.pending, event.input_id),
        keys=_remember(facts, event.key, event.input_id, ts, turn),
        preview=facts.preview or " ".join((event.message or text_of(event.items)).split())[:PREVIEW_LENGTH],
        turn=replace(facts.turn, inputs=(*facts.turn.inputs, event.input_id)) if facts.turn else None,
    )


def _apply_to_turn(facts: Facts, turn: TurnFacts, event: ev.DurableEvent) -> Facts:
    match event:
        case ev.ApprovalRequested():
            facts = replace(facts, kept=_still_kept(facts, event))
            turn = replace(turn, approvals=(*turn.approvals, event), working_since=None)
        case ev.ApprovalResolved():
            facts = _remember_answer(facts, event)
            rest = tuple(asked for asked in turn.approvals if asked.approval_id != event.approval_id)
            since = facts.updated if turn.working_since is None and not rest else turn.working_since
            granted = (*turn.granted, *_granted_items(turn, event))
            denied = turn.denied or event.decision in {Decision.DENIED, Decision.ABORT}
            turn = replace(turn, approvals=rest, granted=granted, working_since=since, denied=denied)
        case ev.WorkBegan():
            turn = _open_item(turn, event)
        case ev.WorkEnded():
            turn = replace(turn, items=tuple(item for item in turn.items if item[0] != event.item_id))
        case ev.ToolCall():
            turn = replace(turn, calls=(*turn.calls, (event.call_id, event.item_id)))
        case ev.ToolOutput():
            facts = replace(facts, unsummed=True)
            turn = replace(turn, calls=tuple(call for call in turn.calls if call[1] != event.item_id))
        case _:
            return facts
    return replace(facts, turn=turn)


def _open_item(turn: TurnFacts, began: ev.WorkBegan) -> TurnFacts:
    granted = tuple(item for item in turn.granted if item != began.item_id)
    opened = OpenItem(began.call_id, began.subject.kind, _brief_subject(began), _brief_call(began.agent_call))
    return replace(turn, items=(*turn.items, (began.item_id, opened)), granted=granted)


def _brief_subject(began: ev.WorkBegan) -> ev.WorkSubject | None:
    """The subject as the end of a cut call repeats it: the long parts stay in its beginning."""
    if isinstance(began.subject, ev.ToolSubject):
        return began.subject
    if began.agent_call is None or isinstance(began.subject, ev.FilesSubject):
        return None
    return began.subject.model_copy(update={"changes": {}}) if began.subject.kind == "command" else began.subject


def _brief_call(call: ev.AgentCall | None) -> ev.AgentCall | None:
    return call and call.model_copy(update={"arguments": ""})


def _granted_items(turn: TurnFacts, event: ev.ApprovalResolved) -> tuple[ItemId, ...]:
    if event.decision not in {Decision.APPROVED, Decision.APPROVED_FOR_SESSION}:
        return ()
    return tuple(asked.item_id for asked in turn.approvals if asked.approval_id == event.approval_id)


def _remember_answer(facts: Facts, event: ev.ApprovalResolved) -> Facts:
    answered = (*facts.answered, (event.approval_id, event.decision, event.by))[-ANSWERS_KEPT:]
    return replace(facts, answered=answered, kept=(*facts.kept, *_yes_to_keep(facts, event))[-YES_KEPT:])


def _yes_to_keep(facts: Facts, event: ev.ApprovalResolved) -> tuple[KeptYes, ...]:
    """The yes that is kept from now on. A yes in the original of a copy does not hold in the copy."""
    asked = facts.approval(event.approval_id)
    copied = facts.seq <= facts.copied
    if asked is None or asked.standing is None or copied or event.decision is not Decision.APPROVED_FOR_SESSION:
        return ()
    return (KeptYes(asked.standing, event.approval_id, event.by, event.outside),)


def _still_kept(facts: Facts, event: ev.ApprovalRequested) -> tuple[KeptYes, ...]:
    """The kept yeses after a question: those to an earlier state of a server's tool have ended."""
    ended = outdated_yeses(facts, event)
    return tuple(kept for kept in facts.kept if kept not in ended) if ended else facts.kept


def outdated_yeses(facts: Facts, event: ev.ApprovalRequested) -> tuple[KeptYes, ...]:
    """The kept yeses to an earlier state of the server's tool that this question is about."""
    if not isinstance(event.subject, ev.ToolSubject) or event.standing is None:
        return ()
    *tool, _ = event.standing[0]
    return tuple(kept for kept in facts.kept if [*kept.about[0][:-1]] == tool and kept.about != event.standing)


def _ending(facts: Facts, event: ev.TaskComplete | ev.TurnAborted) -> LastEnding:
    """The ending of the open turn. A no explains an interrupted turn better than the interrupt does."""
    ending: LastEnding = "error" if facts.stumbled else "completed"
    if isinstance(event, ev.TurnAborted):
        ending = event.reason.value
    denied = facts.turn is not None and facts.turn.denied
    return "denied" if denied and ending not in {"error", "failed", "lost", "budget"} else ending


def _remember(facts: Facts, key: str | None, taken: InputId, ts: float, turn: TurnId | None) -> tuple[Key, ...]:
    if key is None:
        return facts.keys
    accepted = next((known.ts for known in facts.keys if known.input == taken), ts)
    kept = (known for known in facts.keys if known.key != key and known.ts > ts - KEYS_KEPT_S)
    return (*kept, Key(key, accepted, taken, turn))[-KEYS_KEPT:]


def _keys_with_end(facts: Facts) -> tuple[Key, ...]:
    """The keys, with the seq at which their turn ended: a repeated request looks the end up in the history there."""
    taken = facts.turn.inputs if facts.turn else ()
    return tuple(replace(known, ended=facts.seq) if known.input in taken else known for known in facts.keys)
