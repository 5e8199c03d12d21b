"""Methods of the control API that the command line needs beyond one conversation, over the daemon's real socket."""

from collections.abc import Iterator
from unittest.mock import patch

import pytest

from supervisor.cli.kit.client import Control, RequestRefused
from supervisor.journal import SqliteJournal
from supervisor.services.approval_places import find_request
from tests.supervisor.cli.place import Place, a_place


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as made:
        made.run("up")
        yield made


@pytest.fixture
def control(place: Place) -> Iterator[Control]:
    with patch.dict("os.environ", place.env, clear=True), Control("test") as connected:
        yield connected


def test_events_read_gives_what_is_stored_anywhere_and_waits_for_it(place: Place, control: Control) -> None:
    start = control.call("events/read")
    assert start["events"] == []
    waiting = control.begin("events/read", after=start["cursor"], wait_s=20)
    conversation = place.new("say x")
    first = control.take_result(waiting)
    assert {event["conversation"] for event in first["events"]} == {conversation}
    assert first["events"][0]["event"]["type"] == "session_configured"
    assert not first["lagged"]
    place.at_rest(conversation)
    rest = control.call("events/read", after=first["cursor"])
    found = [event["seq"] for event in (*first["events"], *rest["events"])]
    assert found == list(range(1, len(found) + 1))


def test_events_read_refuses_to_wait_for_ever(control: Control) -> None:
    with pytest.raises(RequestRefused, match="less than or equal to 60"):
        control.call("events/read", after=0, wait_s=61)


def test_clients_list_tells_who_reads_what(place: Place, control: Control) -> None:
    conversation = place.new("say x")
    place.at_rest(conversation)
    control.call("conversation/attach", conversation=conversation, after=0, read_only=True)
    (me,) = [one for one in control.call("clients/list")["clients"] if one["you"]]
    (reads,) = me["attached"]
    assert reads["conversation"] == conversation
    assert reads["read_only"] is True
    assert reads["behind"] >= 0


def test_clients_list_does_not_wake_what_is_parked(place: Place) -> None:
    place.at_rest(place.new("say x"))
    place.run("down")
    place.run("up")
    with patch.dict("os.environ", place.env, clear=True), Control("test") as control:
        assert control.call("daemon/status")["registry"]["live"] == 0
        control.call("clients/list")
        assert control.call("daemon/status")["registry"]["live"] == 0


def test_approvals_list_says_since_when_and_the_oldest_comes_first(place: Place, control: Control) -> None:
    conversations = [place.asking() for _ in range(3)]
    rows: list[dict[str, object]] = []
    while len(rows) < len(conversations):  # the registry hears of a question a moment after its readers
        rows = control.call("approvals/list")["approvals"]
    assert [row["conversation"] for row in rows] == conversations
    times = [row["ts"] for row in rows]
    assert times == sorted(times, key=lambda ts: ts if isinstance(ts, float) else 0.0)
    (one,) = control.call("approvals/list", conversation=conversations[1])["approvals"]
    assert one["seq"] == rows[1]["seq"]
    for conversation in conversations:
        place.run("interrupt", conversation)


def test_a_question_far_back_is_found_and_an_unknown_one_is_not(place: Place) -> None:
    conversation = place.asking()
    (row,) = place.json("approvals", conversation, "--json")
    place.run("down")  # it waits on paper
    journal = SqliteJournal(place.home / "state" / "journal.sqlite3")
    try:
        found = find_request(journal, row["conversation"], row["id"])
        assert found is not None
        assert found[0] == row["seq"]
        assert find_request(journal, row["conversation"], row["id"][:-1]) is None
    finally:
        journal.close()
        place.run("up")
    assert place.json("approvals", conversation, "--json")[0]["id"] == row["id"]
    place.run("interrupt", conversation)
