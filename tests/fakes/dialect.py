"""A dialect for tests: echoes lines, writes slices as their texts, and does what a script says for lines it names."""

from collections.abc import Callable, Iterable

from actors.messages.effects import Deliver, EndSubscription
from actors.vocabulary.ids import Caller
from transports.dialect import Action, Client, Write

Script = Callable[[bytes], Iterable[Action] | None]


def echo_all(_: bytes) -> None:
    """No script: everything is echoed."""


class EchoDialect:
    def __init__(self, client: Client, script: Script = echo_all) -> None:
        self.client = client
        self._script = script

    def start(self) -> Iterable[Action]:
        return ()

    def receive_line(self, line: bytes) -> Iterable[Action]:
        scripted = self._script(line)
        return (Write(line + b"\n"),) if scripted is None else scripted

    def refuse_line(self, reason: str) -> Iterable[Action]:
        return (Write(f"skipped: {reason}\n".encode()),)

    def take_answer(self, caller: Caller, answer: object) -> Iterable[Action]:
        return (Write(f"answer {caller.request}: {type(answer).__name__}\n".encode()),)

    def take_slice(self, deliver: Deliver) -> Iterable[Action]:
        records = deliver.slice.records
        if not records:
            return ()
        return (Write(b"".join(record.body + b"\n" for record in records), ready=deliver.subscription),)

    def end_subscription(self, end: EndSubscription) -> Iterable[Action]:
        return (Write(f"ended: {end.news.reason}\n".encode()),)

    def wake(self, name: str) -> Iterable[Action]:
        return (Write(f"woken: {name}\n".encode()),)

    def reconfigure(self) -> Iterable[Action]:
        return (Write(b"reconfigured\n"),)

    def announce(self, text: str) -> Iterable[Action]:
        return (Write(f"announced: {text}\n".encode()),)
