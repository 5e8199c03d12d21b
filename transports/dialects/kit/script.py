"""Handlers in the order of time: a script asks, gets the answer, and goes on. Pure: no clock, no thread, no I/O.

A script is a generator. `answer = yield from ask(...)` puts one question and returns its answer; a refusal is raised
there, as a GreenroomError. The script's result, or a refusal that it does not catch, answers its own request. If its
request was taken back, no further question is answered: Cancelled is raised where it waits now or asks next.
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
from transports.supervisor_requests import SupervisorRequest

AnyAnswer = TypeVar("AnyAnswer")
AnyValue = TypeVar("AnyValue")

WHOLE_ID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

ActionMaker = Callable[[Caller], Action]  # becomes an action once the caller to be answered is known
Script = Generator[tuple[ActionMaker, ...], tuple[object, ...], AnyAnswer]
NOTHING_YET = cast("tuple[object, ...]", None)  # the only value that a generator accepts before its first yield


# --- questions ------------------------------------------------------------------------------------------------------


def ask(request: Query[AnyAnswer]) -> Script[AnyAnswer]:
    """Ask the supervisor."""
    return _ask_one(partial(Ask, cast("SupervisorRequest", request)))


def look_up(query: Query[AnyAnswer]) -> Script[AnyAnswer]:
    """Ask the registry."""
    return _ask_one(_to_registry(query))


def command(
    conversation: ConversationId, query: Query[AnyAnswer], noted: Callable[[Caller], None] | None = None
) -> Script[AnyAnswer]:
    """Ask a conversation. `noted` gets the caller of the command, which may be cancelled after its answer."""
    return _ask_one(_to_conversation(conversation, query, noted))


def look_up_each(queries: Iterable[Query[AnyAnswer]]) -> Script[list[AnyAnswer | GreenroomError]]:
    """Ask the registry several questions at once; a refused one does not affect the others."""
    unsent = tuple(map(_to_registry, queries))
    answers = (yield unsent) if unsent else ()
    return cast("list[AnyAnswer | GreenroomError]", list(answers))


def command_each(
    commands: Iterable[tuple[ConversationId, Query[AnyAnswer]]],
) -> Script[list[AnyAnswer | GreenroomError]]:
    """Ask several conversations at once; a refused command does not affect the others."""
    unsent = tuple(_to_conversation(*pair) for pair in commands)
    answers = (yield unsent) if unsent else ()
    return cast("list[AnyAnswer | GreenroomError]", list(answers))


def conversation_named(reference: str) -> Script[ConversationId]:
    """The id of the conversation named by an id, a prefix or a name; only the last two have to be looked up."""
    if WHOLE_ID.fullmatch(reference):
        return ConversationId(reference)
    return (yield from look_up(Resolve(reference))).conversation


def _ask_one(question: ActionMaker) -> Script[AnyAnswer]:
    (answer,) = yield (question,)
    if isinstance(answer, GreenroomError):
        raise answer
    return cast("AnyAnswer", answer)


def _to_registry(query: Query[AnyAnswer]) -> ActionMaker:
    return lambda caller: Tell(ToRegistry(cast("RegistryQuery", query), caller))


def _to_conversation(
    conversation: ConversationId, query: Query[AnyAnswer], noted: Callable[[Caller], None] | None = None
) -> ActionMaker:
    def make_action(caller: Caller) -> Tell:
        if noted is not None:
            noted(caller)
        return Tell(ToConversation(conversation, cast("Command", query), caller))

    return make_action


# --- running scripts ------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class RunningScript:
    """A script that waits for answers, collected by number and in order in place of their questions.

    Its callback gets the script's result or its refusal.
    """

    script: Script[object]
    on_end: Callable[[object], None]
    cancelled: bool = False
    missing: int = 0
    answers: dict[RequestId, object] = field(init=False)


class Scripts:
    """The scripts of one connection. `do` takes their actions, in order."""

    def __init__(self, connection: ConnectionId, do: Callable[[Action], None]) -> None:
        self._connection = connection
        self._do = do
        self._numbers = count(1)
        self._waiting: dict[RequestId, RunningScript] = {}  # by the number of each question

    def __len__(self) -> int:
        return len(self._waiting)

    def number(self) -> int:
        """A number that this connection has not used, independent of the client's ids."""
        return next(self._numbers)

    def run(self, script: Script[object], ended: Callable[[object], None] = lambda _: None) -> RunningScript:
        """Run a script up to its first question; without any, to its end."""
        running = RunningScript(script, ended)
        self._go_on(running, script.send, NOTHING_YET)
        return running

    def take_answer(self, caller: Caller, answer: object) -> None:
        number = caller.request
        running = self._waiting.pop(number, None)
        if running is None:
            return
        answers = running.answers
        answers[number] = answer
        running.missing -= 1
        if not running.missing:
            self._go_on(running, running.script.send, tuple(answers.values()))

    def cancel(self, running: RunningScript, by: str) -> None:
        """Cancel its open commands; their outcomes are its last answers."""
        running.cancelled = True
        for number, action in running.answers.items():
            if number in self._waiting and isinstance(action, Tell):
                self._do(Tell(CancelRequest(Caller(self._connection, number), by)))

    def stop(self, running: RunningScript) -> None:
        """Raise Cancelled where the script waits now. Answers that still come are dropped."""
        running.cancelled = True
        for number in running.answers:
            self._waiting.pop(number, None)
        self._go_on(running, running.script.throw, _cancellation())

    def _go_on(
        self, running: RunningScript, step: Callable[[AnyValue], tuple[ActionMaker, ...]], value: AnyValue
    ) -> None:
        """Take a step, by `send` or `throw`, and put the next questions."""
        try:
            unsent = step(value)
            while running.cancelled:
                unsent = running.script.throw(_cancellation())
        except StopIteration as end:
            running.on_end(end.value)
            return
        except GreenroomError as refusal:
            running.on_end(refusal.with_traceback(None))
            return
        running.missing = len(unsent)
        running.answers = answers = {}
        for question in unsent:
            number = next(self._numbers)
            answers[number] = action = question(Caller(self._connection, number))
            self._waiting[number] = running
            self._do(action)


def _cancellation() -> Cancelled:
    return Cancelled("cancelled before it began")
