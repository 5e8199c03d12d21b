"""The entry of the core: one input in, its events and effects out."""

from typing import assert_never

from actors.conversation import (
    approving,
    changing_settings,
    commits,
    interrupting,
    jobs,
    lifecycle,
    queueing,
    reading,
    sending,
    turns,
    unanswerable,
    unasked_news,
)
from actors.conversation.draft import Draft
from actors.conversation.state import Stamp, State, Step
from actors.conversation.summary import spending, summary, waiting_inputs
from actors.messages.conversation import (
    AnswerApproval,
    AppendRefused,
    Archive,
    Attach,
    Begin,
    CancelRequest,
    ChangeSettings,
    Command,
    Committed,
    ConnectionClosed,
    Detach,
    EditInput,
    FindInput,
    FollowAgent,
    Inspect,
    InspectQueue,
    InspectSpending,
    Interrupt,
    MoveInput,
    PageRead,
    Park,
    PassOn,
    Quiesce,
    ReadersWait,
    Ready,
    RecordAgentNews,
    RecordJobEnd,
    Rename,
    Restart,
    ResumeQueue,
    Retire,
    Revived,
    Send,
    SessionInput,
    SessionNews,
    TimerFired,
    ToConversation,
    WithdrawAll,
    WithdrawInput,
)
from actors.messages.orders import AgentOutput, TurnEnded
from actors.vocabulary.settings import AbortReason

LOOKS_AT_THE_DISK_AGAIN = (Send, Interrupt, CancelRequest, AnswerApproval, ResumeQueue, Archive, Restart)
MACHINERY = (Ready, ReadersWait, Committed, PageRead, TimerFired, Park)  # no sign that a person uses the conversation


def step(state: State, message: SessionInput, stamp: Stamp) -> Step:
    """Decide on one input. Never waits, never fails but by a bug."""
    command, caller = (message.command, message.caller) if isinstance(message, ToConversation) else (message, None)
    draft = Draft(state, stamp, caller)
    if state.storage_error is not None and isinstance(command, LOOKS_AT_THE_DISK_AGAIN):
        commits.settle_stranded(draft, AbortReason.FAILED, state.storage_error)
    _decide(draft, command)
    if not isinstance(command, MACHINERY):
        draft.state.last_command = stamp.now
    unanswerable.watch_passes(draft)
    if draft.state.quiescing:
        lifecycle.suspend_waiting_turn(draft)
    reading.feed_readers(draft)
    lifecycle.watch_idleness(draft)
    lifecycle.leave_if_retired(draft)
    return draft.step()


def _decide(draft: Draft, message: Command | CancelRequest | ConnectionClosed | SessionNews) -> None:
    match message:
        case AgentOutput():
            turns.take_output(draft, message)
        case ReadersWait():
            pass  # `step` serves them, as always
        case Ready():
            reading.reader_ready(draft, message)
        case Committed():
            commits.take_commit(draft, message)
        case AppendRefused():
            commits.take_refusal(draft, message)
        case TurnEnded():
            turns.end_turn(draft, message)
        case Send():
            sending.send(draft, message)
        case FindInput():
            sending.find_input(draft, message)
        case Interrupt():
            interrupting.interrupt(draft, message)
        case CancelRequest():
            sending.cancel_request(draft, message)
        case AnswerApproval():
            approving.answer_approval(draft, message)
        case PassOn():
            unanswerable.pass_on(draft, message)
        case Attach():
            reading.attach(draft, message)
        case Detach():
            reading.detach(draft, message)
        case PageRead():
            reading.take_page(draft, message)
        case ConnectionClosed():
            read_here = reading.drop_connection(draft, message.connection)
            sending.forget_connection(draft, message.connection)
            if read_here:
                interrupting.stop_if_alone(draft)
        case Begin():
            lifecycle.begin(draft, message)
        case Rename():
            lifecycle.rename(draft, message)
        case Archive():
            lifecycle.archive(draft, message)
        case ChangeSettings():
            changing_settings.change_settings(draft, message)
        case ResumeQueue():
            queueing.resume_queue(draft, message)
        case EditInput():
            queueing.edit_input(draft, message)
        case MoveInput():
            queueing.move_input(draft, message)
        case WithdrawInput():
            queueing.withdraw_input(draft, message)
        case WithdrawAll():
            queueing.withdraw_everything(draft, message)
        case RecordJobEnd():
            jobs.record_end(draft, message)
        case RecordAgentNews():
            unasked_news.record_news(draft, message)
        case FollowAgent():
            unasked_news.follow(draft)
        case Restart():
            lifecycle.restart(draft, message)
        case Retire():
            lifecycle.retire(draft, message)
        case Inspect():
            draft.reply_now(summary(draft.state))
        case InspectQueue():
            draft.reply_now(waiting_inputs(draft.state, message.only))
        case InspectSpending():
            draft.reply_now(spending(draft.state))
        case TimerFired():
            lifecycle.take_timer(draft, message)
        case Park():
            lifecycle.park(draft, message)
        case Quiesce():
            lifecycle.quiesce(draft, message)
        case Revived():
            lifecycle.revive(draft, message)
        case _:
            assert_never(message)
