"""Connection ids to connections."""

from actors.messages.effects import ReplyTo
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import ActorGone
from actors.vocabulary.ids import Caller, ConnectionId
from tests.transports.house import Probe
from transports.dialect import Client
from transports.messages import ConnectionDismissed, NewsPosted
from transports.switchboard import Switchboard

ME, OTHER = ConnectionId("me"), ConnectionId("other")
REPLY = ReplyTo(Caller(ME, 1), Done())


def test_a_posted_message_reaches_its_connection() -> None:
    switchboard, mine, others = Switchboard(), Probe(), Probe()
    switchboard.join(Client(ME), mine)
    switchboard.join(Client(OTHER), others)
    switchboard.post(ME, REPLY)
    assert mine.expect(NewsPosted) == NewsPosted(REPLY)
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
    assert [probe.expect(ConnectionDismissed).reason for probe in probes] == ["the daemon stops"] * 2
