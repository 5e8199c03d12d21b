"""Requests from pieces: the same bytes as if everything were encoded at once, however the pieces were joined."""

import json
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from actors.vocabulary.ids import CallId
from supervisor.agent.model import pieces
from supervisor.agent.model.endpoint import Endpoint
from supervisor.agent.model.pieces import packed
from supervisor.agent.model.request import (
    Called,
    HistoryItem,
    Image,
    ModelRequest,
    Piece,
    Reasoned,
    Returned,
    Said,
    Text,
    ToolSpec,
    said,
)
from supervisor.agent.model.wire import FORMS, body
from supervisor.config.shared import WireApi

TEXTS = st.text(max_size=8)
PARTS = st.lists(st.one_of(st.builds(Text, TEXTS), st.builds(Image, TEXTS)), max_size=3).map(tuple)
ITEMS: st.SearchStrategy[HistoryItem] = st.one_of(
    st.builds(Said, st.sampled_from(["user", "assistant", "developer"]), PARTS),
    st.builds(said, st.sampled_from(["user", "assistant"]), TEXTS),
    st.builds(Called, TEXTS.map(CallId), TEXTS, TEXTS),
    st.builds(Returned, TEXTS.map(CallId), TEXTS),
    st.builds(Reasoned, TEXTS, st.lists(TEXTS, max_size=2).map(tuple), st.none() | TEXTS),
)
SHELL = ToolSpec("shell", "Runs a command.", {"type": "object"})


def whole(wire: WireApi, request: ModelRequest) -> dict[str, Any]:
    """The body of a request of items, by the book of the wire."""
    items = [item for item in request.items if not isinstance(item, Piece)]
    if wire is WireApi.CHAT:
        messages: list[dict[str, Any]] = [{"role": "system", "content": request.instructions}]
        for item in items:
            add_to_chat(messages, item)
        function = {
            "name": "shell",
            "description": "Runs a command.",
            "strict": False,
            "parameters": {"type": "object"},
        }
        tools = {"tools": [{"type": "function", "function": function}]} if request.tools else {}
        return {"model": request.model, "stream": True, "messages": messages, **tools}
    tool = {"type": "function", "name": "shell", "description": "Runs a command.", "strict": False}
    return {
        "model": request.model,
        "instructions": request.instructions,
        "input": [input_item(item) for item in items],
        "tools": [{**tool, "parameters": {"type": "object"}}] if request.tools else [],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "reasoning": None,
        "store": True,
        "stream": True,
        "include": [],
    }


def add_to_chat(messages: list[dict[str, Any]], item: HistoryItem) -> None:
    match item:
        case Said(role, parts):
            content: Any = "".join(part.text for part in parts if isinstance(part, Text))
            if any(isinstance(part, Image) for part in parts):
                content = [
                    {"type": "text", "text": part.text}
                    if isinstance(part, Text)
                    else {"type": "image_url", "image_url": {"url": getattr(part, "url", "")}}
                    for part in parts
                ]
            messages.append({"role": "system" if role == "developer" else role, "content": content})
        case Called(call_id, name, arguments):
            if messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            messages[-1].setdefault("tool_calls", []).append(call)
        case Returned(call_id, output):
            messages.append({"role": "tool", "tool_call_id": call_id, "content": output})
        case Reasoned():
            pass


def input_item(item: HistoryItem) -> dict[str, Any]:
    match item:
        case Said(role, parts):
            kind = "output_text" if role == "assistant" else "input_text"
            content = [
                {"type": kind, "text": part.text}
                if isinstance(part, Text)
                else {"type": "input_image", "image_url": getattr(part, "url", "")}
                for part in parts
            ]
            return {"type": "message", "id": None, "role": role, "content": content}
        case Called(call_id, name, arguments):
            return {"type": "function_call", "id": None, "name": name, "arguments": arguments, "call_id": call_id}
        case Returned(call_id, output):
            return {"type": "function_call_output", "call_id": call_id, "output": output}
        case Reasoned(name, summary, encrypted):
            parts_of_it = [{"type": "summary_text", "text": text} for text in summary]
            return {"type": "reasoning", "id": name, "summary": parts_of_it, "encrypted_content": encrypted}


@pytest.mark.parametrize("wire", WireApi)
@given(items=st.lists(ITEMS, max_size=12), block=st.sampled_from([1, 60, 200, 10_000]), data=st.data())
def test_a_body_has_the_bytes_of_one_that_is_encoded_at_once(
    wire: WireApi, items: list[HistoryItem], block: int, data: st.DataObject
) -> None:
    """The pieces are joined some at a time, as a history grows; the last items come as they are."""
    form, joined = FORMS[wire], list[Piece]()
    loose = data.draw(st.integers(0, len(items)))
    with patch.object(pieces, "BLOCK", block):
        for item in items[:loose]:
            joined.append(form.encode(item))
            if data.draw(st.booleans()):
                joined = list(packed(form, joined))
    plain = ModelRequest("m", "be brief", tuple(items), (SHELL,))
    mixed = ModelRequest("m", "be brief", (*joined, *items[loose:]), (SHELL,))
    endpoint = Endpoint("http://127.0.0.1", wire)
    assert b"".join(body(endpoint, mixed)) == b"".join(body(endpoint, plain)) == to_json(whole(wire, plain))


@pytest.mark.parametrize("wire", WireApi)
def test_what_was_encoded_once_is_in_a_body_as_it_is(wire: WireApi) -> None:
    """Not even a copy is made of a large piece."""
    large = FORMS[wire].encode(said("user", "x" * pieces.BLOCK))
    small = FORMS[wire].encode(said("user", "y"))
    first, second, third = packed(FORMS[wire], [large, small, large])
    assert (first, third) == (large, large)
    made = body(Endpoint("http://127.0.0.1", wire), ModelRequest("m", "i", (first, second, third)))
    assert [one for one in made if len(one) > pieces.BLOCK] == [large.data] * 2
    assert sum(one is large.data for one in made) == 2


@pytest.mark.parametrize("wire", WireApi)
def test_a_growing_history_keeps_its_beginning_byte_for_byte(wire: WireApi) -> None:
    """Providers' caches go by it. A request without tools begins like one with them."""
    items: list[HistoryItem] = []
    before = b""
    for number in range(5):
        items += (said("user", f"q{number}"), said("assistant", "a"), Called(CallId("c"), "shell", "{}"))
        items.append(Returned(CallId("c"), "out"))
        made = b"".join(body(Endpoint("http://127.0.0.1", wire), ModelRequest("m", "i", tuple(items))))
        beginning = made[: made.rindex(b"out") + 5]
        assert beginning.startswith(before)
        before = beginning


@pytest.mark.parametrize("wire", WireApi)
def test_half_a_surrogate_pair_is_sent_as_a_question_mark_and_changes_nothing_else(wire: WireApi) -> None:
    endpoint = Endpoint("http://127.0.0.1", wire)
    halved, asked = (
        b"".join(body(endpoint, ModelRequest("m", "i", (said("user", "fine"), said("user", text)))))
        for text in ("a\ud83d", "a?")
    )
    assert halved == asked
    assert json.loads(halved)
