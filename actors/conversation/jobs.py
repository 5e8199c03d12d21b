"""Background commands as their conversation knows them: the end of each is recorded exactly once."""

from actors.conversation.draft import Draft
from actors.messages.conversation import RecordJobEnd
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import WrongState
from actors.vocabulary.ids import TurnId


def record_end(draft: Draft, command: RecordJobEnd) -> None:
    """Record that a job has ended, unless it ended with its turn or was given up as lost."""
    if any(job.id == command.ended.job for job in draft.facts.jobs):
        draft.emit(command.ended)
    draft.reply_when_stored(Done())


def end_with_turn(draft: Draft, turn: TurnId) -> None:
    """Record that the jobs of the turn have ended; its agent has ended them."""
    for job in draft.facts.jobs:
        if job.turn == turn:
            draft.emit(ev.JobEnded(job=job.id, how="turn_over"))


def give_up_lost(draft: Draft) -> None:
    """Record that the jobs of an earlier daemon are lost."""
    for job in draft.facts.jobs:
        draft.emit(ev.JobEnded(job=job.id, how="lost"))


def refuse_while_running(draft: Draft) -> bool:
    """Refuse a command while jobs run. Returns whether it was refused."""
    if not draft.facts.jobs:
        return False
    names = ", ".join(job.id for job in draft.facts.jobs)
    told = f"background commands run: {names}; `greenroom jobs end {draft.facts.jobs[0].id}` ends one"
    draft.reply_now(WrongState(told))
    return True
