"""Bounds on a model server's answers: each is met by an error that names it, and nothing else notices."""

import asyncio
import gc
import json
import time
import tracemalloc
from typing import Any

import httpx
import pytest

from actors.vocabulary.json_values import has_too_many_values
from supervisor.agents.errors import BeyondBound, ModelError, Rejected, RequestFailed
from supervisor.agents.own.model import wire as wires
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.decoding import a_count
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.http_transport import Unbounded
from supervisor.agents.own.model.sse import EventTooLarge, SseParser
from supervisor.agents.own.model.stream_events import CallDone, ReasoningDone, StreamEvent, TextDelta, TextDone
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.bounds import Bounds
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.model.reading import BOTH, Heard, joined, request, run
from tests.supervisor.agents.own.model.test_direct import CHUNKED, a_place, answering, asked
from tests.support.model_reply import canned
from tests.support.model_server import ModelServer
from tests.support.model_wire import sse


def chat(*, finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "r", "choices": [{"delta": delta, "finish_reason": finish}]}


def call(index: int, arguments: str = "{}", name: str = "shell") -> dict[str, Any]:
    return {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": arguments}}


def done(**item: Any) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": item}


def block(index: int = 0, **begun: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": begun}


def stop(reason: str) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}}


def read(wire: WireApi, bounds: Bounds, *events: Any) -> tuple[list[StreamEvent], ModelError | None]:
    decoder = wires.decoder(wire, bounds)
    news = decoder.read(one if isinstance(one, bytes) else json.dumps(one).encode() for one in events)
    news += decoder.end()
    return joined(news), decoder.failure


def beyond(failure: ModelError | None, key: str) -> bool:
    return isinstance(failure, BeyondBound) and f"greenroom.limits.{key} " in failure.message


SMALL = Bounds(answer_bytes=100, answer_tool_calls=3, answer_items=5, answer_event_values=10)
X30 = "x" * 30


@pytest.mark.parametrize(
    "events",
    [
        [chat(content=X30)] * 4,
        [chat(reasoning=X30)] * 4,
        [chat(content=X30), chat(reasoning=X30), chat(content=X30), chat(tool_calls=[call(0, X30)])],
        [chat(tool_calls=[call(0, X30)])] * 4,
        [chat(content="\x01" * 20)],
        [chat(content=[{"text": X30}] * 4)],
    ],
)
def test_all_that_is_said_in_one_answer_counts_together_while_it_comes(events: list[Any]) -> None:
    news, failure = read(WireApi.CHAT, SMALL, *events)
    assert beyond(failure, "answer_bytes")
    assert not any(isinstance(one, TextDone | CallDone) for one in news)


@pytest.mark.parametrize(
    "events",
    [
        [{"type": "response.output_text.delta", "delta": X30}] * 4,
        [{"type": "response.function_call_arguments.delta", "delta": X30}] * 4,
        [done(type="message", content=[{"text": X30}])] * 4,
        [done(type="function_call", call_id="c", name="shell", arguments=X30)] * 3
        + [done(type="reasoning", id="r", encrypted_content=X30, summary=[])],
    ],
)
def test_finished_items_count_as_well_whatever_was_streamed_of_them(events: list[Any]) -> None:
    assert beyond(read(WireApi.RESPONSES, SMALL, *events)[1], "answer_bytes")


def test_an_answer_that_ends_at_the_bound_is_whole() -> None:
    news, failure = read(WireApi.CHAT, SMALL, chat(content="x" * 100), chat(finish="stop"))
    assert failure is None
    assert news[:2] == [TextDelta("x" * 100), TextDone("x" * 100)]


def test_more_calls_than_allowed_are_an_error_on_either_wire_and_none_of_them_is_told() -> None:
    news, failure = read(WireApi.CHAT, SMALL, chat(tool_calls=[call(at, "") for at in range(4)]))
    assert (news, beyond(failure, "answer_tool_calls")) == ([], True)
    news, failure = read(
        WireApi.RESPONSES, SMALL, *(done(type="function_call", call_id=f"c{at}", name="x") for at in range(4))
    )
    assert beyond(failure, "answer_tool_calls")
    assert len(news) == 3


def test_a_million_new_calls_are_refused_when_the_first_are_too_many() -> None:
    decoder = wires.decoder(WireApi.CHAT)
    began = time.process_time()
    for start in range(0, 1_000_000, 1000):
        decoder.read([json.dumps(chat(tool_calls=[call(start + at, "") for at in range(1000)])).encode()])
        if decoder.failure:
            break
    assert beyond(decoder.failure, "answer_tool_calls")
    assert time.process_time() - began < 4.0


