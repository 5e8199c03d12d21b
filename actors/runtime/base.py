"""The base of all actors: pykka's, changed at the points that pykka leaves to its actor types: inbox, future, loop.

`on_start`, `on_receive`, `on_stop`, `on_failure`, ActorRef and ActorRegistry mean what pykka's documentation says. An
actor runs on a thread of its own, or in shared.py on a loop's with others. Silent faults of pykka are loud or
harmless here: a raise is logged with its traceback and handed to `on_failure` together with the messages left in the
mailbox, an exit in one actor ends no other, no attribute is called from outside, an ask has a bound, and a thread
that can't be started leaves nothing behind.
"""

import contextlib
import contextvars
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import pykka
import structlog
from msgspec import Struct
from pykka._envelope import Envelope
from pykka.messages import _ActorStop

from actors.runtime.mailbox import Mailbox
from actors.vocabulary.errors import ActorGone, DeadlineExceeded, GreenroomError, TooManySessions

# Private parts of pykka that are used here: name, parameters, reason. A test compares them with the pykka that is
# installed, and names the changes of a new version.
PRIVATE = {
    "Actor._create_actor_inbox": ("()", "its point for a type's inbox: ours has lanes and a bound"),
    "Actor._start_actor_loop": ("(self)", "its point for a type's loop: a thread; turns on a loop's go past it"),
    "ThreadingActor._start_actor_loop": ("(self)", "the thread, where an actor has one"),
    "Actor._actor_loop": ("(self)", "what that thread runs: it takes the actor's name, and the end is said"),
    "Actor._actor_loop_setup": ("(self)", "where on_start is called: a raise there is a failure like others"),
    "Actor._actor_loop_running": ("(self)", "where messages are taken: handled by `handle`, here and in shared.py"),
    "Actor._actor_loop_teardown": ("(self)", "runs on a thread after the last message; finds a closed inbox empty"),
    "Actor._stop": ("(self)", "the end in order: the inbox is closed before on_stop"),
    "Actor._actor_ref": ("", "the one attribute for the reference: ours says ActorGone, and forgets the actor"),
    "_envelope.Envelope": ("(message, reply_to=None)", "what passes through an inbox"),
    "messages._ActorStop": ("()", "what asks an actor to end"),
}

log = structlog.get_logger()
Message = TypeVar("Message")
Message_contra = TypeVar("Message_contra", contravariant=True)
ASK_S = 30.0  # the default bound: long, and shorter than anybody's patience with a program that hangs


class Failure(Struct, frozen=True):
    """The failure of an actor. `leftovers` are the messages that were not handled, oldest first."""

    error: BaseException
    message: object  # the message that was being handled; None while starting
    traceback: str
    leftovers: tuple[object, ...]


class Ref(pykka.ActorRef[Any], Generic[Message_contra]):
    """An actor's address. Telling never waits."""

    def __init__(self, actor: "Actor[Any]") -> None:
        super().__init__(actor)
        self.name = actor.name
        self.has_ended = False  # pykka's own event is set before on_stop has run

    def tell(self, message: Message_contra) -> None:
        """Leave a message. ActorGone and MailboxFull are raised here, in the sender."""
        self.actor_inbox.put(Envelope(message))

    def ask(self, message: Any, timeout: float | None = ASK_S, *, block: bool = True) -> Any:
        """Tell and wait for the answer. For the outside edge only: a test, a main thread. Actors tell."""
        try:
            return super().ask(message, block=block, timeout=timeout)
        except pykka.Timeout as error:
            raise DeadlineExceeded(f"{self.name} did not answer in {timeout} s") from error
        except pykka.ActorDeadError as error:
            raise ActorGone(f"{self.name} has ended") from error

    def stop(self, timeout: float | None = ASK_S, *, block: bool = True) -> Any:
        """Ask the actor to end, and wait. False if it has not ended in time: that is a bug of the actor."""
        if not block:
            return super().stop(block=False)
        self.stop_soon()
        return self.wait_for_end(timeout)

    def stop_soon(self) -> None:
        with contextlib.suppress(ActorGone):
            super().stop(block=False)

    def wait_for_end(self, timeout: float | None) -> bool:
        """Wait for its end, when its resources are released; False if that took too long. No actor calls this."""
        with _ENDS:
            return _ENDS.wait_for(lambda: self.has_ended, timeout)

    @property
    def alive(self) -> bool:
        return self.is_alive()

    def close(self) -> None:
        """Say that the actor has ended, and drop all but its name: a long timer may hold this address for an hour."""
        self.actor_inbox, self.actor_stopped = _CLOSED, _LONG_AGO
        with _ENDS:
            self.has_ended = True
            _ENDS.notify_all()

    def __repr__(self) -> str:
        return f"<{self.name}{'' if self.alive else ' (ended)'}>"


_ENDS = threading.Condition()  # of all actors: an event for each would be a KiB of every live session
_CLOSED = Mailbox()
_CLOSED.close()
_LONG_AGO = threading.Event()
_LONG_AGO.set()


