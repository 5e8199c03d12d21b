"""Searches by a provider: how they are offered on each wire, how they are read, and how they go back."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from supervisor.agents.own.model import wire
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.request import ModelRequest, ReasoningItem, SearchItem, text_message
from supervisor.agents.own.model.stream_events import SearchDone, StreamEvent, TextDone
from supervisor.agents.own.model.web_search import KEPT_BYTES, encode_kept, plugs_in
from supervisor.config.shared_keys import WireApi
from tests.support.messages_wire import MessagesWire
from tests.support.model_wire import ResponsesWire

CALL = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
ASKED = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
CLAUDE = "claude-sonnet-4-5"


def body(api: WireApi, *items: Any, model: str = "m", search: bool = True, url: str = "https://x.test") -> Any:
    request = ModelRequest(model=model, instructions="", items=items)
    return json.loads(b"".join(wire.body(Endpoint(url, api, web_search=search), request)))


def read(api: WireApi, lines: Iterable[bytes]) -> list[StreamEvent]:
    decoder = wire.decoder(api)
    data = [
        line.removeprefix(b"data: ") for part in lines for line in part.split(b"\n") if line.startswith(b"data: ")
    ]
    return [*decoder.read(data), *decoder.end()]


def test_a_search_is_offered_as_each_wire_names_it_and_only_if_wanted() -> None:
    assert body(WireApi.RESPONSES)["tools"] == [{"type": "web_search"}]
    assert body(WireApi.MESSAGES)["tools"][0]["type"] == "web_search_20250305"
    assert body(WireApi.CHAT, url="https://openrouter.ai/api/v1")["plugins"] == [{"id": "web"}]
    assert body(WireApi.RESPONSES, search=False)["tools"] == []
    assert "tools" not in body(WireApi.MESSAGES, search=False)
    assert "plugins" not in body(WireApi.CHAT)


@pytest.mark.parametrize(
    ("url", "plugs"),
    [("https://openrouter.ai/api", True), ("https://eu.openrouter.ai", True), ("https://notopenrouter.ai", False),
     ("https://x.test/openrouter.ai", False), ("http://[", False)],
)  # fmt: skip
def test_only_openrouter_has_the_plugin(url: str, plugs: bool) -> None:
    assert plugs_in(url) is plugs


def test_a_search_is_read_from_a_responses_stream() -> None:
    stream = ResponsesWire("r")
    events = read(WireApi.RESPONSES, [*stream.begin(), *stream.search("the weather"), *stream.finish("stop", None)])
    (search,) = (one for one in events if isinstance(one, SearchDone))
    assert (search.id, search.query, search.wire) == ("item_r_0", "the weather", "responses")
    (item,) = json.loads(search.kept)
    assert item["action"]["query"] == "the weather"
    again = body(WireApi.RESPONSES, SearchItem("responses", "m", search.kept))["input"]
    assert again == [item]


def test_an_opened_page_is_shown_by_its_address() -> None:
    item = {**CALL, "action": {"type": "open_page", "url": "https://example.org"}}
    line = f"data: {json.dumps({'type': 'response.output_item.done', 'item': item})}".encode()
    (search,) = (one for one in read(WireApi.RESPONSES, [line]) if isinstance(one, SearchDone))
    assert search.query == "https://example.org"


def test_a_search_is_read_from_a_messages_stream_with_the_words_that_quote_it_in_one_piece() -> None:
    stream = MessagesWire("r")
    said_ = [*stream.text(["Let me look. "]), *stream.search("the weather"), *stream.text(["rain"])]
    events = read(WireApi.MESSAGES, [*stream.begin(), *said_, *stream.finish("stop", None)])
    finished = [one for one in events if isinstance(one, TextDone | SearchDone)]
    assert [one.text if isinstance(one, TextDone) else one.query for one in finished] == [
        "Let me look. ", "the weather", "Found: rain",
    ]  # fmt: skip
    search = next(one for one in finished if isinstance(one, SearchDone))
    content = body(
        WireApi.MESSAGES, text_message("user", "hi"), SearchItem("messages", CLAUDE, search.kept), model=CLAUDE
    )
    blocks = content["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["server_tool_use", "web_search_tool_result"]
    assert blocks[0]["input"] == {"query": "the weather"}
    assert blocks[1]["content"][0]["encrypted_content"] == "Eo8D"


def test_a_result_without_its_search_is_left_out_because_it_would_be_refused() -> None:
    stream = MessagesWire("r")
    events = read(WireApi.MESSAGES, [*stream.begin(), *stream._block(FOUND, ()), *stream.finish("stop", None)])
    assert not [one for one in events if isinstance(one, SearchDone)]


def test_many_results_of_one_long_search_do_not_repeat_it() -> None:
    stream, asked = MessagesWire("r"), {**ASKED, "input": {"query": "q" * 100_000}}
    results = (line for _ in range(500) for line in stream._block(FOUND, ()))
    events = read(
        WireApi.MESSAGES, [*stream.begin(), *stream._block(asked, ()), *results, *stream.finish("stop", None)]
    )
    assert len([one for one in events if isinstance(one, SearchDone)]) == 1


@pytest.mark.parametrize(
    ("item", "api", "model"),
    [
        (SearchItem("responses", "m", encode_kept(CALL)), WireApi.MESSAGES, CLAUDE),
        (SearchItem("responses", "m", encode_kept(CALL)), WireApi.CHAT, "m"),
        (SearchItem("messages", CLAUDE, encode_kept(ASKED, FOUND)), WireApi.RESPONSES, "m"),
        (SearchItem("messages", CLAUDE, encode_kept(ASKED, FOUND)), WireApi.MESSAGES, "llama"),
        (SearchItem("messages", "other", encode_kept(ASKED, FOUND)), WireApi.MESSAGES, CLAUDE),
        (SearchItem("responses", "m", ""), WireApi.RESPONSES, "m"),
        (SearchItem("responses", "m", "[cut"), WireApi.RESPONSES, "m"),
        (SearchItem("responses", "m", "[]"), WireApi.RESPONSES, "m"),
        (SearchItem("messages", CLAUDE, '["x"]'), WireApi.MESSAGES, CLAUDE),
    ],
)
def test_a_search_of_another_wire_or_one_that_was_lost_is_left_out(
    item: SearchItem, api: WireApi, model: str
) -> None:
    around = (text_message("user", "hi"), ReasoningItem("rs_1"), text_message("user", "go on"))
    with_it = (*around[:2], item, around[2])
    assert body(api, *with_it, model=model) == body(api, *around, model=model)


def test_a_search_that_found_too_much_is_not_kept() -> None:
    assert encode_kept({"content": "x" * KEPT_BYTES}) == ""