def test_items_and_parts_of_summaries_are_counted() -> None:
    empty = done(type="message", content=[])
    assert beyond(read(WireApi.RESPONSES, SMALL, *[empty] * 6)[1], "answer_items")
    parts = done(type="reasoning", id="r", summary=[{"text": ""}] * 6)
    assert beyond(read(WireApi.RESPONSES, SMALL, parts)[1], "answer_items")


def test_json_with_more_values_than_are_read_in_a_moment_is_not_parsed() -> None:
    wide = b'{"choices":[' + b"[]," * 30_000 + b"[]]}"
    assert has_too_many_values(wide, 10_000)
    assert not has_too_many_values(json.dumps({"text": '[,{"\\' * 50_000}).encode(), 10)
    assert has_too_many_values(b'["' + b'","' * 50_000 + b'"]', 10_000)
    assert not has_too_many_values(b"[" * 60_000, 10)
    assert beyond(read(WireApi.CHAT, SMALL, chat(content=["x"] * 20_000))[1], "answer_event_values")


def test_words_nested_in_words_break_nothing() -> None:
    nested: Any = "deep"
    for _ in range(150):
        nested = [nested]
    assert read(WireApi.CHAT, Bounds(), chat(content=nested), chat(content="x"), chat(finish="stop"))[1] is None


@pytest.mark.parametrize("arguments", [{"a": "\ud800"}, [[]]])
def test_arguments_that_come_decoded_are_written_again_or_are_none(arguments: Any) -> None:
    piece = {"index": 0, "id": "c", "function": {"name": "shell", "arguments": arguments}}
    news, failure = read(WireApi.CHAT, Bounds(), chat(tool_calls=[piece]), chat(finish="tool_calls"))
    assert failure is None
    assert [one.arguments for one in news if isinstance(one, CallDone)] == ["null" if "a" in arguments else "[[]]"]


@pytest.mark.parametrize("wire", BOTH)
def test_a_name_without_end_is_an_error(wire: WireApi) -> None:
    long = "n" * 2000
    events = {
        WireApi.CHAT: [chat(tool_calls=[call(0, "", long)]), chat(finish="tool_calls")],
        WireApi.RESPONSES: [done(type="function_call", call_id="c", name=long, arguments="{}")],
        WireApi.MESSAGES: [block(type="tool_use", id="c", name=long, input={}), stop("tool_use")],
    }
    assert isinstance(read(wire, Bounds(), *events[wire])[1], BeyondBound)


@pytest.mark.parametrize(
    ("value", "count"),
    [
        *((7, 7), (7.0, 7), (0, 0), (-1, None), (7.5, None), (2**63, None), (1e300, None), (float("inf"), None)),
        *((float("nan"), None), (True, None), ("7", None), (None, None), ([7], None), (10**30, None)),
    ],
)
def test_a_count_of_tokens_is_one_or_is_unknown(value: Any, count: int | None) -> None:
    assert a_count(value) == count


@pytest.mark.parametrize("wire", BOTH)
def test_usage_beyond_all_numbers_is_unknown_and_the_answer_counts(wire: WireApi) -> None:
    counts = {"prompt_tokens": 2**63, "completion_tokens": 3, "total_tokens": -1}
    counts |= {"input_tokens": 2**63, "output_tokens": 3}
    events: dict[WireApi, list[Any]] = {
        WireApi.CHAT: [chat(finish="stop", content="x") | {"usage": counts}, b"[DONE]"],
        WireApi.RESPONSES: [{"type": "response.completed", "response": {"id": "r", "usage": counts}}],
        WireApi.MESSAGES: [stop("end_turn") | {"usage": counts}, {"type": "message_stop"}],
    }
    news, failure = read(wire, Bounds(), *events[wire])
    assert failure is None
    assert TokenUsage(0, 3, 3) in news


def test_an_event_of_many_lines_is_refused_and_blank_lines_cost_nothing() -> None:
    with pytest.raises(EventTooLarge, match="lines"):
        SseParser().feed(b"data: x\n" * 20_000 + b"\n")
    began = time.process_time()
    assert SseParser().feed(b"\n" * 4_000_000 + b"data: x\n\n") == [b"x"]
    assert time.process_time() - began < 2.0


# --- over HTTP ------------------------------------------------------------------------------------------------------

