"""Questions that a program answers as they come, be they asked before it began or while it was away.

A watch hands each question to a function once. The blocking client's has a thread of its own, the asyncio client's a
task for each question. A mistake in the function is reported where the program would see any other, and ends nothing.
"""

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping, MutableSet, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from greenroom.errors import ClientClosed, GreenroomError
from greenroom.events import ApprovalRequested, Decision

if TYPE_CHECKING:
    from greenroom.aio import AsyncEvents
    from greenroom.client import Events

Question = ApprovalRequested
A = TypeVar("A")  # what answering returns


class OpenQuestion(Generic[A]):
    """A question that waits for an answer. `event` is the event that asks it."""

    def __init__(self, event: Question, answer: Callable[..., A]) -> None:
        self.event = event
        self._answer = answer

    def __repr__(self) -> str:
        return f"<question {self.id} of {self.conversation}: {self.what}>"

    @property
    def id(self) -> str:
        return self.event.id

    @property
    def conversation(self) -> str:
        return self.event.conversation

    @property
    def what(self) -> str:
        return self.event.what

    def answer(
        self,
        decision: Decision,
        *,
        reason: str = "",
        option: str = "",
        content: Mapping[str, str | bool | float | Sequence[str]] | None = None,
    ) -> A:
        """Answer the question, as `Client.answer` does: AlreadyAnswered if another client was quicker."""
        return self._answer(self.id, decision, reason=reason, option=option, content=content)


Handler = Callable[[OpenQuestion[A]], Any]


class QuestionWatch:
    """Questions that a thread hands to a function. Inside of its block, or until it is closed."""

    def __init__(
        self, questions: "Events[Question, None]", handle: Handler[None], answer: Callable[..., Any]
    ) -> None:
        self._questions = questions
        self._handle = handle
        self._answer = answer
        self._thread = threading.Thread(target=self._watch, name="greenroom-questions", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hand out no more questions; wait for one that is being handled."""
        self._questions.close()
        if self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _watch(self) -> None:
        with suppress(ClientClosed):
            for event in self._questions:
                try:
                    self._handle(OpenQuestion(event, self._answer))
                except ClientClosed:
                    return
                except Exception as error:  # noqa: BLE001  # whatever the program's own function raises
                    _report(error)


def _report(error: Exception) -> None:
    told = (type(error), error, error.__traceback__, threading.current_thread())
    threading.excepthook(threading.ExceptHookArgs(told))


class AsyncQuestionWatch:
    """Questions that are handed to a function on the event loop. Inside of its block, or until it is closed."""

    def __init__(
        self,
        questions: "AsyncEvents[Question, None]",
        handle: Handler[Any],
        answer: Callable[..., Any],
        watches: "MutableSet[AsyncQuestionWatch]",
    ) -> None:
        """`watches` has the watch as long as it is not closed."""
        self._questions = questions
        self._handle = handle
        self._answer = answer
        self._watches = watches
        self._loop = asyncio.get_running_loop()
        self._tasks = {self._loop.create_task(self._watch(), name="greenroom-questions")}
        watches.add(self)

    async def close(self) -> None:
        """Hand out no more questions, and cancel those that are being handled."""
        self._watches.discard(self)
        await self._questions.close()
        others = self._tasks - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _watch(self) -> None:
        try:
            async for event in self._questions:
                task = self._loop.create_task(self._hand_over(event))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        except ClientClosed:
            return
        except GreenroomError as error:
            self._report("the questions of Greenroom can't be read any more", error)

    async def _hand_over(self, event: Question) -> None:
        try:
            handling = self._handle(OpenQuestion(event, self._answer))
            if inspect.isawaitable(handling):
                await handling
        except ClientClosed:
            return
        except Exception as error:  # noqa: BLE001  # whatever the program's own function raises
            self._report("a handler of questions failed", error)

    def _report(self, message: str, error: Exception) -> None:
        self._loop.call_exception_handler({"message": message, "exception": error, "task": asyncio.current_task()})
