"""Connection ids to connections."""

import threading

from actors.answers import Done
from actors.effects import ReplyTo
from actors.errors import ActorGone
from actors.ids import Caller, ConnectionId
from tests.transports.house import PATIENCE_S, Probe
from transports.dialect import Client
from transports.messages import Dismissed, Posted
from transports.switchboard import Switchboard

ME, OTHER = ConnectionId("me"), ConnectionId("other")
REPLY = ReplyTo(Caller(ME, 1), Done())


def test_what_is_posted_reaches_the_connection_it_is_for() -> None:
    switchboard, mine, others = Switchboard(), Probe(), Probe()
    switchboard.join(Client(ME), mine)
    switchboard.join(Client(OTHER), others)
    switchboard.post(ME, REPLY)
    assert mine.expect(Posted) == Posted(REPLY)
    assert others.empty


def test_a_connection_that_is_gone_or_never_was_swallows() -> None:
    switchboard = Switchboard()
    switchboard.post(ME, REPLY)
    switchboard.join(Client(ME), Probe(ActorGone("gone")))
    switchboard.post(ME, REPLY)
    switchboard.leave(ME)
    switchboard.leave(ME)
    assert not switchboard.dismiss(ME, "why")


def test_dismissing_all_tells_everybody() -> None:
    switchboard, probes = Switchboard(), [Probe(), Probe()]
    for connection, probe in zip((ME, OTHER), probes, strict=True):
        switchboard.join(Client(connection), probe)
    switchboard.dismiss_all("the daemon stops")
    assert [probe.expect(Dismissed).reason for probe in probes] == ["the daemon stops"] * 2


class Slow:
    """An address in whose tell a poster can be held."""

    def __init__(self) -> None:
        self.entered, self.go_on = threading.Event(), threading.Event()
        self.told = 0

    def tell(self, _: object) -> None:
        self.entered.set()
        assert self.go_on.wait(PATIENCE_S)
        self.told += 1


def test_when_a_connection_has_left_nobody_is_in_the_middle_of_telling_it_something() -> None:
    switchboard, slow = Switchboard(), Slow()
    switchboard.join(Client(ME), slow)
    found_before = switchboard._lines[ME]  # as by a poster that was interrupted right after its look
    posting = threading.Thread(target=switchboard.post, args=(ME, REPLY))
    posting.start()
    assert slow.entered.wait(PATIENCE_S)
    leaving = threading.Thread(target=switchboard.leave, args=(ME,))
    leaving.start()
    leaving.join(0.05)
    assert leaving.is_alive(), "it left while something was being told"
    slow.go_on.set()
    leaving.join(PATIENCE_S)
    posting.join(PATIENCE_S)
    assert slow.told == 1
    assert not found_before.tell(Posted(REPLY))
    assert slow.told == 1
