"""Requests from pieces: the same bytes as if everything were encoded at once, however the pieces were joined."""

import json
from itertools import dropwhile
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from pydantic_core import to_json

from actors.vocabulary.ids import CallId
from supervisor.agents.own.model import history_pieces, messages
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.history_pieces import join_pieces
from supervisor.agents.own.model.request import (
    CallItem,
    HistoryItem,
    HistoryPiece,
    Image,
    MessageItem,
    ModelRequest,
    OutputItem,
    Part,
    ReasoningItem,
    SearchItem,
    TextPart,
    ToolSpec,
    text_message,
)
from supervisor.agents.own.model.wire import body, form
from supervisor.config.shared_keys import WireApi

TEXTS = st.text(max_size=8)
SOME = st.text("abc=", min_size=1, max_size=4)
IDS = st.text("abc_-1", min_size=1, max_size=4).map(CallId)
PARTS = st.lists(st.one_of(st.builds(TextPart, TEXTS), st.builds(Image, TEXTS)), max_size=3).map(tuple)
ITEMS: st.SearchStrategy[HistoryItem] = st.one_of(
    st.builds(MessageItem, st.sampled_from(["user", "assistant", "developer"]), PARTS),
    st.builds(text_message, st.sampled_from(["user", "assistant"]), TEXTS),
    st.builds(CallItem, IDS, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2).map(json.dumps)),
    st.builds(OutputItem, IDS, TEXTS),
    st.builds(ReasoningItem, TEXTS, st.lists(TEXTS, max_size=2).map(tuple), st.none() | TEXTS),
    st.builds(
        ReasoningItem,
        st.just(""),
        st.lists(TEXTS, max_size=1).map(tuple),
        st.none() | SOME,
        SOME,
        st.just("messages"),
        st.just("claude-sonnet-5"),
    ),
    st.just(SearchItem("responses", "m", '[{"type":"web_search_call","id":"ws"}]')),
    st.just(
        SearchItem("messages", "claude-sonnet-5", '[{"type":"server_tool_use"},{"type":"web_search_tool_result"}]')
    ),
)
CLAUDE = "claude-haiku-4-6"
SHELL = ToolSpec("shell", "Runs a command.", {"type": "object"})


def whole(wire: WireApi, request: ModelRequest) -> dict[str, Any]:
    """The body of a request of items, by the book of the wire."""
    items = [item for item in request.items if not isinstance(item, HistoryPiece)]
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
    if wire is WireApi.MESSAGES:
        return by_messages(request, items)
    tool = {"type": "function", "name": "shell", "description": "Runs a command.", "strict": False}
    return {
        "model": request.model,
        "instructions": request.instructions,
        "input": [made for item in items if (made := input_item(item))],
        "tools": [{**tool, "parameters": {"type": "object"}}] if request.tools else [],
        "tool_choice": "auto",
        "parallel_tool_calls": True,
        "reasoning": None,
        "store": True,
        "stream": True,
        "include": [],
    }


def add_to_chat(messages: list[dict[str, Any]], item: HistoryItem) -> None:
    match item:
        case MessageItem(role, parts):
            content: Any = "".join(part.text for part in parts if isinstance(part, TextPart))
            if any(isinstance(part, Image) for part in parts):
                content = [
                    {"type": "text", "text": part.text}
                    if isinstance(part, TextPart)
                    else {"type": "image_url", "image_url": {"url": getattr(part, "url", "")}}
                    for part in parts
                ]
            messages.append({"role": "system" if role == "developer" else role, "content": content})
        case CallItem(call_id, name, arguments):
            if messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
            messages[-1].setdefault("tool_calls", []).append(call)
        case OutputItem(call_id, output):
            messages.append({"role": "tool", "tool_call_id": call_id, "content": output})
        case ReasoningItem() | SearchItem():
            pass


