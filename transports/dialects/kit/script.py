"""Handlers in the order of time: a script asks, is sent the answer, and goes on. Pure: no clock, no thread, no I/O.

A script is a generator. `answer = yield from ask(...)` puts one question and returns its answer; a refusal is raised
there, as a GreenroomError. What a script returns is the answer to its own request, and so is a refusal that it does
not catch. A request that was taken back gets no further question answered: Cancelled is raised where it asks next, or
where it waits now.
"""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import NoReturn, TypeVar, cast
from uuid import UUID

from actors.conversation.messages import CancelRequest, Command, Query, ToConversation
from actors.routing.messages import RegistryQuery, Resolve, ToRegistry
from actors.vocabulary.errors import Cancelled, GreenroomError
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId, RequestId
from transports.dialect import Action, Ask, Tell
from transports.requests import Request

Answer = TypeVar("Answer")

Question = Callable[[Caller], Action]  # becomes an action as soon as it is known who is to be answered
Script = Generator[tuple[Question, ...], tuple[object, ...], Answer]


# --- questions ------------------------------------------------------------------------------------------------------


def ask(request: Query[Answer]) -> Script[Answer]:
    """Ask the supervisor."""
    return _one(partial(Ask, cast("Request", request)))


def look_up(query: Query[Answer]) -> Script[Answer]:
    """Ask the registry."""
    return _one(_to_registry(query))


def command(
    conversation: ConversationId, query: Query[Answer], noted: Callable[[Caller], None] | None = None
) -> Script[Answer]:
    """Ask a conversation. `noted` gets the caller of the command, for one that can be cancelled after its answer."""
    return _one(_to_conversation(conversation, query, noted))


def look_up_each(queries: Iterable[Query[Answer]]) -> Script[list[Answer | GreenroomError]]:
    """Ask the registry several questions at once; a refused one does not keep the others."""
    answers = yield tuple(_to_registry(query) for query in queries)
    return cast("list[Answer | GreenroomError]", list(answers))


def command_each(
    commands: Iterable[tuple[ConversationId, Query[Answer]]],
) -> Script[list[Answer | GreenroomError]]:
    """Ask several conversations at once; a refused command does not keep the others."""
    answers = yield tuple(_to_conversation(*each) for each in commands)
    return cast("list[Answer | GreenroomError]", list(answers))


def conversation_named(reference: str) -> Script[ConversationId]:
    """The id of the conversation named by an id, a prefix or a name; only the last two have to be looked up."""
    try:
        exact = str(UUID(reference))
    except ValueError:
        exact = ""
    if exact == reference:
        return ConversationId(exact)
    return (yield from look_up(Resolve(reference))).conversation


def answer(value: Answer) -> Script[Answer]:
    """The script of a request that needs nobody."""
    yield from ()
    return value


def refusal(why: GreenroomError) -> Script[NoReturn]:
    """The script of a request that is refused."""
    yield from ()
    raise why


def _one(question: Question) -> Script[Answer]:
    (given,) = yield (question,)
    if isinstance(given, GreenroomError):
        raise given
    return cast("Answer", given)


def _to_registry(query: Query[Answer]) -> Question:
    return lambda caller: Tell(ToRegistry(cast("RegistryQuery", query), caller))


def _to_conversation(
    conversation: ConversationId, query: Query[Answer], noted: Callable[[Caller], None] | None = None
) -> Question:
    def question(caller: Caller) -> Tell:
        if noted is not None:
            noted(caller)
        return Tell(ToConversation(conversation, cast("Command", query), caller))

    return question


# --- running them ---------------------------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class Running:
    """A script that waits for answers. `ended` is told what it returned or which refusal it raised."""

    script: Script[object]
    ended: Callable[[object], None]
    cancelled: bool = False
    asked: dict[RequestId, bool] = field(default_factory=dict)  # by number, in order; whether a cancel can be told
    answers: dict[RequestId, object] = field(default_factory=dict)


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
        self._go_on(running, partial(next, script))
        return running

    def answered(self, caller: Caller, given: object) -> None:
        number = caller.request
        running = self._waiting.pop(number, None)
        if running is None:
            return
        running.answers[number] = given
        if len(running.answers) == len(running.asked):
            answers = tuple(map(running.answers.__getitem__, running.asked))
            self._go_on(running, partial(running.script.send, answers))

    def cancel(self, running: Running, by: str) -> None:
        """Take back what it asked for; what comes of that is its last answer."""
        running.cancelled = True
        for number, reachable in running.asked.items():
            if reachable and number not in running.answers:
                self._do(Tell(CancelRequest(Caller(self._connection, number), by)))

    def stop(self, running: Running) -> None:
        """Raise Cancelled where the script waits now. What it waits for is dropped when it comes."""
        running.cancelled = True
        for number in running.asked:
            self._waiting.pop(number, None)
        self._go_on(running, partial(running.script.throw, _cancelled()))

    def _go_on(self, running: Running, go: Callable[[], tuple[Question, ...]]) -> None:
        """Put the questions that come next."""
        script = running.script
        try:
            questions = go()
            while running.cancelled or not questions:
                questions = script.throw(_cancelled()) if running.cancelled else script.send(())
        except StopIteration as end:
            running.ended(end.value)
        except GreenroomError as refusal:
            running.ended(refusal.with_traceback(None))
        else:
            self._put(running, questions)

    def _put(self, running: Running, questions: tuple[Question, ...]) -> None:
        running.asked, running.answers = {}, {}
        actions = []
        for question in questions:
            number = self.number()
            action = question(Caller(self._connection, number))
            actions.append(action)
            running.asked[number] = isinstance(action, Tell)
            self._waiting[number] = running
        for action in actions:
            self._do(action)


def _cancelled() -> Cancelled:
    return Cancelled("cancelled before it began")