ENDLESS_HEADS = {
    "name": (b"HTTP/1.1 200 OK\r\n", b"x" * 4000),
    "value": (b"HTTP/1.1 200 OK\r\nX: ", b"y" * 4000),
    "many": (b"HTTP/1.1 200 OK\r\n", b"a: b\r\n" * 600),
    "interim": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 200),
    "extension": (CHUNKED + b"4;", b"e" * 4000),
    "trailer": (CHUNKED + b"1\r\nx\r\n0\r\nT: ", b"t" * 4000),
}


@pytest.mark.parametrize(("first", "again"), ENDLESS_HEADS.values(), ids=ENDLESS_HEADS)
def test_endless_bytes_around_a_body_are_an_error(first: bytes, again: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(first)
        while not writer.is_closing():
            writer.write(again)
            await writer.drain()

    async def scene() -> None:
        async with a_place(serve) as place:
            with pytest.raises(Unbounded, match=r"greenroom\.limits\.answer_head"):
                await place.get()

    asyncio.run(scene())


@pytest.mark.parametrize(("first", "drop"), [(b"HTTP/1.1 200 OK\r\n", b"x"), (b"", b"HTTP/1.1 100 Continue\r\n\r\n")])
def test_a_head_that_comes_drop_by_drop_has_one_time_out_for_all_of_it(first: bytes, drop: bytes) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asked(reader)
        writer.write(first)
        while not writer.is_closing():
            writer.write(drop)
            await writer.drain()
            await asyncio.sleep(0.005)

    async def scene() -> None:
        async with a_place(serve, timeout_s=0.2) as place:
            with pytest.raises(httpx.ReadTimeout):
                await place.get()

    asyncio.run(scene())


def attempted(answer: bytes, bounds: Bounds) -> ModelError:
    async def scene() -> ModelError:
        async with a_place(answering(answer)) as place, ModelClient(bounds=bounds) as client:
            with pytest.raises(ModelError) as failed:
                await client.attempt(Endpoint(place.url), request("x"), Heard())
            return failed.value

    return asyncio.run(scene())


@pytest.mark.parametrize("encoding", ["gzip", "gzip, gzip", "br", "zstd", "deflate", "x-made-up"])
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "500 Oh"])
def test_a_body_that_is_packed_is_never_unpacked(encoding: str, status: str) -> None:
    head = f"HTTP/1.1 {status}\r\nContent-Encoding: {encoding}\r\nContent-Length: 4\r\n\r\n".encode()
    error = attempted(head + b"\x1f\x8b\x08\x00", Bounds())
    assert repr(encoding) in error.message
    assert isinstance(error, RequestFailed if status.startswith("500") else Rejected)
    assert status.startswith("200") or status[:3] in error.message


def test_a_transfer_that_is_packed_is_refused_and_one_in_identity_is_not() -> None:
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
    assert "'gzip'" in attempted(head, Bounds()).message
    plain = b"HTTP/1.1 400 No\r\nContent-Encoding: identity\r\nContent-Length: 2\r\n\r\nno"
    assert attempted(plain, Bounds()).message == "unexpected status 400 Bad Request: no"


@pytest.mark.parametrize("noise", [b": hm\n", b": hm\n\n", b"\n", b"data: {}\n\n", b"event: ping\ndata: 1\n\n"])
def test_a_stream_in_which_the_model_says_nothing_ends(noise: bytes) -> None:
    body = noise * (300_000 // len(noise))
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    error = attempted(answer, Bounds(answer_silent_bytes=100_000, answer_event_bytes=100_000))
    assert isinstance(error, BeyondBound)


def test_comments_between_words_are_borne_for_ever() -> None:
    piece = b": hm\n" * 1000 + sse(chat(content="x"))
    body = piece * 50 + sse(chat(finish="stop")) + b"data: [DONE]\n\n"
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def scene() -> list[StreamEvent]:
        heard = Heard()
        async with (
            a_place(answering(answer)) as place,
            ModelClient(bounds=Bounds(answer_silent_bytes=70_000)) as client,
        ):
            await client.attempt(Endpoint(place.url), request("x"), heard)
        return heard.news

    assert TextDone("x" * 50) in asyncio.run(scene())


def test_a_request_beyond_the_bound_is_never_sent() -> None:
    async def attempt(server: ModelServer) -> None:
        async with ModelClient(bounds=Bounds(request_bytes=1000)) as client:
            with pytest.raises(BeyondBound, match=r"greenroom\.limits\.request_bytes"):
                await client.attempt(Endpoint(server.base_url), request("x" * 1000), Heard())

    with ModelServer() as server:
        run(attempt(server))
        assert not server.requests


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error":{"message":"scripted\\nfailure"}}', ": scripted failure"),
        (b"scripted failure", ": scripted failure"),
        (
            b"<html><head><style>p{}</style></head><body><h1>scripted</h1>\n<p>failure</p></html>",
            ": scripted failure",
        ),
        (b"", ""),
    ],
)
@pytest.mark.parametrize("wire", BOTH)
def test_a_refusal_names_the_status_and_what_the_server_said(wire: WireApi, body: bytes, shown: str) -> None:
    async def attempt(server: ModelServer) -> RequestFailed:
        async with ModelClient() as client:
            with pytest.raises(RequestFailed) as failed:
                await client.attempt(Endpoint(server.base_url, wire), request("x"), Heard())
            return failed.value

    with ModelServer([canned(body, status=500)]) as server:
        error = run(attempt(server))
    assert error.message == f"unexpected status 500 Internal Server Error{shown}"
    assert error.exhausted == f"exceeded retry limit, last status: 500 Internal Server Error{shown}"


