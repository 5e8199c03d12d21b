"""Attach over the real socket: cursors, two clients on one conversation, a snapshot and what is live joined."""

import itertools
import random
import time
from typing import Any

import pytest

from tests.support.control_peer import ControlPeer, Subscription
from tests.support.daemon_process import DaemonProcess


def test_a_cursor_says_where_to_begin(client: ControlPeer) -> None:
    one = client.create()
    client.send(one, "say hi")
    last = client.call("conversation/get", conversation=one)["seq"]
    whole, some, none = client.attach(one), client.attach(one, last - 2), client.attach(one, last)
    fresh = client.attach(one, None)
    for watching in (whole, some, none, fresh):
        client.wait_live(watching)
        assert watching.answer["seq"] == last
    assert whole.seqs == list(range(1, last + 1))
    assert some.seqs == [last - 1, last]
    assert none.seqs == fresh.seqs == []
    client.send(one, "say more")
    for watching in (whole, some, none, fresh):
        client.wait_type(watching, "task_complete", 1 if watching is not whole and watching is not some else 2)
    assert none.seqs == fresh.seqs
    assert whole.stored[-1] == some.stored[-1] == none.stored[-1]


def test_a_cursor_ahead_of_the_history_is_refused_and_told_where_its_end_is(client: ControlPeer) -> None:
    one = client.create()
    refusal = client.refusal("conversation/attach", conversation=one, after=2)
    assert (refusal.name, refusal.data["last_seq"]) == ("invalid_input", 1)
    assert client.call("conversation/get", conversation=one)["readers"] == []


def test_two_clients_see_the_same_events_in_the_same_order(client: ControlPeer, other: ControlPeer) -> None:
    one = client.create()
    mine, theirs = client.attach(one), other.attach(one, read_only=True)
    readers = client.call("conversation/get", conversation=one)["readers"]
    assert sorted(reader["read_only"] for reader in readers) == [False, True]
    client.send(one, "words one two three")
    other.send(one, "say four")
    for peer, watching in ((client, mine), (other, theirs)):
        peer.wait_type(watching, "task_complete", 2)
    assert mine.stored == theirs.stored
    assert text_of(mine) == text_of(theirs)


def test_the_events_of_a_turn_come_before_the_answer_that_tells_of_its_end(client: ControlPeer) -> None:
    one = client.create()
    watching = client.attach(one)
    for number in range(10):
        sent = client.send(one, f"say {number}")
        assert watching.seqs[-1] >= sent["seq"]


def test_a_detached_reader_hears_nothing_more(client: ControlPeer) -> None:
    one = client.create()
    watching = client.attach(one)
    client.wait_live(watching)
    client.call("conversation/detach", subscription=watching.name)
    before = len(watching.slices)
    client.send(one, "say into the void")
    assert len(watching.slices) == before
    assert client.refusal("conversation/detach", subscription=watching.name).name == "invalid_input"
    assert client.call("conversation/get", conversation=one)["readers"] == []


def test_subscriptions_of_a_client_end_with_it(client: ControlPeer, daemon: DaemonProcess) -> None:
    one = client.create()
    leaving = daemon.connect("leaving")
    leaving.attach(one)
    leaving.start("conversation/send", conversation=one, prompt="say it; hold left", wait=True)
    watching = client.attach(one)
    client.wait_type(watching, "task_started")
    leaving.close()
    deadline = time.monotonic() + 10
    while len(client.call("conversation/get", conversation=one)["readers"]) != 1:
        assert time.monotonic() < deadline, "its subscription is still there"
    assert client.call("conversation/get", conversation=one)["state"] == "running", "the turn goes on"
    client.call("conversation/interrupt", conversation=one)


# --- joining in the middle ----------------------------------------------------------------------------------------


def text_of(watching: Subscription) -> dict[str, str]:
    """The text of each message in a client that shows deltas and replaces them by the finished item."""
    said: dict[str, str] = {}
    for envelope in watching.envelopes:
        event = envelope["event"]
        if event["type"] == "agent_message_delta":
            said[event["item_id"]] = said.get(event["item_id"], "") + event["delta"]
        elif event["type"] == "agent_message":
            said[event["item_id"]] = event["message"]
    return said


