"""The protocol between a connection and its wire: the owner's calls, and the news for the owner.

Implemented over descriptors: sockets, standard input and output. The owner calls on its own thread, which is the
loop's, and nothing waits.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from actors.messages.conversation import Address
from transports.framing import Line

HIGH_WATER = 256 * 1024  # bytes to write; beyond it nothing is read: a client that reads no answers asks in vain
LOW_WATER = 64 * 1024
WRITE_LIMIT = 64 * 1024 * 1024  # bytes to write; four of the longest lines. Beyond it the client is cut off
LINES = 64  # handed over at once: a read may bring thousands, and the owner has other news to handle
HANGUP_GRACE_S = 5.0  # how long written bytes may take to leave after a hang-up


class Parcel(Struct, frozen=True):
    """Bytes to write, and a callback for when the last byte was handed over; it never waits."""

    data: bytes
    on_sent: Callable[[], None] | None = None


class LinesArrived(Struct, frozen=True):
    """Lines, in order. The next come after `take_more`."""

    lines: tuple[Line, ...]


class InputEnded(Struct, frozen=True):
    """The client has closed its writing side but may still read, for `linger_s` if that is set."""

    linger_s: float | None = None


class WireClosed(Struct, frozen=True):
    """The wire is closed. Sent once, also if the owner closed it; no news follows it."""

    reason: str


WireNews = LinesArrived | InputEnded | WireClosed


class Wire(Protocol):
    def open(self, owner: Address[WireNews]) -> None:
        """Begin to read, with news to this owner."""
        ...

    def hand_to(self, owner: Address[WireNews]) -> None:
        """Hand the news to a new owner. Called by the old owner while it handles some."""
        ...

    def write(self, parcels: Sequence[Parcel], *, take_more: bool = False) -> None:
        """Write in order. `take_more`: the lines handed over before are done with."""
        ...

    def hang_up(self, reason: str) -> None:
        """Close when everything written has left, or the grace is over."""
        ...

    def cut_off(self, reason: str) -> None:
        """Close now."""
        ...

    @property
    def unsent_bytes(self) -> int:
        """Bytes that wait to leave."""
        ...
