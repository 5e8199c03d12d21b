"""A prompt's blocks become the items of one input; what can't be used is named."""

from typing import Any

import pytest

from actors.vocabulary.ids import ConversationId
from actors.vocabulary.items import ImageItem, TextItem
from tests.transports.dialects.acp.peer import Editor, Json, daemon

PNG = "iVBORw0KGgo="


@pytest.mark.parametrize(
    ("block", "item"),
    [
        ({"type": "text", "text": "hi"}, TextItem(text="hi")),
        ({"type": "resource_link", "uri": "file:///w/a%20b.py#L3", "name": "a b.py"}, TextItem(text="@/w/a b.py#L3")),
        ({"type": "resource_link", "uri": "https://h/x", "name": "x"}, TextItem(text="[x](https://h/x)")),
        (
            {"type": "resource", "resource": {"uri": "file:///w/a.py", "text": "code"}},
            TextItem(text='<context ref="file:///w/a.py">\ncode\n</context>'),
        ),
        (
            {"type": "resource", "resource": {"uri": "file:///w/a.bin", "blob": "AAAA", "mimeType": "x/y"}},
            TextItem(text="@/w/a.bin"),
        ),
        (
            {"type": "resource", "resource": {"uri": "zed://p", "blob": PNG, "mimeType": "image/png"}},
            ImageItem(image_url=f"data:image/png;base64,{PNG}"),
        ),
        (
            {"type": "image", "data": PNG, "mimeType": "image/png"},
            ImageItem(image_url=f"data:image/png;base64,{PNG}"),
        ),
    ],
)
def test_a_block_becomes_an_item(block: Json, item: Any) -> None:
    house = daemon()
    editor = Editor(house)
    session = editor.new()
    editor.begin("session/prompt", sessionId=session, prompt=[block])
    (given,) = house.turns[ConversationId(session)].inputs
    assert given.items == (item,)


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        ([], "prompt"),
        ([{"type": "text", "text": " "}], "no word and no picture"),
        ([{"type": "text", "text": "x"}, {"type": "audio", "data": "", "mimeType": "audio/wav"}], "prompt.1: audio"),
        ([{"type": "image", "data": "x", "mimeType": "image/svg+xml"}], "'image/svg+xml' is not understood"),
        ([{"type": "resource", "resource": {"uri": "zed://p", "blob": "x", "mimeType": "a/b"}}], "data of type a/b"),
        ([{"type": "resource", "resource": {"uri": "x"}}], "members of a block of type resource are missing"),
        ([{"type": "hologram"}], "'hologram' is not understood"),
    ],
)
def test_an_unusable_block_of_a_prompt_is_an_error_that_names_it(blocks: Any, told: str) -> None:
    editor = Editor(daemon())
    error = editor.error("session/prompt", sessionId=editor.new(), prompt=blocks)
    assert error["code"] == -32602
    assert told in error["message"]


def test_a_policy_that_is_none_is_refused() -> None:
    editor = Editor(daemon())
    words = [{"type": "text", "text": "x"}]
    meta = {"greenroom": {"ifBusy": "panic"}}
    error = editor.error("session/prompt", sessionId=editor.new(), prompt=words, _meta=meta)
    assert error["code"] == -32602
    assert "ifBusy" in error["message"]


def test_nonsense_gets_errors_and_ends_nothing() -> None:
    house = daemon()
    editor = Editor(house)
    for line in (b"{", b"[]", b'{"id": 1}', b'{"jsonrpc": "2.0", "id": 5, "method": "nope"}'):
        editor.line(line)
    codes = [one["error"]["code"] for one in editor.lines if "error" in one]
    assert codes == [-32700, -32600, -32600, -32601]
    for line in (
        b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
        b'{"jsonrpc": "2.0", "method": "session/cancel"}',
        b'{"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 7}}',
        b'{"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": 3}}',
    ):
        editor.line(line)
    assert editor.new()
