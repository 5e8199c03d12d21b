"""An event that is too long is stored shorter: of the same type, with its ids, and saying what is missing."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, InputId, ItemId
from actors.vocabulary.items import ImageItem, TextItem
from actors.vocabulary.settings import BusyPolicy, Settings
from actors.vocabulary.shortening import outline, shorten_json
from tests.support.work import command, command_ended

MOST = 65_536
LONG = 'text of "any" kind, ünd 🦀\n' * 4_000
CALL, ITEM = CallId("call"), ItemId("item")
ITEMS = (TextItem(text=LONG), ImageItem(image_url="data:," + "A" * 100_000))
PLACES = {f"/file-{number}": {"update": ev.UpdatedFile(unified_diff=LONG)} for number in range(5)}
LARGE: tuple[ev.DurableEvent, ...] = (
    ev.SessionConfigured(
        session_id=ConversationId("c"), model="m", settings=Settings(model="m", cwd=Path("/"), base_instructions=LONG)
    ),
    ev.ConversationFailed(message=LONG, traceback=LONG),
    ev.InputQueued(input_id=InputId("i"), policy=BusyPolicy.STEER, items=ITEMS),
    ev.InputEdited(input_id=InputId("i"), items=ITEMS),
    ev.InputWithdrawn(input_id=InputId("i"), reason=LONG),
    ev.UserMessage(message=LONG, items=ITEMS, input_id=InputId("i")),
    ev.TaskComplete(last_agent_message=LONG),
    ev.ErrorEvent(message=LONG),
    ev.AgentMessage(message=LONG, item_id=ITEM),
    ev.AgentReasoning(text=LONG, item_id=ITEM),
    ev.ModelReasoning(item_id=ITEM, id="r", summary=(LONG,) * 9, encrypted_content=LONG),
    ev.ToolCall(call_id=CALL, item_id=ITEM, name="shell", arguments=LONG),
    ev.ToolOutput(call_id=CALL, item_id=ITEM, output=LONG),
    ev.ApprovalRequested(call_id=CALL, subject=command(*("x",) * 30_000), reason=LONG, approval_id=ApprovalId("a")),
    ev.ApprovalRequested(call_id=CALL, subject=ev.FilesSubject(changes=PLACES), approval_id=ApprovalId("a")),
    ev.WorkBegan(call_id=CALL, subject=command("sh", "-c", LONG), item_id=ITEM),
    command_ended("\x00" * 90_000, LONG, call=CALL, item=ITEM),
    ev.WorkBegan(
        call_id=CALL,
        auto_approved=True,
        subject=ev.FilesSubject(
            changes={f"/{'d/' * 50}{number}": {"add": {"content": "x"}} for number in range(2_000)}
        ),
        item_id=ITEM,
    ),
    ev.WorkEnded(call_id=CALL, kind="files", output=LONG, status="completed", item_id=ITEM),
    ev.TurnDiff(unified_diff=LONG),
    ev.PlanUpdate(plan=tuple(ev.PlanStep(step="x" * 100, status="pending") for _ in range(2_000)), item_id=ITEM),
)


@pytest.mark.parametrize("event", LARGE, ids=lambda event: event.type)
def test_an_event_of_any_type_is_shortened_to_one_of_its_type_that_can_be_read(event: ev.DurableEvent) -> None:
    body = event.model_dump_json().encode()
    assert len(body) > MOST
    short = shorten_json(body, MOST)
    assert len(short) <= MOST
    read = ev.durable_adapter.validate_json(short)
    for name, value in event:
        if isinstance(value, str | int | None) and len(str(value)) < 200:
            assert getattr(read, name) == value
    has_many = isinstance(read, ev.PlanUpdate) or isinstance(getattr(read, "subject", None), ev.FilesSubject)
    assert has_many or b"bytes" in short


def test_a_text_that_fits_is_left_alone() -> None:
    body = ev.ErrorEvent(message="x" * 1_000).model_dump_json().encode()
    assert shorten_json(body, len(body)) is body


def test_the_long_text_gives_first_and_keeps_both_ends() -> None:
    event = command_ended("begin" + "x" * 200_000 + "end", "short")
    read = ev.durable_adapter.validate_json(shorten_json(event.model_dump_json().encode(), MOST))
    assert isinstance(read, ev.WorkEnded)
    assert (read.output[:5], read.output[-3:], read.errors) == ("begin", "end", "short")
    kept = len(read.output.replace("x", ""))
    missing = int(read.output.partition("[… ")[2].partition(" bytes")[0])
    assert read.output.count("x") + missing == 200_000
    assert kept < 200


@pytest.mark.parametrize("size", [997, 1 << 16])
@pytest.mark.parametrize("event", LARGE[:16], ids=lambda event: event.type)
def test_in_pieces_it_comes_to_the_same_type_however_they_are_cut(event: ev.DurableEvent, size: int) -> None:
    body = event.model_dump_json().encode()
    short = outline((body[at : at + size] for at in range(0, len(body), size)), 4 * MOST)
    if short is None:
        return
    assert len(short) <= 4 * MOST
    assert ev.durable_adapter.validate_json(short).type == event.type


TEXT = st.text(st.sampled_from('a"\\\n\x00ü🦀\u2028'), max_size=200)
TREE = st.dictionaries(
    TEXT, st.recursive(TEXT | st.integers(), lambda inner: st.lists(inner, max_size=5)), max_size=5
)


@given(TREE, st.integers(1, 50), st.booleans())
def test_whatever_is_in_the_texts_what_comes_out_is_json_of_the_same_shape(
    tree: Any, size: int, ascii_only: bool
) -> None:
    body = json.dumps(tree, ensure_ascii=ascii_only).encode()
    short = outline((body[at : at + size] for at in range(0, len(body), size)), 1 << 10)
    if short is not None:
        assert shape(json.loads(short.decode())) == shape(tree)


def shape(tree: Any) -> Any:
    if isinstance(tree, dict):
        return [shape(value) for value in tree.values()]
    return [shape(value) for value in tree] if isinstance(tree, list) else type(tree)
