"""Background commands as their conversation knows them: each that was begun is said to have ended, once."""

from actors.conversation.draft import Draft
from actors.messages.conversation import RecordJobEnd
from actors.vocabulary import events as ev
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import WrongState
from actors.vocabulary.ids import TurnId


def record_end(draft: Draft, command: RecordJobEnd) -> None:
    """Say that a job has ended. One that ended with its turn, or was given up as lost, is not said again."""
    if any(job.id == command.ended.job for job in draft.facts.jobs):
        draft.emit(command.ended)
    draft.reply_when_stored(Done())


def end_with_turn(draft: Draft, turn: TurnId) -> None:
    """Say that the jobs of the turn have ended; its agent has seen to that."""
    for job in draft.facts.jobs:
        if job.turn == turn:
            draft.emit(ev.JobEnded(job=job.id, how="turn_over"))


def give_up_lost(draft: Draft) -> None:
    """Say that the jobs of an earlier life are gone."""
    for job in draft.facts.jobs:
        draft.emit(ev.JobEnded(job=job.id, how="lost"))


def refuse_while_running(draft: Draft) -> bool:
    """Refuse a command that a job stands in the way of. Returns whether it was refused."""
    if not draft.facts.jobs:
        return False
    names = ", ".join(job.id for job in draft.facts.jobs)
    told = f"background commands run: {names}; `greenroom jobs end {draft.facts.jobs[0].id}` ends one"
    draft.reply_now(WrongState(told))
    return True