def by_messages(request: ModelRequest, items: list[HistoryItem]) -> dict[str, Any]:
    """The body with adjacent blocks of a role as one message, marked where a person's words or results end."""
    blocks = [(role, block) for item in items for role, block in blocks_of(item)]
    made: list[dict[str, Any]] = []
    for role, block in blocks:
        if not made or made[-1]["role"] != role:
            made.append({"role": role, "content": []})
        made[-1]["content"].append(block)
    for message in made:
        if message["role"] == "assistant" and "thinking" in message["content"][-1]["type"]:
            message["content"].append({"type": "text", "text": "[no words]"})
    for message in [message for message in made if message["role"] == "user"][-3:]:
        message["content"][-1]["cache_control"] = {"type": "ephemeral"}
    if made and made[0]["role"] == "assistant":
        made.insert(0, {"role": "user", "content": [{"type": "text", "text": "[what came before is not shown]"}]})
    if made and made[-1]["role"] == "assistant":
        made.append({"role": "user", "content": [{"type": "text", "text": "Go on."}]})
    tool = {"name": "shell", "description": "Runs a command.", "input_schema": {"type": "object"}}
    system = [{"type": "text", "text": request.instructions, "cache_control": {"type": "ephemeral"}}]
    head = {"model": request.model, "max_tokens": 64000 if "claude" in request.model else 32000, "stream": True}
    tools = {"tools": [tool]} if request.tools else {}
    off = {} if "claude" in request.model else {"thinking": {"type": "disabled"}}
    return {**head, **off, **tools, "system": system, "messages": made}


def blocks_of(item: HistoryItem) -> list[tuple[str, dict[str, Any]]]:
    match item:
        case MessageItem(role, parts):
            kept = [part for part in parts if not isinstance(part, TextPart) or part.text.strip()]
            return [("assistant" if role == "assistant" else "user", block_of(part)) for part in kept]
        case CallItem(call_id, name, arguments):
            return [("assistant", {"type": "tool_use", "id": call_id, "name": name, "input": json.loads(arguments)})]
        case OutputItem(call_id, output):
            content = {"content": output} if output.strip() else {}
            return [("user", {"type": "tool_result", "tool_use_id": call_id, **content})]
        case ReasoningItem(summary=summary, signature=signature, wire="messages", encrypted_content=sealed):
            thought = {"type": "thinking", "thinking": "".join(summary), "signature": signature}
            return [("assistant", {"type": "redacted_thinking", "data": sealed} if sealed else thought)]
        case SearchItem("messages", _, kept):
            return [("assistant", block) for block in json.loads(kept)]
        case _:
            return []


def block_of(part: Part) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    return {"type": "image", "source": {"type": "url", "url": getattr(part, "url", "")}}


def input_item(item: HistoryItem) -> dict[str, Any] | None:
    match item:
        case MessageItem(role, parts):
            kind = "output_text" if role == "assistant" else "input_text"
            content = [
                {"type": kind, "text": part.text}
                if isinstance(part, TextPart)
                else {"type": "input_image", "image_url": getattr(part, "url", "")}
                for part in parts
            ]
            return {"type": "message", "id": None, "role": role, "content": content}
        case CallItem(call_id, name, arguments):
            return {"type": "function_call", "id": None, "name": name, "arguments": arguments, "call_id": call_id}
        case OutputItem(call_id, output):
            return {"type": "function_call_output", "call_id": call_id, "output": output}
        case ReasoningItem(name, summary, encrypted):
            if item.wire != "responses":
                return None
            parts_of_it = [{"type": "summary_text", "text": text} for text in summary]
            return {"type": "reasoning", "id": name, "summary": parts_of_it, "encrypted_content": encrypted}
        case SearchItem(wire, _, kept):
            return dict(json.loads(kept)[0]) if wire == "responses" else None


def is_instruction(said: MessageItem) -> bool:
    """Tell whether words in front of all others are no message. What is empty is no message anywhere."""
    return said.role == "developer" or not said.parts


