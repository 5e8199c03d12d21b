"""Handlers in the order of time: a script asks, is sent the answer, and goes on. Pure: no clock, no thread, no I/O.

A script is a generator. `answer = yield from ask(...)` puts one question and returns its answer; a refusal is raised
there, as a GreenroomError. What a script returns is the answer to its own request, and so is a refusal that it does
not catch. A request that was taken back gets no further question answered: Cancelled is raised where it asks next, or
where it waits now.
"""

import re
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import TypeVar, cast

from actors.messages.conversation import CancelRequest, Command, Query, ToConversation
from actors.messages.routing import RegistryQuery, Resolve, ToRegistry
from actors.vocabulary.errors import Cancelled, GreenroomError
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, RequestId
from transports.dialect import Action, Ask, Tell
from transports.requests import SupervisorRequest

AnyAnswer = TypeVar("AnyAnswer")
Given = TypeVar("Given")

WHOLE_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Unsent = Callable[[Caller], Action]  # becomes an action as soon as it is known who is to be answered
Script = Generator[tuple[Unsent, ...], tuple[object, ...], AnyAnswer]
NOTHING_YET = cast("tuple[object, ...]", None)  # a generator that has not begun takes nothing else


# --- questions ------------------------------------------------------------------------------------------------------


def ask(request: Query[AnyAnswer]) -> Script[AnyAnswer]:
    """Ask the supervisor."""
    return _one(partial(Ask, cast("SupervisorRequest", request)))


def look_up(query: Query[AnyAnswer]) -> Script[AnyAnswer]:
    """Ask the registry."""
    return _one(_to_registry(query))


def command(
    conversation: ConversationId, query: Query[AnyAnswer], noted: Callable[[Caller], None] | None = None
) -> Script[AnyAnswer]:
    """Ask a conversation. `noted` gets the caller of the command, for one that can be cancelled after its answer."""
    return _one(_to_conversation(conversation, query, noted))


def look_up_each(queries: Iterable[Query[AnyAnswer]]) -> Script[list[AnyAnswer | GreenroomError]]:
    """Ask the registry several questions at once; a refused one does not keep the others."""
    unsent = tuple(map(_to_registry, queries))
    answers = (yield unsent) if unsent else ()
    return cast("list[AnyAnswer | GreenroomError]", list(answers))


def command_each(
    commands: Iterable[tuple[ConversationId, Query[AnyAnswer]]],
) -> Script[list[AnyAnswer | GreenroomError]]:
    """Ask several conversations at once; a refused command does not keep the others."""
    unsent = tuple(_to_conversation(*each) for each in commands)
    answers = (yield unsent) if unsent else ()
    return cast("list[AnyAnswer | GreenroomError]", list(answers))


def conversation_named(reference: str) -> Script[ConversationId]:
    """The id of the conversation named by an id, a prefix or a name; only the last two have to be looked up."""
    if WHOLE_ID.fullmatch(reference):
        return ConversationId(reference)
    return (yield from look_up(Resolve(reference))).conversation


def _one(question: Unsent) -> Script[AnyAnswer]:
    (given,) = yield (question,)
    if isinstance(given, GreenroomError):
        raise given
    return cast("AnyAnswer", given)


def _to_registry(query: Query[AnyAnswer]) -> Unsent:
    return lambda caller: Tell(ToRegistry(cast("RegistryQuery", query), caller))


def _to_conversation(
    conversation: ConversationId, query: Query[AnyAnswer], noted: Callable[[Caller], None] | None = None
) -> Unsent:
    def unsent(caller: Caller) -> Tell:
        if noted is not None:
            noted(caller)
        return Tell(ToConversation(conversation, cast("Command", query), caller))

    return unsent


# --- running them ---------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Running:
    """A script that waits for answers, which are kept by number and in order; until one comes, its question is there.

    `ended` is told what the script returned or which refusal it raised.
    """

    script: Script[object]
    ended: Callable[[object], None]
    cancelled: bool = False
    missing: int = 0
    answers: dict[RequestId, object] = field(init=False)


class Scripts:
    """The scripts of one connection. `do` takes the actions that they lead to, in order."""

    def __init__(self, connection: ConnectionId, do: Callable[[Action], None]) -> None:
        self._connection = connection
        self._do = do
        self._numbers = count(1)
        self._waiting: dict[RequestId, Running] = {}  # by the numbers of our callers

    def __len__(self) -> int:
        return len(self._waiting)

    def number(self) -> int:
        """A number that this connection has not used, independent of the client's ids."""
        return next(self._numbers)

    def run(self, script: Script[object], ended: Callable[[object], None] = lambda _: None) -> Running:
        """Run a script up to its first question; without any, to its end."""
        running = Running(script, ended)
        self._go_on(running, script.send, NOTHING_YET)
        return running

    def answered(self, caller: Caller, given: object) -> None:
        number = caller.request
        running = self._waiting.pop(number, None)
        if running is None:
            return
        answers = running.answers
        answers[number] = given
        running.missing -= 1
        if not running.missing:
            self._go_on(running, running.script.send, tuple(answers.values()))

    def cancel(self, running: Running, by: str) -> None:
        """Take back what it asked for; what comes of that is its last answer."""
        running.cancelled = True
        for number, asked in running.answers.items():
            if number in self._waiting and isinstance(asked, Tell):
                self._do(Tell(CancelRequest(Caller(self._connection, number), by)))

    def stop(self, running: Running) -> None:
        """Raise Cancelled where the script waits now. What it waits for is dropped when it comes."""
        running.cancelled = True
        for number in running.answers:
            self._waiting.pop(number, None)
        self._go_on(running, running.script.throw, _cancelled())

    def _go_on(self, running: Running, step: Callable[[Given], tuple[Unsent, ...]], given: Given) -> None:
        """Take a step, by `send` or `throw`, and put the questions that come next."""
        try:
            unsent = step(given)
            while running.cancelled:
                unsent = running.script.throw(_cancelled())
        except StopIteration as end:
            running.ended(end.value)
            return
        except GreenroomError as refusal:
            running.ended(refusal.with_traceback(None))
            return
        running.missing = len(unsent)
        running.answers = answers = {}
        for one in unsent:
            number = next(self._numbers)
            answers[number] = action = one(Caller(self._connection, number))
            self._waiting[number] = running
            self._do(action)


def _cancelled() -> Cancelled:
    return Cancelled("cancelled before it began")