class Actor(pykka.ThreadingActor, Generic[Message]):
    """One owner of state. `on_receive` runs on one thread, once at a time, and a raise in it is a bug.

    An actor that shares its thread never waits; an actor with its own may wait for the disk and for nothing else.
    """

    use_daemon_thread = True  # an orderly stop is our own; a forgotten thread must not keep the process
    fatal: ClassVar[bool] = True  # False: survives a bad message, for actors that the whole daemon needs
    patient: ClassVar[frozenset[type]] = frozenset()  # messages of these kinds come after all others
    name: str = "actor"

    def __init__(self) -> None:
        super().__init__()
        inbox: Any = self.actor_inbox
        self.mailbox: Mailbox = inbox
        self.address: Ref[Message] = Ref(self)
        self._actor_ref = self.address
        self.failure: Failure | None = None
        self._context: dict[str, str] = {}

    # --- what an actor may override -------------------------------------------------------------------------------

    def on_start(self) -> None:
        """Acquire; runs on the actor's thread."""

    def on_receive(self, message: Message) -> object:
        raise NotImplementedError

    def on_stop(self) -> None:
        """Release; runs on the actor's thread after the last message, but not after a failure."""

    def on_failure(
        self,
        exception_type: type[BaseException] | None,
        exception_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Tell the supervising actor. This actor is gone already; meanwhile `failure` says why, with its messages."""

    def statistics(self) -> dict[str, object]:
        return {"waiting": len(self.mailbox)}

    def stop(self) -> None:
        """End after the news that waits already; later messages are dropped, so stop being routed to first."""
        self.address.stop_soon()

    # --- its life -------------------------------------------------------------------------------------------------

    def launch(self, context: dict[str, str], join: Callable[[], None] | None = None) -> Ref[Message]:
        """Run the actor. `context` is bound to everything it logs; `join` starts it where it shares a thread."""
        self._context = context
        self.address.name = self.name
        pykka.ActorRegistry.register(self.address)
        (join or self._start_actor_loop)()
        return self.address

    def handle(self, envelope: Envelope[Any]) -> None:
        """Handle one message. An exception ends at most this actor; an `ask` gets it as its answer."""
        message, reply_to = envelope.message, envelope.reply_to
        try:
            if isinstance(message, _ActorStop):
                answer = self._stop()
            else:  # context bound by one message ends with it
                answer = contextvars.copy_context().run(self.on_receive, message)
        except BaseException as error:  # pykka would stop every actor on SystemExit
            if self.fatal:
                self._fail(error, message)
            else:
                log.exception("actor.message_failed", kind=type(message).__name__)
            if reply_to is not None:
                told = GreenroomError(f"{self.name} failed: {type(error).__name__}: {error}")
                reply_to.set_exception((GreenroomError, told, None))
        else:
            if reply_to is not None:
                reply_to.set(answer)

    def _fail(self, error: BaseException, message: object) -> None:
        log.error("actor.failed", during=type(message).__name__, exc_info=error)
        text = "".join(traceback.format_exception(error))
        self.failure = Failure(error, message, text, self.mailbox.close())
        pykka.ActorRegistry.unregister(self.address)
        self.actor_stopped.set()
        try:
            self.on_failure(type(error), error, error.__traceback__)
        except BaseException:  # no caller could do anything about it
            log.exception("actor.failure_unreported")
        finally:  # an error keeps the frames that it was raised in, and they this actor
            self.failure = error.__traceback__ = None

    # --- the points that pykka leaves to its actor types ----------------------------------------------------------

    @staticmethod
    def _create_actor_inbox() -> Any:
        return Mailbox()

    def _start_actor_loop(self) -> None:
        try:
            super()._start_actor_loop()
        except RuntimeError as error:  # "can't start new thread" leaves pykka with an actor that answers nobody
            pykka.ActorRegistry.unregister(self.address)
            self.mailbox.close()
            self.actor_stopped.set()
            self.address.close()
            raise TooManySessions(f"no thread for {self.name}: {error}") from error

    def _actor_loop(self) -> None:
        threading.current_thread().name = self.name
        try:
            super()._actor_loop()
        finally:
            self.address.close()

    def _actor_loop_setup(self) -> None:
        structlog.contextvars.bind_contextvars(actor=self.name, **self._context)
        try:
            self.on_start()
        except BaseException as error:  # noqa: BLE001  # it is reported and ends this actor only
            self._fail(error, None)

    def _actor_loop_running(self) -> None:
        while not self.actor_stopped.is_set():
            self.handle(self.mailbox.get())

    def _stop(self) -> Any:
        pykka.ActorRegistry.unregister(self.address)
        self.actor_stopped.set()
        left = self.mailbox.close()
        if left:
            log.warning("actor.stopped_with_messages", kinds=sorted({type(message).__name__ for message in left}))
        try:
            self.on_stop()
        except BaseException:  # an ending actor ends
            log.exception("actor.stop_failed")


class Start(Protocol):
    """A function that starts an actor on some thread. `context` is bound to everything it logs."""

    def __call__(self, actor: Actor[Message], **context: str) -> Ref[Message]: ...


def start(actor: Actor[Message], **context: str) -> Ref[Message]:
    """Run an actor on a thread of its own."""
    return actor.launch(context)
