"""What an actor is, and how it runs on a thread of its own. The only place that knows how pykka runs an actor.

Ours are plain objects with `receive`; a host runs each, here on its own thread, in shared.py on one with others.
Whatever pykka would do silently is made loud or harmless here: a raise in `receive` is logged with its traceback and
handed to `on_failure` together with what was left in the mailbox; a thread that can't be started leaves nothing
behind; an ask always has a bound.
"""

import contextlib
import contextvars
import threading
import traceback
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import pykka
import structlog
from pykka._envelope import Envelope  # what passes through the inbox, which is pykka's own hook
from pykka.messages import _ActorStop

from actors.errors import ActorGone, DeadlineExceeded, GreenroomError, TooManySessions
from actors.mailbox import Mailbox

log = structlog.get_logger()
Message = TypeVar("Message")
Message_contra = TypeVar("Message_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Failure:
    """How an actor ended that should not have. `leftovers` is what nobody has handled, oldest first."""

    error: BaseException
    message: object  # what was being handled; None while starting
    traceback: str
    leftovers: tuple[object, ...]


class Actor(Generic[Message]):
    """One owner of state. `receive` runs on one thread, once at a time, and a raise in it is a bug.

    Who shares its thread never waits; who has one of its own may wait for the disk and for nothing else.
    """

    fatal: ClassVar[bool] = True  # False: survives a bad message, for actors that the whole daemon hangs on
    patient: ClassVar[frozenset[type]] = frozenset()  # messages of these kinds come after everybody's others
    name: str = "actor"
    mailbox: Mailbox
    address: "Ref[Message]"

    def on_start(self) -> None:
        """Acquire; runs on the actor's thread."""

    def receive(self, message: Message) -> object:
        raise NotImplementedError

    def on_stop(self) -> None:
        """Release; runs on the actor's thread after the last message."""

    def on_failure(self, failure: Failure) -> None:
        """Tell whoever supervises. The actor is gone already."""

    def stop(self) -> None:
        """End after the news that waits already; what comes later is dropped, so stop being routed to first."""
        self.address.stop_soon()

    def statistics(self) -> dict[str, object]:
        return {"waiting": len(self.mailbox)}


class Ref(Generic[Message_contra]):
    """An actor's address. Telling never waits."""

    __slots__ = ("_gone", "_host", "name")

    def __init__(self, host: "Host", name: str) -> None:
        self._host: pykka.ActorRef[Host] | _Nobody = host.actor_ref
        self._gone = host.gone
        self.name = name

    def tell(self, message: Message_contra) -> None:
        """Leave a message. ActorGone and MailboxFull are raised here, in the sender."""
        try:
            self._host.tell(message)
        except pykka.ActorDeadError as error:
            raise ActorGone(f"{self.name} has ended") from error

    def ask(self, message: Message_contra, timeout_s: float) -> Any:
        """For the outside edge only: a test, a main thread. Actors tell."""
        try:
            return self._host.ask(message, timeout=timeout_s)
        except pykka.Timeout as error:
            raise DeadlineExceeded(f"{self.name} did not answer in {timeout_s} s") from error
        except pykka.ActorDeadError as error:
            raise ActorGone(f"{self.name} has ended") from error

    def stop_soon(self) -> None:
        with contextlib.suppress(pykka.ActorDeadError, ActorGone):
            self._host.stop(block=False)

    def stop(self, timeout_s: float) -> bool:
        """Ask it to end and wait. False if it has not ended in time: that is a bug of the actor."""
        self.stop_soon()
        return self.ended(timeout_s)

    def ended(self, timeout_s: float) -> bool:
        """True once it has nothing more to do: what it held is released. An actor never asks this."""
        return self._gone.wait(timeout_s)

    @property
    def alive(self) -> bool:
        return self._host.is_alive()

    def let_go(self) -> None:
        """It has ended. Who still has its address, like a timer of an hour, keeps no more of it than the name."""
        self._host, self._gone = _NOBODY, _LONG_AGO

    def __repr__(self) -> str:
        return f"<{self.name}{'' if self.alive else ' (ended)'}>"


class _Nobody:
    """Where an actor was, by the methods that an address calls."""

    def tell(self, _: object) -> None:
        raise pykka.ActorDeadError

    def ask(self, _: object, timeout: float) -> object:  # noqa: ARG002  # as pykka names it
        raise pykka.ActorDeadError

    def stop(self, *, block: bool) -> None:
        """It has."""

    def is_alive(self) -> bool:
        return False


_NOBODY = _Nobody()
_LONG_AGO = threading.Event()
_LONG_AGO.set()


class Start(Protocol):
    """How an actor is given a thread. `context` is bound to everything it logs."""

    def __call__(self, actor: Actor[Message], **context: str) -> Ref[Message]: ...


def start(actor: Actor[Message], **context: str) -> Ref[Message]:
    """Run an actor on a thread of its own. `context` is bound to everything it logs."""
    host = Host(actor, context)
    ref = actor.address
    host.enrol()
    try:
        host.run()
    except RuntimeError as error:  # "can't start new thread" leaves pykka with an actor that answers nobody
        pykka.ActorRegistry.unregister(host.actor_ref)
        actor.mailbox.close()
        host.actor_stopped.set()
        host.gone.set()
        raise TooManySessions(f"no thread for {actor.name}: {error}") from error
    return ref


class Host(pykka.ThreadingActor):
    """pykka's side of an actor: the thread, or what stands in for it, and the catch-all round every call."""

    use_daemon_thread = True  # an orderly stop is our own; a forgotten thread must not keep the process

    def __init__(self, actor: Actor[Any], context: dict[str, str]) -> None:
        super().__init__()
        self._actor = actor
        self._context = context
        self._failed = False
        self.gone = threading.Event()  # pykka's own is set before on_stop has run
        actor.mailbox = self.mailbox
        actor.address = Ref(self, actor.name)

    @staticmethod
    def _create_actor_inbox() -> Any:
        return Mailbox()

    @property
    def mailbox(self) -> Mailbox:
        inbox: Any = self.actor_inbox
        assert isinstance(inbox, Mailbox)  # noqa: S101  # we made it two methods above
        return inbox

    def enrol(self) -> None:
        """In pykka's list of those who live; an end takes it out."""
        pykka.ActorRegistry.register(self.actor_ref)

    def run(self) -> None:
        self._start_actor_loop()

    def _actor_loop(self) -> None:
        threading.current_thread().name = self._actor.name
        try:
            super()._actor_loop()
        finally:
            self.end()

    def _actor_loop_running(self) -> None:
        while not self.actor_stopped.is_set():
            self.handle(self.mailbox.get())

    def handle(self, envelope: Envelope[object]) -> None:
        """One message. Raised is only what is meant for who asked."""
        reply_to = envelope.reply_to
        try:
            response = self._handle_receive(envelope.message)
        except GreenroomError:
            if reply_to is None:
                raise
            reply_to.set_exception()
        else:
            if reply_to is not None:
                reply_to.set(response)

    def end(self) -> None:
        """After the last message: what it held is released, and its address is nobody's."""
        self.gone.set()
        self._actor.address.let_go()

    def on_start(self) -> None:
        structlog.contextvars.bind_contextvars(actor=self._actor.name, **self._context)
        try:
            self._actor.on_start()
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is reported and ends this actor only
            self._fail(error, None)

    def on_receive(self, message: Any) -> object:
        if self._failed:
            return None
        try:
            return contextvars.copy_context().run(self._actor.receive, message)  # what it binds ends with it
        except BaseException as error:  # noqa: BLE001  # pykka would stop every actor on SystemExit
            self._survive_or_fail(error, message)
            self._answer_asker(error)
            return None

    def _answer_asker(self, error: BaseException) -> None:
        """Who asked learns that it failed; who told is not there any more, and pykka must not hear of it."""
        if self.mailbox.asked:
            raise GreenroomError(f"{self._actor.name} failed: {type(error).__name__}: {error}") from error

    def _handle_receive(self, message: Any) -> Any:
        """A proxy's call is a message like any other: nobody is called by attribute."""
        return self._stop() if isinstance(message, _ActorStop) else self.on_receive(message)

    def on_stop(self) -> None:
        left = self.mailbox.close()
        if left and not self._failed:
            log.warning("actor.stopped_with_messages", kinds=sorted({type(one).__name__ for one in left}))
        if self._failed:
            return
        try:
            self._actor.on_stop()
        except BaseException:  # an ending actor ends
            log.exception("actor.stop_failed")

    def _survive_or_fail(self, error: BaseException, message: object) -> None:
        if self._actor.fatal:
            self._fail(error, message)
        else:
            log.error("actor.message_failed", kind=type(message).__name__, exc_info=error)

    def _fail(self, error: BaseException, message: object) -> None:
        self._failed = True
        log.error("actor.failed", during=type(message).__name__, exc_info=error)
        text = "".join(traceback.format_exception(error))
        failure = Failure(error, message, text, self.mailbox.close())
        try:
            self._actor.on_failure(failure)
        except BaseException:  # nothing further up could do anything
            log.exception("actor.failure_unreported")
        self._stop()
