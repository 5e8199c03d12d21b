"""A dialect of your own, on the kit: lines that people type. Run it and write `help`.

A dialect turns lines into questions to conversations, and answers and events into lines. It is a pure object: the
connection that owns it does all input and output. Each verb is a script, which asks, gets the answer and goes on.
"""

import sys
from collections.abc import Callable, Iterable
from uuid import uuid4

from actors.messages import conversation as m
from actors.messages.effects import Deliver, EndSubscription
from actors.messages.routing import Create
from actors.vocabulary.answers import TurnResult
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import Caller, ConversationId, RequestId, SubscriptionId
from actors.vocabulary.items import TextItem
from supervisor.daemon.embedded import serve
from transports.dialect import Action, Client, Dialect, Write
from transports.dialects.kit.client_state import ClientState
from transports.dialects.kit.script import Script, ask, command, conversation_named, look_up
from transports.supervisor_requests import MakeSettings

Verb = Callable[[ClientState, str], Script[str] | str]


def new(_: ClientState, name: str) -> Script[str]:
    """New [NAME]: begin a conversation."""
    made = yield from ask(MakeSettings())
    begun = yield from look_up(Create(ConversationId(str(uuid4())), m.Begin(made.settings, name=name or None)))
    return begun.conversation


def say(state: ClientState, line: str) -> Script[str]:
    """Say NAME WORDS: say something, and wait for the end of its turn."""
    name, _, words = line.partition(" ")
    conversation = yield from conversation_named(name)
    ended = yield from command(conversation, m.Send((TextItem(text=words),), await_end=True, by=state.client.label))
    return f"{ended.ending}: {ended.message}" if isinstance(ended, TurnResult) else "taken"


def stop(state: ClientState, name: str) -> Script[str]:
    """Stop NAME: interrupt its turn; answered when everything that it ran has ended."""
    conversation = yield from conversation_named(name)
    stopped = yield from command(conversation, m.Interrupt(state.client.label))
    return "stopped" if stopped.turn else "nothing ran"


def watch(state: ClientState, name: str) -> Script[str]:
    """Watch NAME: show each event from now on."""
    conversation = yield from conversation_named(name)
    subscription = SubscriptionId(f"{state.client.connection}/{state.scripts.number()}")
    yield from command(conversation, m.Attach(state.client.connection, subscription, after=None))
    return "watching"


def help_(_: ClientState, __: str) -> str:
    """help: this text."""
    return "\n".join(str(verb.__doc__) for verb in VERBS.values())


VERBS: dict[str, Verb] = {"new": new, "say": say, "stop": stop, "watch": watch, "help": help_}


class LineDialect(Dialect):
    def __init__(self, client: Client, _: object = None) -> None:
        self._state = ClientState(client)

    def receive_line(self, line: bytes) -> Iterable[Action]:
        word, _, rest = line.decode(errors="replace").strip().partition(" ")
        verb, number = VERBS.get(word, help_), self._state.scripts.number()
        refusal = self._state.requests.refusal(number, urgent=verb is stop)
        if refusal is not None:
            return _lines(refusal.message)
        self._state.requests.run(number, verb(self._state, rest.strip()), self._write_outcome)
        return self._state.take_actions()

    def _write_outcome(self, _: RequestId, outcome: object) -> None:
        text = f"error: {outcome.message}" if isinstance(outcome, GreenroomError) else str(outcome)
        self._state.do(*_lines(text))

    def take_answer(self, caller: Caller, given: object) -> Iterable[Action]:
        self._state.scripts.take_answer(caller, given)
        return self._state.take_actions()

    def take_slice(self, deliver: Deliver) -> Iterable[Action]:
        text = "".join(f"  {record.seq} {record.type}\n" for record in deliver.slice.records)
        return (Write(text.encode(), ready=deliver.subscription),) if text else ()

    def end_subscription(self, end: EndSubscription) -> Iterable[Action]:
        return _lines(f"not watching any more: {end.news.reason}")

    def refuse_line(self, reason: str) -> Iterable[Action]:
        return _lines(f"error: {reason}")

    def announce(self, text: str) -> Iterable[Action]:
        return _lines(text)

    def start(self) -> Iterable[Action]:
        return _lines("write `help` for help")


def _lines(text: str) -> tuple[Action, ...]:
    return (Write(f"{text}\n".encode()),)


if __name__ == "__main__":
    sys.exit(serve({}, LineDialect))