@pytest.mark.parametrize("wire", BOTH)
def test_an_error_with_a_status_in_the_middle_of_a_stream_is_told_with_both(wire: WireApi) -> None:
    error = {"code": 500, "message": "scripted failure"}
    event = {"error": error} if wire is WireApi.CHAT else {"type": "error", **error}
    _, failure = read(wire, Bounds(), event)
    assert failure is not None
    assert failure.message == "stream disconnected before completion: 500: scripted failure"


def test_a_key_that_a_server_spells_in_escapes_is_not_shown() -> None:
    spelled = "".join(f"\\u{ord(letter):04x}" for letter in "sk-secret-key")
    body = f'{{"error":{{"message":"bad key {spelled}"}}}}'.encode()

    async def attempt(server: ModelServer) -> ModelError:
        async with ModelClient() as client:
            with pytest.raises(ModelError) as failed:
                await client.attempt(Endpoint(server.base_url, key="sk-secret-key"), request("x"), Heard())
            return failed.value

    for status in (401, 503):
        with ModelServer([canned(body, status=status)]) as server:
            error = run(attempt(server))
        assert "secret" not in error.message + getattr(error, "exhausted", "")
        assert "bad key" in error.message


@pytest.mark.parametrize("call_id", ["c", ""])
@pytest.mark.parametrize("wire", BOTH)
def test_calls_of_one_id_or_of_none_are_told_apart(wire: WireApi, call_id: str) -> None:
    items = [
        {"type": "function_call", "call_id": one, "name": "shell", "arguments": "{}"}
        for one in (call_id, "c_1", call_id, call_id)
    ]
    calls = [
        {"index": at, "id": one["call_id"], "function": {"name": "shell", "arguments": "{}"}}
        for at, one in enumerate(items)
    ]
    blocks = [block(at, type="tool_use", id=one["call_id"], name="shell", input={}) for at, one in enumerate(items)]
    events = {
        WireApi.CHAT: [chat(tool_calls=calls), chat(finish="tool_calls")],
        WireApi.RESPONSES: [done(**one) for one in items],
        WireApi.MESSAGES: [*blocks, stop("tool_use")],
    }
    news, _ = read(wire, Bounds(), *events[wire])
    ids = [one.call_id for one in news if isinstance(one, CallDone)]
    assert len(ids) == len(set(ids)) == 4
    assert all(ids)
    assert not call_id or call_id in ids


def test_half_a_letter_in_what_is_sealed_can_be_stored() -> None:
    sealed = {"type": "reasoning", "id": "r", "encrypted_content": "a\ud800"}
    news, _ = read(WireApi.RESPONSES, Bounds(), done(**sealed))
    assert [one.encrypted_content for one in news if isinstance(one, ReasoningDone)] == ["a\ufffd"]


def test_nothing_of_an_answer_that_was_cut_off_stays_in_memory() -> None:
    """The garbage collector comes seldom, and an error keeps the frames that it went through."""
    words = b"".join(sse(chat(content="x" * 10_000)) for _ in range(500))
    answer = b"HTTP/1.1 200 OK\r\n\r\n" + words

    async def unheard(_: object) -> None:
        pass

    async def scene() -> int:
        async with (
            a_place(answering(answer)) as place,
            ModelClient(bounds=Bounds(answer_bytes=4_000_000)) as client,
        ):
            client.prepare()
            tracemalloc.start()
            with pytest.raises(BeyondBound):
                await client.attempt(Endpoint(place.url), request("x"), unheard)
            return tracemalloc.get_traced_memory()[0]

    gc.disable()
    try:
        assert asyncio.run(scene()) < 2_000_000
    finally:
        tracemalloc.stop()
        gc.enable()