@pytest.mark.parametrize("wire", WireApi)
@given(items=st.lists(ITEMS, max_size=12), block=st.sampled_from([1, 60, 200, 10_000]), data=st.data())
def test_a_body_has_the_bytes_of_one_that_is_encoded_at_once(
    wire: WireApi, items: list[HistoryItem], block: int, data: st.DataObject
) -> None:
    """The pieces are joined some at a time, as a history grows; the last items come as they are."""
    spelling, joined = form(wire, CLAUDE), list[HistoryPiece]()
    if wire is WireApi.MESSAGES:  # where they are no part of the history
        items = list(dropwhile(lambda item: isinstance(item, MessageItem) and is_instruction(item), items))
    loose = data.draw(st.integers(0, len(items)))
    with patch.object(history_pieces, "BLOCK", block):
        for item in items[:loose]:
            joined.append(spelling.encode(item))
            if data.draw(st.booleans()):
                joined = list(join_pieces(spelling, joined))
    plain = ModelRequest(CLAUDE, "be brief", tuple(items), (SHELL,))
    mixed = replace(plain, items=(*joined, *items[loose:]))
    endpoint = Endpoint("http://127.0.0.1", wire)
    assert b"".join(body(endpoint, plain)) == to_json(whole(wire, plain))
    # A mark for a cache can stand only where a piece ends.
    mixed_up, plain_one = (b"".join(body(endpoint, one)).replace(messages.MARK, b"") for one in (mixed, plain))
    assert mixed_up == plain_one


@pytest.mark.parametrize("wire", WireApi)
def test_encoded_pieces_are_in_the_body_unchanged(wire: WireApi) -> None:
    """Not even a copy is made of a large piece."""
    large = form(wire, CLAUDE).encode(text_message("user", "x" * history_pieces.BLOCK))
    small = form(wire, CLAUDE).encode(text_message("user", "y"))
    first, second, third = join_pieces(form(wire, CLAUDE), [large, small, large])
    assert (first, third) == (large, large)
    made = body(Endpoint("http://127.0.0.1", wire), ModelRequest("m", "i", (first, second, third)))
    assert [one for one in made if len(one) > history_pieces.BLOCK] == [large.data] * 2
    assert sum(one is large.data for one in made) == 2


@pytest.mark.parametrize("wire", WireApi)
def test_a_growing_history_keeps_its_beginning_byte_for_byte(wire: WireApi) -> None:
    """Providers' caches go by it. A request without tools begins like one with them."""
    items: list[HistoryItem] = []
    before = b""
    for number in range(5):
        items += (
            text_message("user", f"q{number}"),
            text_message("assistant", "a"),
            CallItem(CallId("c"), "shell", "{}"),
        )
        items.append(OutputItem(CallId("c"), "out"))
        made = b"".join(body(Endpoint("http://127.0.0.1", wire), ModelRequest("m", "i", tuple(items))))
        made = made.replace(messages.MARK, b"")  # which a cache doesn't look at
        beginning = made[: made.rindex(b"out") + 5]
        assert beginning.startswith(before)
        before = beginning


@pytest.mark.parametrize("wire", WireApi)
def test_half_a_surrogate_pair_is_sent_as_a_question_mark_and_changes_nothing_else(wire: WireApi) -> None:
    endpoint = Endpoint("http://127.0.0.1", wire)
    halved, asked = (
        b"".join(body(endpoint, ModelRequest("m", "i", (text_message("user", "fine"), text_message("user", text)))))
        for text in ("a\ud83d", "a?")
    )
    assert halved == asked
    assert json.loads(halved)


@pytest.mark.parametrize("wire", WireApi)
def test_a_tool_that_is_described_anew_is_sent_anew_and_the_others_beside_it(wire: WireApi) -> None:
    def sent(*tools: ToolSpec) -> list[str]:
        whole = json.loads(
            b"".join(body(Endpoint("http://h", wire), ModelRequest("m", "i", (text_message("user", "x"),), tools)))
        )
        return [tool.get("function", tool)["description"] for tool in whole.get("tools", ())]

    plan, changed = ToolSpec("plan", "Plans.", {}), ToolSpec("shell", "Runs one command.", {"type": "object"})
    assert sent(SHELL, plan) == sent(SHELL, plan) == ["Runs a command.", "Plans."]
    assert sent(changed, plan) == ["Runs one command.", "Plans."]
    assert sent(plan) == ["Plans."]
    assert sent() == []