def check_deltas(watching: Subscription) -> None:
    """Assert that a reader who joins in the middle gets every piece of an unfinished item exactly once."""
    pieces: dict[str, str] = {}
    for envelope in watching.envelopes:
        event = envelope["event"]
        if event["type"] == "agent_message_delta":
            assert envelope["seq"] is None
            pieces[event["item_id"]] = pieces.get(event["item_id"], "") + event["delta"]
        elif event["type"] == "agent_message" and event["item_id"] in pieces:
            assert event["message"].startswith(pieces[event["item_id"]]), "a gap or a double within a message"
            if watching.answer["seq"] < envelope["seq"]:
                del pieces[event["item_id"]]


def join_at_every_moment(daemon: DaemonProcess, client: ControlPeer, joiners: int, pause_s: float) -> None:
    one = client.create()
    first = client.attach(one)
    prompt = "; then; ".join(
        f"slow 1; words {' '.join(f'r{reply}w{word}' for word in range(25))}; call update_plan "
        '{"plan":[{"step":"s","status":"pending"}]}'
        for reply in range(4)
    )
    sent = client.start("conversation/send", conversation=one, prompt=prompt, wait=True)
    chance, joined = random.Random(5), []
    with daemon.connect("joiner") as joiner:
        for number in range(joiners):
            known = first.seqs[-1] if first.seqs else 0
            after = [0, None, known, chance.randrange(known + 1)][number % 4]
            joined.append((after, joiner.attach(one, after)))
            time.sleep(pause_s * chance.random())  # a moment that is not always the same one
        end = client.answer(sent)["seq"]
        client.wait_seq(first, end)
        for after, watching in joined:
            start = watching.answer["seq"] if after is None else after
            if start < end:
                joiner.wait_seq(watching, end)
            assert watching.seqs == list(range(start + 1, end + 1)), "a gap or a double"
            assert watching.stored == [envelope for envelope in first.stored if envelope["seq"] > start]
            check_deltas(watching)


def test_a_reader_that_joins_while_a_turn_streams_has_no_gap_and_no_double(
    daemon: DaemonProcess, client: ControlPeer
) -> None:
    join_at_every_moment(daemon, client, 30, 0.003)


@pytest.mark.soak(takes_s=110)
def test_readers_that_join_at_two_thousand_moments_have_no_gap_and_no_double(
    daemon: DaemonProcess, client: ControlPeer
) -> None:
    for _ in range(20):
        join_at_every_moment(daemon, client, 100, 0.002)


def test_a_reader_that_returns_with_its_cursor_again_and_again_has_every_event_once(
    daemon: DaemonProcess, client: ControlPeer
) -> None:
    one = client.create()
    sent = client.start(
        "conversation/send",
        conversation=one,
        prompt="; then; ".join(
            f'call update_plan {{"plan":[{{"step":"{n}","status":"pending"}}]}}' for n in range(60)
        ),
        wait=True,
    )
    seen: list[dict[str, Any]] = []
    for number in itertools.count():
        with daemon.connect(f"life {number}") as life:
            after = seen[-1]["seq"] if seen else 0
            watching = life.attach(one, after)
            life.wait_seq(watching, after + 1)
            seen += watching.stored
        if seen[-1]["event"]["type"] == "task_complete":
            break
    assert [envelope["seq"] for envelope in seen] == list(range(1, client.answer(sent)["seq"] + 1))


def test_a_long_history_comes_in_pages_and_then_live(client: ControlPeer) -> None:
    one = client.create()
    client.send(
        one, "; then; ".join(f'call update_plan {{"plan":[{{"step":"{n}","status":"pending"}}]}}' for n in range(200))
    )
    watching = client.attach(one)
    client.wait_live(watching)
    last = client.call("conversation/get", conversation=one)["seq"]
    assert last > 300
    assert watching.seqs == list(range(1, last + 1))
    assert len(watching.slices) > 2
    assert [slice_["live"] for slice_ in watching.slices].count(True) == 1
    assert not any(slice_["lagged"] for slice_ in watching.slices), (
        "it never was up to date, so it did not fall behind"
    )
