"""The line of input that waits, and the places in it. Pure."""

from dataclasses import replace

from actors.messages.orders import PendingInput
from actors.vocabulary.ids import InputId
from actors.vocabulary.settings import BusyPolicy


def add_to_line(pending: tuple[PendingInput, ...], waiting: PendingInput) -> tuple[PendingInput, ...]:
    """The queue with one more input: interrupting input goes before the others, after that of its kind."""
    if waiting.policy is not BusyPolicy.INTERRUPT:
        return (*pending, waiting)
    urgent = sum(1 for other in pending if other.policy is BusyPolicy.INTERRUPT)
    return (*pending[:urgent], waiting, *pending[urgent:])


def move_in_line(
    pending: tuple[PendingInput, ...], taken: InputId, before: InputId | None
) -> tuple[PendingInput, ...]:
    """The queue with an input in another place: before the given one, or after all that wait as it does."""
    mine = next((waiting for waiting in pending if waiting.id == taken), None)
    rest = remove_from_line(pending, taken)
    alike = [number for number, other in enumerate(rest) if mine is not None and other.policy is mine.policy]
    last = alike[-1] + 1 if alike else len(rest)
    place = next((number for number, other in enumerate(rest) if other.id == before), last)
    return pending if mine is None else (*rest[:place], mine, *rest[place:])


def defer_interrupting(pending: tuple[PendingInput, ...]) -> tuple[PendingInput, ...]:
    """The queue after a pause in a turn: input that was to replace the turn waits like all the others."""
    return tuple(
        replace(waiting, policy=BusyPolicy.ENQUEUE) if waiting.policy is BusyPolicy.INTERRUPT else waiting
        for waiting in pending
    )


def defer_steering(pending: tuple[PendingInput, ...]) -> tuple[PendingInput, ...]:
    """The queue after the end of a turn that pauses it: input for that turn waits for one of its own, first.

    Input that is to replace the turn was said after its end was decided, and runs at once.
    """
    steering = tuple(
        replace(waiting, policy=BusyPolicy.ENQUEUE) for waiting in pending if waiting.policy is BusyPolicy.STEER
    )
    urgent = tuple(waiting for waiting in pending if waiting.policy is BusyPolicy.INTERRUPT)
    return (*urgent, *steering, *(waiting for waiting in pending if waiting.policy is BusyPolicy.ENQUEUE))


def remove_from_line(pending: tuple[PendingInput, ...], taken: InputId) -> tuple[PendingInput, ...]:
    return tuple(waiting for waiting in pending if waiting.id != taken)
