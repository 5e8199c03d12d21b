"""Conversations over the real socket: made, found, talked to, copied, taken away."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.records import PAGE_BYTES
from tests.support.bridge import wait_until
from tests.support.control_peer import ControlPeer, Refused
from tests.support.daemon_process import DaemonProcess
from tests.support.history_files import exported, file_of, imported
from tests.support.model_server import ModelServer

NOBODY = "00000000-0000-4000-8000-00000000dead"


def stored(client: ControlPeer, conversation: str) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = client.call("conversation/history", conversation=conversation, limit=1000)[
        "events"
    ]
    return events


def listed(client: ControlPeer, **wish: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = client.call("conversation/list", limit=1000, **wish)["conversations"]
    return rows


# --- making and finding -------------------------------------------------------------------------------------------


def test_a_conversation_is_made_in_the_clients_directory_and_found_by_id_prefix_and_name(
    client: ControlPeer, daemon: DaemonProcess
) -> None:
    (daemon.home / "project").mkdir(exist_ok=True)
    made = client.call("conversation/create", name="findable", cwd="project", sandbox="workspace-write")
    one = made["conversation"]
    assert made["settings"]["cwd"] == str(daemon.home / "project")
    for reference in (one, one[:13], "findable"):
        assert client.call("conversation/resolve", reference=reference) == {"conversation": one}
        assert client.call("conversation/get", conversation=reference)["conversation"] == one
    (row,) = listed(client, name="findable")
    assert (row["conversation"], row["cwd"], row["seq"]) == (one, str(daemon.home / "project"), 1)


def test_a_directory_that_does_not_exist_is_accepted_with_a_warning(client: ControlPeer) -> None:
    made = client.call("conversation/create", cwd="/does/not/exist")
    assert made["settings"]["cwd"] == "/does/not/exist"
    assert "working directory '/does/not/exist' does not exist" in str(made["warnings"])


@pytest.mark.parametrize(
    ("params", "code", "says"),
    [
        ({"cwd": "/dev/null"}, "config", "/dev/null"),
        ({"provider": "nobody"}, "config", "nobody"),
        ({"profile": "nobody"}, "config", "nobody"),
        ({"config": {"approval_policy": "shrug"}}, "config", "approval_policy"),
        ({"config": {"a": [[[]]]}}, None, ""),
    ],
)
def test_an_invalid_conversation_is_refused_and_leaves_nothing(
    client: ControlPeer, params: dict[str, Any], code: str | None, says: str
) -> None:
    before = len(listed(client))
    if code is None:
        client.create(**params)
        return
    refusal = client.refusal("conversation/create", **params)
    assert refusal.name == code
    assert says in refusal.message
    assert len(listed(client)) == before


def test_a_name_is_taken_once_by_create_rename_fork_and_import(client: ControlPeer) -> None:
    one, two = client.create(name="unique"), client.create()
    assert client.refusal("conversation/create", name="unique").name == "name_taken"
    assert client.refusal("conversation/rename", conversation=two, name="unique").name == "name_taken"
    assert client.refusal("conversation/fork", conversation=two, name="unique").name == "name_taken"
    lines = exported(client, one)
    client.call("conversation/delete", conversation=one)
    client.call("conversation/rename", conversation=two, name="unique")
    assert refused(client, lines).name == "name_taken"
    client.call("conversation/rename", conversation=two, name=None)
    assert imported(client, lines) == {"conversation": one, "changed": []}
    assert client.call("conversation/resolve", reference="unique") == {"conversation": one}


def test_a_reference_that_means_nothing_or_two_is_refused(client: ControlPeer) -> None:
    for _ in range(20):
        client.create()
    ids = [row["conversation"] for row in listed(client)]
    prefix = next(one[:1] for one in ids if sum(other.startswith(one[:1]) for other in ids) > 1)
    assert client.refusal("conversation/get", conversation=prefix).name == "unknown_conversation", "too short"
    for digits in {one[:2] for one in ids}:
        if sum(other.startswith(digits) for other in ids) > 1:
            assert client.refusal("conversation/get", conversation=digits).name == "ambiguous_conversation"
            break
    for method in ("get", "history", "fork", "delete", "attach", "interrupt", "archive", "restart"):
        assert client.refusal(f"conversation/{method}", conversation=NOBODY).name == "unknown_conversation", method
    assert client.refusal("conversation/send", conversation=NOBODY, prompt="p").name == "unknown_conversation"


def test_pages_of_the_list_hold_everything_once(client: ControlPeer) -> None:
    made = {client.create(cwd="/") for _ in range(7)}
    shown, cursor = [], None
    while True:
        page = client.call("conversation/list", cwd="/", limit=3, cursor=cursor)
        shown += [row["conversation"] for row in page["conversations"]]
        assert len(page["conversations"]) <= 3
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert len(shown) == len(set(shown)) == page["total"]
    assert made <= set(shown)


def test_a_list_is_ordered_by_last_use_or_by_creation_or_as_it_was_asked_for(client: ControlPeer) -> None:
    first, second = client.create(name="first"), client.create(name="second")
    client.call("conversation/rename", conversation=first, name="first and last used")
    by_use = [row["conversation"] for row in listed(client)]
    by_creation = [row["conversation"] for row in listed(client, order="created")]
    assert by_use.index(first) < by_use.index(second)
    assert by_creation.index(second) < by_creation.index(first)
    named = listed(client, conversations=[second, NOBODY, first])
    assert [row["conversation"] for row in named] == [second, first]
    assert listed(client, conversations=[]) == []


def test_an_archived_conversation_is_listed_only_when_asked_for(client: ControlPeer) -> None:
    one = client.create(name="old")
    client.call("conversation/archive", conversation=one)
    assert listed(client, name="old") == []
    (row,) = listed(client, name="old", archived=True)
    assert row["archived"]
    assert row["state"] == "archived"
    client.call("conversation/archive", conversation=one, archived=False)
    assert [row["conversation"] for row in listed(client, name="old")] == [one]


# --- talking ------------------------------------------------------------------------------------------------------


def test_a_send_that_waits_is_answered_by_the_turns_end_and_one_that_does_not_when_it_is_stored(
    client: ControlPeer, model: ModelServer
) -> None:
    one = client.create()
    assert client.send(one, "say hello")["message"] == "hello"
    taken = client.send(one, "hold stored; say later", wait=False)
    assert taken["turn"]
    assert taken["duplicate"] is False
    assert client.call("conversation/get", conversation=one)["state"] == "running"
    assert client.refusal("conversation/send", conversation=one, prompt="p", if_busy="reject").name == "busy"
    queued = client.send(one, "say after", wait=False, if_busy="enqueue")
    assert (queued["turn"], queued["queued"]) == (None, 1)
    withdrawn = client.call("conversation/withdraw", conversation=one, input=queued["input"])
    assert withdrawn == {}
    assert client.refusal("conversation/withdraw", conversation=one, input=queued["input"]).code != 0
    model.open("stored")


def test_an_interrupt_is_answered_when_all_of_the_turn_is_gone(client: ControlPeer, other: ControlPeer) -> None:
    one = client.create()
    sent = client.start("conversation/send", conversation=one, prompt="say part; stall forever", wait=True)
    watching = other.attach(one)
    other.wait_for(lambda: "part" in str(watching.envelopes), "nothing was said")
    stopped = other.call("conversation/interrupt", conversation=one, reason="enough")
    assert (stopped["ending"], stopped["queued"]) == ("interrupted", 0)
    assert client.answer(sent)["ending"] == "interrupted"
    assert watching.types[-1] == "turn_aborted"
    assert other.call("conversation/interrupt", conversation=one) == {
        "turn": None,
        "ending": None,
        "queued": 0,
        "waiting": [],
    }


def test_several_are_interrupted_by_one_request_and_one_that_is_refused_keeps_none_of_the_others(
    client: ControlPeer,
) -> None:
    busy = [client.create() for _ in range(3)]
    idle = client.create()
    turns = [client.start("conversation/send", conversation=one, prompt="stall forever", wait=True) for one in busy]
    wait_until(
        lambda: {row["state"] for row in listed(client) if row["conversation"] in busy} == {"running"}, "no turn"
    )
    told = client.call("conversations/interrupt", conversations=[busy[0], idle, NOBODY])["stopped"]
    assert [each["conversation"] for each in told] == [busy[0], idle, NOBODY]
    assert (told[0]["ending"], told[1]["turn"], told[2]["error"]["code"]) == (
        "interrupted",
        None,
        "unknown_conversation",
    )
    everybody = client.call("conversations/interrupt", all=True)["stopped"]
    assert {each["conversation"]: each["ending"] for each in everybody}.items() >= {
        (busy[1], "interrupted"),
        (busy[2], "interrupted"),
    }
    assert [client.answer(turn)["ending"] for turn in turns] == ["interrupted"] * 3
    for neither in ({}, {"conversations": busy, "all": True}):
        assert client.refusal("conversations/interrupt", **neither).name == "invalid_input"


def test_a_queue_that_an_interrupt_paused_goes_on_when_somebody_says_so(client: ControlPeer) -> None:
    one = client.create()
    client.send(one, "stall forever", wait=False)
    later = client.start("conversation/send", conversation=one, prompt="say second", wait=True, if_busy="enqueue")
    watching = client.attach(one)
    client.wait_type(watching, "input_queued")
    assert client.call("conversation/interrupt", conversation=one)["queued"] == 1
    assert client.call("conversation/get", conversation=one)["paused"] is True
    client.call("conversation/resume_queue", conversation=one)
    assert client.answer(later)["message"] == "second"


def test_restart_is_for_a_conversation_that_failed(client: ControlPeer) -> None:
    assert client.refusal("conversation/restart", conversation=client.create()).name == "wrong_state"


def test_a_send_is_taken_back_while_it_runs_while_it_waits_and_when_it_is_over(client: ControlPeer) -> None:
    one = client.create()
    running = client.start("conversation/send", conversation=one, prompt="stall forever", wait=True)
    waiting = client.start("conversation/send", conversation=one, prompt="say q", wait=True, if_busy="enqueue")
    watching = client.attach(one)
    client.wait_type(watching, "input_queued")
    client.call("request/cancel", request=waiting)
    with pytest.raises(Exception, match="-31011"):
        client.answer(waiting)
    client.call("request/cancel", request=running)
    assert client.answer(running)["ending"] == "interrupted"
    client.call("request/cancel", request=running)
    assert client.send(one, "say fine")["message"] == "fine"
    assert "q" not in [event["event"].get("message") for event in stored(client, one)]


def ended_or_refused(client: ControlPeer, sent: int) -> str:
    try:
        return str(client.answer(sent)["ending"])
    except Refused as refused:
        return refused.name


def test_a_send_that_is_taken_back_at_once_is_answered_once_whatever_came_first(client: ControlPeer) -> None:
    one = client.create(name="raced")
    for number in range(20):
        reference = one if number % 2 else "raced"
        sent = client.start("conversation/send", conversation=reference, prompt="stall forever", wait=True)
        client.call("request/cancel", request=sent)
        assert ended_or_refused(client, sent) in {"interrupted", "cancelled"}
    assert client.send(one, "say fine")["message"] == "fine"
    assert client.strays.empty()


def test_a_key_stands_for_one_input_however_often_it_is_sent(
    client: ControlPeer, other: ControlPeer, model: ModelServer
) -> None:
    one = client.create()
    first = client.send(one, "hold keyed; say once", wait=False, key="k1")
    again = other.send(one, "say twice", wait=False, key="k1")
    assert (again["input"], again["turn"], again["duplicate"]) == (first["input"], first["turn"], True)
    waiting = client.start("conversation/send", conversation=one, prompt="say thrice", key="k1", wait=True)
    client.call("conversation/get", conversation=one)
    model.open("keyed")
    assert client.answer(waiting)["message"] == "once", "the first one's end"
    late = client.send(one, "say late", wait=False, key="k1")
    assert (late["turn"], late["duplicate"]) == (first["turn"], True), "its turn has ended"
    assert [event["event"]["type"] for event in stored(client, one)].count("task_started") == 1


def test_a_key_repeated_with_wait_is_answered_with_the_end_of_its_turn_in_every_later_life(home: Path) -> None:
    """However it ended, however much happened since, and whoever asks."""
    with DaemonProcess(home) as daemon:
        client = daemon.connect()
        one = client.create()
        said = client.send(one, "say fine", key="good")
        request = client.start("conversation/send", conversation=one, prompt="count 5000", key="cut", wait=True)
        wait_until(lambda: client.call("conversation/get", conversation=one)["turn"] is not None, "no turn began")
        client.call("conversation/interrupt", conversation=one, reason="enough")
        cut = client.answer(request)
        lost = client.send(one, "count 5000", key="lost", wait=False)
        assert [each["ending"] for each in (said, cut)] == ["completed", "interrupted"]
        for end in (daemon.kill, daemon.end):
            again = daemon.connect("another")
            assert again.send(one, "say fine", key="good") == said
            assert again.send(one, "count 5000", key="cut") == cut
            daemon.hang_up()
            end()
            daemon.start()
        again = daemon.connect("another")
        assert again.send(one, "say fine", key="good") == said
        over = again.send(one, "count 5000", key="lost")
        assert (over["turn"], over["ending"]) == (lost["turn"], "lost")


# --- history ------------------------------------------------------------------------------------------------------


def test_history_comes_in_pages_that_join_without_gap_or_double(client: ControlPeer) -> None:
    one = client.create()
    for number in range(3):
        client.send(one, f"say {number}")
    whole, after, pages = stored(client, one), 0, []
    while True:
        page = client.call("conversation/history", conversation=one, after=after, limit=4)
        assert len(page["events"]) <= 4
        assert (page["first_seq"], page["last_seq"]) == (1, len(whole))
        pages += page["events"]
        if page["complete"]:
            break
        after = page["events"][-1]["seq"]
    assert pages == whole
    assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
    beyond = client.call("conversation/history", conversation=one, after=10_000)
    assert (beyond["events"], beyond["complete"]) == ([], True)


@pytest.mark.parametrize("cursor", ["after", "before"])
def test_a_page_of_long_events_has_few_of_them(client: ControlPeer, cursor: str) -> None:
    """Everybody waits while a page is encoded and written."""
    one = client.create()
    for _ in range(4):
        client.send(one, f"say {'x' * 100_000}")
    place, seen, complete = 1 << 60 if cursor == "before" else 0, 0, False
    while not complete:
        page = client.call("conversation/history", conversation=one, limit=1000, **{cursor: place})
        assert len(json.dumps(page["events"])) < PAGE_BYTES + 20_000  # envelopes
        place, complete = page["events"][0 if cursor == "before" else -1]["seq"], page["complete"]
        seen += len(page["events"])
    assert seen == page["last_seq"]


def test_history_can_be_paged_back_from_its_end(client: ControlPeer) -> None:
    one = client.create()
    for number in range(3):
        client.send(one, f"say {number}")
    whole, pages, before = stored(client, one), list[dict[str, Any]](), 1 << 60
    while True:
        page = client.call("conversation/history", conversation=one, before=before, limit=4)
        assert len(page["events"]) <= 4
        pages = page["events"] + pages
        if page["complete"]:
            break
        before = page["events"][0]["seq"]
    assert pages == whole
    assert client.call("conversation/history", conversation=one, before=1)["events"] == []
    refusal = client.refusal("conversation/history", conversation=one, before=3, after=0)
    assert "either after or before" in str(refusal)


# --- copies -------------------------------------------------------------------------------------------------------


def test_a_fork_has_the_history_up_to_its_point_and_goes_its_own_way(client: ControlPeer) -> None:
    one = client.create(name="source")
    client.send(one, "say first")
    at = client.call("conversation/get", conversation=one)["seq"]
    client.send(one, "say second")
    client.call("conversation/rename", conversation=one, name="renamed")
    fork = client.call("conversation/fork", conversation=one, at=at, name="branch")["conversation"]
    events = stored(client, fork)
    assert len(events) == at
    assert events[0]["event"]["forked_from"] == f"{one}@{at}"
    assert {event["conversation"] for event in events} == {fork}
    assert client.send(fork, "say third")["message"] == "third"
    assert "second" not in json.dumps(stored(client, fork))
    assert "third" not in json.dumps(stored(client, one))
    whole = client.call("conversation/fork", conversation="renamed")["conversation"]
    assert client.call("conversation/get", conversation=whole)["name"] is None, "not the name of its source"
    assert client.call("conversation/resolve", reference="renamed") == {"conversation": one}


def test_a_fork_inside_a_turn_or_beyond_the_end_is_refused(client: ControlPeer) -> None:
    one = client.create()
    end = client.send(one, "say first")["seq"]
    inside = client.refusal("conversation/fork", conversation=one, at=end - 1)
    assert inside.name == "wrong_state"
    beyond = client.refusal("conversation/fork", conversation=one, at=end + 1)
    assert (beyond.name, beyond.data["last_seq"]) == ("invalid_input", end)
    client.send(one, "stall forever", wait=False)
    assert client.refusal("conversation/fork", conversation=one).name == "wrong_state"
    assert client.call("conversation/fork", conversation=one, at=end)["conversation"]
    client.call("conversation/interrupt", conversation=one)


def test_an_export_can_be_imported_after_a_deletion_or_under_a_new_id(client: ControlPeer) -> None:
    one = client.create(name="traveller")
    client.send(one, "say before")
    lines = exported(client, one)
    here = refused(client, lines)
    assert here.name == "invalid_input"
    assert "exists already" in here.message
    copy = imported(client, lines, new_id=True)["conversation"]
    assert copy != one
    watching = client.attach(copy)
    client.wait_live(watching)
    assert {event["conversation"] for event in watching.envelopes} == {copy}
    assert watching.envelopes[0]["event"]["session_id"] == copy
    assert client.send(copy, "say after")["message"] == "after"
    assert client.call("conversation/get", conversation=copy)["name"] == "say-before"
    before = stored(client, one)
    client.call("conversation/delete", conversation=one)
    assert imported(client, lines) == {"conversation": one, "changed": []}
    before[0]["event"]["forked_from"] = f"{one}@{before[-1]['seq']}"
    assert stored(client, one) == before
    assert client.call("conversation/get", conversation="traveller")["conversation"] == one
    assert client.send(one, "say after")["message"] == "after"


def refused(client: ControlPeer, lines: list[str]) -> Refused:
    with file_of(lines) as file:
        return client.refusal("conversation/import", file=file)


def lines_of_a_deleted_one(client: ControlPeer) -> list[str]:
    one = client.create()
    client.send(one, "say something")
    lines = exported(client, one)
    client.call("conversation/delete", conversation=one)
    return lines


def broken(lines: list[str], what: str) -> list[str]:
    head = json.loads(lines[0])
    match what:
        case "nothing":
            return []
        case "a word":
            return ["hello"]
        case "no events":
            return lines[:1]
        case "a hole":
            return [*lines[:2], *lines[3:]]
        case "an event twice":
            return [*lines[:2], lines[1], *lines[2:]]
        case "the last is missing":
            return lines[:-1]
        case "an event of no kind":
            return [line.replace('"task_complete"', '"task_forgotten"') for line in lines]
        case "an event without what it needs":
            return [
                line.replace('"last_agent_message"', '"last_agent_massage"').replace('"model":', '"modal":')
                for line in lines
            ]
        case "not an object":
            return [*lines[:-1], "[]"]
        case "a checkpoint of nonsense":
            head["head"]["checkpoint"] = "AAAA"
            head["first_seq"] = 2
            return [json.dumps(head), *lines[2:]]
        case _:
            raise AssertionError(what)


@pytest.mark.parametrize(
    "what",
    [
        "nothing",
        "a word",
        "no events",
        "a hole",
        "an event twice",
        "the last is missing",
        "an event of no kind",
        "an event without what it needs",
        "not an object",
        "a checkpoint of nonsense",
    ],
)
def test_lines_that_are_no_conversation_are_refused_and_leave_nothing(client: ControlPeer, what: str) -> None:
    lines = lines_of_a_deleted_one(client)
    before = {row["conversation"] for row in listed(client, archived=True)}
    refusal = refused(client, broken(lines, what))
    assert refusal.name in {"invalid_input", "sequence_conflict"}, refusal
    assert {row["conversation"] for row in listed(client, archived=True)} == before


def test_a_head_that_lies_is_corrected_by_the_events(client: ControlPeer) -> None:
    lines = lines_of_a_deleted_one(client)
    head = json.loads(lines[0])
    head["head"].update(name="liar", state="running", tokens=10**9, checkpoint="AAAA", preview="lies")
    one = imported(client, [json.dumps(head), *lines[1:]])["conversation"]
    now = client.call("conversation/get", conversation=one)
    assert (now["state"], now["name"], now["preview"]) == ("idle", "say-something", "say something")
    assert client.send(one, "say well")["message"] == "well"


# --- going --------------------------------------------------------------------------------------------------------


def test_a_busy_conversation_is_not_deleted_and_an_idle_one_ends_its_subscriptions(
    client: ControlPeer, other: ControlPeer
) -> None:
    one = client.create(name="doomed")
    client.send(one, "stall forever", wait=False)
    assert client.refusal("conversation/delete", conversation=one).name == "wrong_state"
    assert client.call("conversation/get", conversation=one)["state"] == "running", "it goes on"
    client.call("conversation/interrupt", conversation=one)
    watching = other.attach(one)
    other.wait_live(watching)
    assert client.call("conversation/delete", conversation=one) == {"conversation": one}
    other.wait_ended(watching)
    assert watching.ended is not None
    assert "deleted" in watching.ended
    assert client.refusal("conversation/get", conversation=one).name == "unknown_conversation"
    assert client.refusal("conversation/history", conversation=one).name == "unknown_conversation"
    assert listed(client, name="doomed") == []
    assert client.create(name="doomed") != one, "its name is free"


def test_after_a_restart_deleted_conversations_are_gone_and_the_others_are_there(home: Path) -> None:
    with DaemonProcess(home) as daemon:
        client = daemon.connect()
        kept, gone = client.create(name="kept"), client.create()
        answer = client.send(kept, "say it", key="the key", wait=False)
        client.send(kept, "say more")
        client.call("conversation/delete", conversation=gone)
        whole = stored(client, kept)
        first = client.welcome["greenroom"]["instance"]
        daemon.hang_up()
        daemon.kill()
        daemon.start()
        client = daemon.connect()
        assert client.welcome["greenroom"]["instance"] != first
        assert [row["conversation"] for row in listed(client)] == [kept]
        assert stored(client, kept) == whole
        again = client.send(kept, "say it", key="the key", wait=False)
        assert (again["input"], again["duplicate"]) == (answer["input"], True)
        watching = client.attach(kept, len(whole) - 2)
        client.wait_live(watching)
        assert watching.seqs == [len(whole) - 1, len(whole)]


def test_a_conversation_larger_than_a_message_goes_out_and_in(client: ControlPeer) -> None:
    one = client.create(name="large")
    client.send(one, "say hello")
    header, *events = exported(client, one)
    head, last = json.loads(header), json.loads(events[-1])
    large = []
    for number in range(1, 21):
        body = {"type": "background_event", "message": chr(96 + number) * 900_000}
        event = {"seq": last["seq"] + number, "ts": last["ts"], "turn": None, "type": body["type"], "body": body}
        large.append(json.dumps(event, separators=(",", ":")))
    head["head"]["last_seq"] += len(large)
    client.call("conversation/delete", conversation=one)
    whole = [json.dumps(head), *events, *large]
    assert imported(client, whole) == {"conversation": one, "changed": []}
    assert [json.loads(line) for line in exported(client, one)[2:]] == [json.loads(line) for line in whole[2:]]


def test_an_export_fills_an_empty_file_and_neither_makes_nor_replaces_one(
    client: ControlPeer, tmp_path: Path
) -> None:
    one = client.create()
    empty, full, link, pipe = (tmp_path / name for name in ("empty", "full", "link", "pipe"))
    empty.touch()
    full.write_text("words")
    link.symlink_to(empty)
    os.mkfifo(pipe)
    for path in (full, link, pipe, tmp_path, tmp_path / "missing", Path("relative")):
        refusal = client.refusal("conversation/export", conversation=one, file=str(path))
        assert (refusal.name, refusal.message.partition(":")[0]) == ("invalid_input", "file"), path
    assert (full.read_text(), empty.read_bytes()) == ("words", b"")
    assert not (tmp_path / "missing").exists()
    unknown = client.refusal("conversation/export", conversation=NOBODY, file=str(empty))
    assert (unknown.name, empty.read_bytes()) == ("unknown_conversation", b"")
    assert client.call("conversation/export", conversation=one, file=str(empty))["lines"] == 2
    assert client.refusal("conversation/export", conversation=one, file=str(empty)).name == "invalid_input"


def test_an_import_reads_an_ordinary_file_alone(client: ControlPeer, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, tmp_path / "missing", Path("relative")):
        refusal = client.refusal("conversation/import", file=str(path))
        assert (refusal.name, refusal.message.partition(":")[0]) == ("invalid_input", "file"), path


def test_an_import_whose_own_name_is_taken_here_gets_another_with_its_next_message(client: ControlPeer) -> None:
    first = client.create()
    client.send(first, "say unheard")
    lines = exported(client, first)
    client.call("conversation/delete", conversation=first)
    other = client.create()
    client.send(other, "say unheard")
    assert client.call("conversation/get", conversation="say-unheard")["conversation"] == other
    assert imported(client, lines)["conversation"] == first
    assert client.call("conversation/get", conversation=first)["name"] is None
    client.send(first, "say more")
    assert client.call("conversation/get", conversation="say-unheard-2")["conversation"] == first
