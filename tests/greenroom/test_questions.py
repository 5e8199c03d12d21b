"""Questions that a program answers as they come: all of them, each once, in both clients, over a killed daemon."""

import asyncio
import json
import queue
import threading
from typing import Any

import pytest

import greenroom
from actors.vocabulary.events import APPROVAL_REQUESTED
from greenroom.record import KINDS, QuestionEvent
from supervisor.cli.kit.approval_text import row_of
from tests.greenroom.test_async import on_a_loop
from tests.support.daemon_process import DaemonProcess

WAIT_S = 20.0
BASE = {"call_id": "c", "approval_id": "a@c", "item_id": "i", "reason": None, "outside_sandbox": True}
SUBJECTS: tuple[dict[str, Any], ...] = (
    {"kind": "command", "command": ["bash", "-lc", "rm -r x"], "cwd": "/w"},
    {"kind": "files", "changes": {"/w/a": {"add": {"content": "x"}}, "/w/b": "delete"}},
    {"kind": "tool", "server": "s", "tool": "t", "arguments": '{"a": 1}'},
    {"kind": "form", "server": "s", "message": "which?", "fields": [], "form": []},
    {"kind": "other"},
)
AGENT_CALL = {"title": "a page", "sort": "fetch", "places": [], "arguments": ""}


@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: str(subject["kind"]))
def test_a_question_has_the_id_and_the_what_of_the_command_line(subject: dict[str, Any]) -> None:
    call = AGENT_CALL if subject["kind"] == "other" else None
    asked = {"type": APPROVAL_REQUESTED, **BASE, "subject": subject, "agent_call": call}
    question = KINDS[APPROVAL_REQUESTED].from_json({"conversation": "c", "seq": 1, "ts": 1.0, **asked})
    assert isinstance(question, QuestionEvent)
    row = row_of({"conversation": "c", **asked})
    assert (question.id, question.what) == (row["id"], row["what"])


def test_every_question_is_handed_over_once_those_that_are_open_first(client: greenroom.Client) -> None:
    for name in ("one", "two"):
        client.create(name)
        client.send(name, "ask true")
    seen: queue.Queue[greenroom.OpenQuestion[None]] = queue.Queue()
    while len(client.approvals()) < 2:
        pass

    def answer(question: greenroom.OpenQuestion[None]) -> None:
        question.answer("denied", reason=f"no to {question.what}")
        seen.put(question)

    with client.on_question(answer):
        turn = client.run("ask true")
        found = [seen.get(timeout=WAIT_S) for _ in range(3)]
    assert turn.message is not None
    assert "no to bash -lc true" in turn.message
    assert len({one.id for one in found}) == 3
    assert {client.get(one).pending == [] for one in ("one", "two")} == {True}
    assert found[2].event.conversation == turn.conversation == found[2].conversation
    assert seen.empty()
    client.send("one", "ask true")  # after the watch nobody answers
    while not client.approvals():
        pass
    assert seen.empty()


def test_a_mistake_in_the_function_is_reported_and_the_next_question_comes(
    client: greenroom.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: queue.Queue[threading.ExceptHookArgs] = queue.Queue()
    monkeypatch.setattr(threading, "excepthook", reported.put)

    def answer(question: greenroom.OpenQuestion[None]) -> None:
        if reported.empty():
            raise ZeroDivisionError("my mistake")
        question.answer("denied")

    with client.on_question(answer):
        client.create("one")
        client.send("one", "ask true")
        told = reported.get(timeout=WAIT_S)
        assert isinstance(told.exc_value, ZeroDivisionError)
        reported.put(told)
        assert len(client.approvals("one")) == 1  # it stays open
        assert client.run("ask true").message


def test_a_question_is_handed_over_once_though_the_daemon_is_killed(daemon: DaemonProcess) -> None:
    seen: queue.Queue[str] = queue.Queue()
    with greenroom.Client() as client, client.on_question(lambda question: seen.put(question.id)):
        client.create("one")
        client.send("one", "ask true")
        first = seen.get(timeout=WAIT_S)
        daemon.kill()
        daemon.start()
        client.create("two")
        client.send("two", "ask true")
        assert seen.get(timeout=WAIT_S) != first
        client.answer(first, "denied")
        assert seen.empty()


def test_a_watch_is_closed_by_its_own_function(client: greenroom.Client) -> None:
    closed = threading.Event()

    def close(_: object) -> None:
        watches[0].close()
        closed.set()

    watches = [client.on_question(close)]
    client.create("one")
    client.send("one", "ask true")
    assert closed.wait(WAIT_S)
    client.close()


def test_a_client_is_closed_by_the_function_of_its_watch(client: greenroom.Client) -> None:
    closed = threading.Event()

    def close(question: greenroom.OpenQuestion[None]) -> None:
        client.close()
        closed.set()
        question.answer("approved")  # ClientClosed is no mistake of the function

    client.on_question(close)
    client.create("one")
    client.send("one", "ask true")
    assert closed.wait(WAIT_S)


# --- asyncio ----------------------------------------------------------------------------------------------------


@on_a_loop
async def test_coroutines_answer_side_by_side(client: greenroom.AsyncClient) -> None:
    both = asyncio.Barrier(2)

    async def answer(question: greenroom.OpenQuestion[Any]) -> None:
        await both.wait()  # held up for ever if one came after the other
        await question.answer("denied", reason=question.what)

    async with asyncio.timeout(WAIT_S), client.on_question(answer):
        turns = await asyncio.gather(client.run("ask true"), client.run("ask true"))
    assert all("bash -lc true" in str(turn.message) for turn in turns)


@on_a_loop
async def test_a_mistake_goes_to_the_loop_and_closing_cancels_what_is_handled(client: greenroom.AsyncClient) -> None:
    told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.put_nowait(context))

    def wrong(_: greenroom.OpenQuestion[Any]) -> None:
        raise ZeroDivisionError("my mistake")

    async def for_ever(_: greenroom.OpenQuestion[Any]) -> None:
        handled.set()
        await asyncio.Event().wait()

    handled = asyncio.Event()
    client.on_question(wrong)
    client.on_question(for_ever)
    await client.create("one")
    await client.send("one", "ask true")
    context = await asyncio.wait_for(told.get(), WAIT_S)
    assert isinstance(context["exception"], ZeroDivisionError)
    assert json.dumps(context["message"]) == '"a handler of questions failed"'
    await asyncio.wait_for(handled.wait(), WAIT_S)
    await client.close()
    assert told.empty()
