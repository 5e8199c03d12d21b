"""One attempt over real HTTP."""

import asyncio
import errno
import threading
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from urllib.parse import quote, unquote

import httpx
import pytest

from actors.vocabulary.ids import CallId
from supervisor.agents.errors import (
    AnswerCut,
    BeyondBound,
    ContextFull,
    ModelError,
    Rejected,
    RequestFailed,
    StreamBroken,
)
from supervisor.agents.own.model import answer_reader
from supervisor.agents.own.model.client import ModelClient, build_http
from supervisor.agents.own.model.endpoint import PATHS, Endpoint
from supervisor.agents.own.model.stream_events import (
    CallDone,
    ReasoningDone,
    ResponseEnd,
    StreamEvent,
    TextDelta,
    TextDone,
)
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.bounds import DEFAULTS, Bounds
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.model.reading import BOTH, Heard, endpoint, heard, in_thread, request, run
from tests.support.model_reply import Close, Hold, Pause, Reply, canned
from tests.support.model_server import ModelServer
from tests.support.model_wire import sse

both_wires = pytest.mark.parametrize("wire", BOTH)


def failure(
    server: ModelServer, wire: WireApi, prompt: str, bounds: Bounds = DEFAULTS, **options: object
) -> tuple[list[StreamEvent], ModelError]:
    """Return the events that an attempt delivered before it failed, and its error."""
    hear = Heard()

    async def attempt() -> ModelError:
        async with ModelClient(bounds=bounds) as client:
            with pytest.raises(ModelError) as failed:
                await client.attempt(endpoint(server, wire, **options), request(prompt), hear)
            assert client.statistics() == {"attempts": 1, "streaming": 0}
            return failed.value

    error = run(attempt())
    return hear.news, error


@both_wires
def test_a_streamed_answer_comes_as_deltas_and_whole(wire: WireApi) -> None:
    with ModelServer() as server:
        news = run(heard(server, wire, "words Hello there; usage 3 4 2 1"))
        assert news == [
            TextDelta("Hello there"),
            TextDone("Hello there"),
            TokenUsage(3, 4, 7, cached=2, reasoning=1),
            ResponseEnd("r1_0"),
        ]
        assert server.requests[0].path == f"/v1{PATHS[wire]}"
        assert server.requests[0].body["stream"] is True


@both_wires
def test_parallel_calls_and_reasoning_come_whole_and_in_order(wire: WireApi) -> None:
    script = 'reason why; say I look.; call shell ["ls", "a;b"]; call update_plan {"plan":[]}; call shell not json'
    with ModelServer() as server:
        news = run(heard(server, wire, script))
    finished = [one for one in news if isinstance(one, ReasoningDone | TextDone | CallDone)]
    assert isinstance(finished[0], ReasoningDone)
    assert finished[1:] == [
        TextDone("I look."),
        CallDone(CallId("call_1_0_0"), "shell", '{"command":["ls","a;b"]}'),
        CallDone(CallId("call_1_0_1"), "update_plan", '{"plan":[]}'),
        CallDone(CallId("call_1_0_2"), "shell", "not json"),
    ]


@both_wires
def test_an_answer_sent_byte_by_byte_is_the_same(wire: WireApi) -> None:
    script = 'reason why; words Grüße an alle 😀; call shell ["echo", "€"]; call shell ["ls"]; usage 1 2'
    with ModelServer() as server:
        whole = run(heard(server, wire, script))
        assert run(heard(server, wire, f"split 1; {script}")) == whole


@both_wires
def test_an_http_chunk_is_one_batch(wire: WireApi) -> None:
    hear = Heard()

    async def attempt(server: ModelServer) -> None:
        async with ModelClient() as client:
            await client.attempt(endpoint(server, wire), request("pack 1000000; stream 100"), hear)

    with ModelServer() as server:
        run(attempt(server))
    assert len(hear.batches) == 1
    assert hear.batches[0][0] == TextDelta("word " * 100)


@both_wires
def test_an_answer_cut_anywhere_is_broken_and_never_shortened(wire: WireApi) -> None:
    script = 'words One two three; call shell ["ls"]; usage 1 2'
    with ModelServer() as server:
        whole = run(heard(server, wire, script))
        done = [one for one in whole if isinstance(one, TextDone | CallDone)]
        for after in range(1, 2000, 97):
            try:
                news = run(heard(server, wire, f"cut {after}; {script}"))
            except StreamBroken:
                continue
            assert [one for one in news if isinstance(one, TextDone | CallDone)] == done
            assert isinstance(news[-1], ResponseEnd)
        assert sum(one.answered for one in server.requests) < len(server.requests)


@pytest.mark.soak
@both_wires
def test_an_answer_cut_at_every_byte_over_http_is_broken_and_never_shortened(wire: WireApi) -> None:
    script = 'words One two; call shell ["ls"]'

    async def attempts(server: ModelServer) -> int:
        broken = 0
        async with ModelClient() as client:
            for after in range(1, 3000):
                hear = Heard()
                try:
                    await client.attempt(endpoint(server, wire), request(f"cut {after}; {script}"), hear)
                except StreamBroken:
                    broken += 1
                    assert not any(isinstance(one, ResponseEnd) for one in hear.news)
                    continue
                assert [type(one) for one in hear.news[-3:]] == [TextDone, CallDone, ResponseEnd]
        return broken

    with ModelServer() as server:
        assert asyncio.run(attempts(server)) > 500


@both_wires
def test_a_body_that_ends_properly_but_too_early_is_broken(wire: WireApi) -> None:
    with ModelServer() as server:
        news, error = failure(server, wire, "say half; eof")
    assert isinstance(error, StreamBroken)
    assert "stream closed before" in error.message
    assert (TextDone("half") in news) is (wire is WireApi.RESPONSES)


@both_wires
def test_a_response_is_finished_by_its_event_though_the_connection_stays_open(wire: WireApi) -> None:
    with ModelServer() as server:
        news = run(heard(server, wire, "say hi; finish; stall forever"))
        assert isinstance(news[-1], ResponseEnd)
        server.wait_closed_early()


def test_a_chat_answer_is_finished_by_its_reason_though_nothing_ever_follows() -> None:
    with ModelServer() as server:
        end = '{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}'
        news = run(heard(server, WireApi.CHAT, f"raw {end}\nstall forever"))
    assert news == [TextDelta("hi"), TextDone("hi"), ResponseEnd("r1_0")]


def test_usage_that_was_asked_for_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_reader, "LINGER_S", 0.0)
    end = '{"id":"c","choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}'
    usage = '{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2}}'

    async def attempt(server: ModelServer) -> list[StreamEvent]:
        hear = Heard()

        async def open_gate(batch: Sequence[StreamEvent]) -> None:
            await hear(batch)
            server.open("usage")

        async with ModelClient() as client:
            asked = request(f"raw {end}\nhold usage\nraw {usage}")
            await client.attempt(endpoint(server, WireApi.CHAT, include_usage=True), asked, open_gate)
        return hear.news

    with ModelServer() as server:
        assert run(attempt(server)) == [TextDelta("hi"), TextDone("hi"), TokenUsage(1, 2, 3), ResponseEnd("r1_0")]
        assert server.requests[0].body["stream_options"] == {"include_usage": True}


STRICT = (
    b'{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}'
)


@pytest.mark.parametrize(
    ("status", "refusal"),
    [
        (422, STRICT),
        (400, b'{"error":{"message":"Unknown parameter: \'stream_options\'.","param":"stream_options"}}'),
        (400, b'{"error":"json: unknown field \\"stream_options\\""}'),
    ],
)
def test_a_server_that_refuses_to_count_is_asked_again_without_and_never_again_with(
    status: int, refusal: bytes
) -> None:
    hear = Heard()

    async def attempts(server: ModelServer) -> None:
        async with ModelClient() as client:
            for _ in range(2):
                asked = endpoint(server, WireApi.CHAT, include_usage=True)
                await client.attempt(asked, request("x"), hear)

    with ModelServer([canned(refusal, status=status), "say one", "say two"]) as server:
        run(attempts(server))
        assert ["stream_options" in one.body for one in server.requests] == [True, False, False]
    assert [one.text for one in hear.news if isinstance(one, TextDone)] == ["one", "two"]


def test_another_refusal_is_final_and_a_server_that_refuses_both_is_asked_as_before() -> None:
    async def refused(server: ModelServer, client: ModelClient) -> ModelError:
        with pytest.raises(Rejected) as error:
            await client.attempt(endpoint(server, WireApi.CHAT, include_usage=True), request("x"), Heard())
        return error.value

    async def attempts(server: ModelServer) -> None:
        async with ModelClient() as client:
            assert "no such model" in (await refused(server, client)).message
            assert "Extra inputs" in (await refused(server, client)).message
            assert "no such model" in (await refused(server, client)).message

    unknown, strict = canned(b"no such model", status=400), canned(b"Extra inputs are not permitted", status=422)
    with ModelServer([unknown, strict, strict, unknown]) as server:
        run(attempts(server))
        assert ["stream_options" in one.body for one in server.requests] == [True, True, False, True]


@both_wires
def test_silence_within_a_stream_breaks_it_after_the_idle_timeout(wire: WireApi) -> None:
    with ModelServer() as server:
        news, error = failure(server, wire, "words a b; stall forever", stream_idle_timeout_s=0.5)
        server.wait_closed_early()
    assert error == StreamBroken("idle timeout waiting for SSE")
    assert not any(isinstance(one, ResponseEnd) for one in news)


def test_silence_before_the_answer_fails_the_request_after_the_idle_timeout() -> None:
    with ModelServer([Reply((Hold("never"), Close()), status=0)]) as server:
        _, error = failure(server, WireApi.CHAT, "", stream_idle_timeout_s=0.1)
    assert isinstance(error, RequestFailed)


@both_wires
def test_slow_but_steady_is_not_idle(wire: WireApi) -> None:
    """Twenty pauses are longer than the timeout together, but each is far shorter."""
    with ModelServer() as server:
        news = run(heard(server, wire, "slow 20; stream 20", stream_idle_timeout_s=0.3))
    assert TextDone("word " * 20) in news


@both_wires
def test_garbage_breaks_the_stream_and_words_do_not(wire: WireApi) -> None:
    with ModelServer() as server:
        assert TextDone("hi") in run(heard(server, wire, "raw ping; say hi"))
        _, error = failure(server, wire, "words a b; malformed; say c")
        assert error == StreamBroken("an event is not JSON")


@both_wires
def test_an_error_inside_the_stream_fails_with_its_words(wire: WireApi) -> None:
    with ModelServer() as server:
        news, error = failure(server, wire, "words a b; fail server_error the model is tired")
        assert error == StreamBroken("the model is tired")
        assert TextDelta("a b") in news
        assert isinstance(failure(server, wire, "fail context_length_exceeded full")[1], ContextFull)


@both_wires
def test_an_answer_that_the_model_cut_is_an_error(wire: WireApi) -> None:
    with ModelServer() as server:
        error = failure(server, wire, "say half; finish length")[1]
    assert isinstance(error, AnswerCut)
    assert ("max_tokens" if wire is WireApi.MESSAGES else "length") in error.message


@both_wires
def test_a_400_has_the_servers_message(wire: WireApi) -> None:
    with ModelServer() as server:
        _, error = failure(server, wire, "status 400 unknown model x")
    assert error == Rejected("unexpected status 400 Bad Request: unknown model x")


def test_a_429_has_the_wait_that_the_server_asks_for() -> None:
    with ModelServer() as server:
        _, error = failure(server, WireApi.CHAT, "status 429 retry-after=7 slow down")
    assert isinstance(error, RequestFailed)
    assert error.retry_after_s == 7


def test_a_refusal_without_end_is_read_only_so_far() -> None:
    page = canned(b"x" * 70_000, status=400)
    endless = replace(page, steps=(page.steps[0], Pause(None)))
    with ModelServer([endless]) as server:
        assert len(failure(server, WireApi.CHAT, "")[1].message) < 3000
        server.wait_closed_early()


def test_a_refusal_that_stalls_is_shown_as_far_as_it_came() -> None:
    page = canned(b"no such", status=404)
    with ModelServer([replace(page, steps=(page.steps[0], Pause(None)))]) as server:
        _, error = failure(server, WireApi.CHAT, "", bounds=Bounds(refusal_seconds=0.1))
    assert error == Rejected("unexpected status 404 Not Found: no such")


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_is_not_followed_with_the_key(status: int) -> None:
    elsewhere = canned(b"", status=status, headers=[("location", "/v1/chat/completions")])
    with ModelServer([elsewhere]) as server:
        _, error = failure(server, WireApi.CHAT, "", key="sk-secret")
        assert isinstance(error, Rejected)
        assert len(server.requests) == 1


def test_a_server_that_is_not_there_fails_the_request_and_names_the_host() -> None:
    with ModelServer() as server:
        pass
    _, error = failure(server, WireApi.CHAT, "hi")
    assert isinstance(error, RequestFailed)
    assert f"127.0.0.1:{server.port}" in error.message


def test_a_connection_dropped_before_the_answer_fails_the_request() -> None:
    with ModelServer() as server:
        assert isinstance(failure(server, WireApi.CHAT, "drop")[1], RequestFailed)


@pytest.mark.parametrize("url", ["ftp://x/v1", "http://", "nonsense", "http://[::1/v1", "http://x:99999/v1"])
def test_an_address_that_cannot_be_asked_is_rejected_at_once(url: str) -> None:
    async def attempt() -> None:
        async with ModelClient() as client:
            await client.attempt(Endpoint(url), request("hi"), Heard())

    with pytest.raises(Rejected):
        run(attempt())


def test_a_key_that_the_server_quotes_is_not_shown() -> None:
    body = b'{"error":{"message":"Incorrect API key provided: sk-secret"}}'
    with ModelServer([canned(body, status=401)]) as server:
        _, error = failure(server, WireApi.CHAT, "", key="sk-secret")
        assert server.requests[0].headers["authorization"] == "Bearer sk-secret"
    assert error.message == "unexpected status 401 Unauthorized: Incorrect API key provided: […]"


KEY = "sk-proj/Abc+123_xyz=789-end"
SPELLINGS = {
    "json escapes": "".join(f"\\u{ord(one):04x}" for one in KEY),
    "one json escape": KEY.replace("A", "\\u0041"),
    "an escaped slash": KEY.replace("/", "\\/"),
    "json escapes within text": "".join(f"\\\\u{ord(one):04X}" for one in KEY),
    "percent": quote(KEY, safe=""),
    "all percent": "".join(f"%{ord(one):02x}" for one in KEY),
    "html": "".join(f"&#{ord(one)};&#x{ord(one):X};"[: len(f"&#{ord(one)};")] for one in KEY),
    "base64": b64encode(KEY.encode()).decode(),
    "base64 of the header": b64encode(f"Bearer {KEY}".encode()).decode(),
    "base64 of the headers": b64encode(f"x: Bearer {KEY}\r\ny: z".encode()).decode(),
    "base64 for addresses": urlsafe_b64encode(f"user:{KEY}".encode()).decode(),
    "hexadecimal": KEY.encode().hex(),
    "the header": f"authorization: Bearer {KEY}",
    "two fields": KEY[:14] + '", "and": "' + KEY[14:],
}


def fragments(text: str) -> list[str]:
    return [KEY[at : at + 8] for at in range(len(KEY) - 7) if KEY[at : at + 8] in text]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("status", [401, 500])
@pytest.mark.parametrize("body", ['{"error":{"message":"no: %s"}}', '{"said": "no: %s"}'])
def test_a_key_is_not_shown_however_the_server_spells_it(body: str, status: int, spelling: str) -> None:
    with ModelServer([canned((body % SPELLINGS[spelling]).encode(), status=status)] * 2) as server:
        _, error = failure(server, WireApi.CHAT, "", key=KEY)
    for shown in (error.message, str(error), getattr(error, "exhausted", "")):
        decoded = unquote(unescape(shown.encode().decode("unicode_escape", "replace")))
        assert not fragments(shown)
        assert not fragments(decoded)
        for text in (f"{KEY}", f"Bearer {KEY}", f"user:{KEY}"):
            assert b64encode(text.encode()).decode()[12:24] not in shown
            assert urlsafe_b64encode(text.encode()).decode()[12:24] not in shown
        assert KEY.encode().hex() not in shown
    assert "no: " in error.message


def test_a_servers_other_words_are_shown_as_they_are() -> None:
    body = b'{"error":{"message":"The project of the production key is paused: see https://x/%20y"}}'
    with ModelServer([canned(body, status=401)]) as server:
        _, error = failure(server, WireApi.CHAT, "", key=KEY, headers={"X-Stage": "production-of-here"})
    assert error.message.endswith("The project of the production key is paused: see https://x/%20y")


def test_a_key_that_the_server_quotes_inside_a_stream_is_not_shown() -> None:
    with ModelServer() as server:
        _, error = failure(server, WireApi.RESPONSES, "fail x bad key sk-secret", key="sk-secret")
    assert "sk-secret" not in error.message


def cancelled_at(server: ModelServer, prompt: str, gate: str, deliver: Heard | None = None) -> None:
    """Cancel an attempt while the server waits at the gate."""

    async def attempt() -> None:
        async with ModelClient() as client:
            work = client.attempt(endpoint(server, WireApi.CHAT), request(prompt), deliver or Heard())
            task = asyncio.create_task(work)
            await in_thread(server.wait_held, gate)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await in_thread(server.wait_closed_early)  # while the client itself still lives
            assert client.statistics()["streaming"] == 0

    run(attempt())


def test_a_cancel_in_the_middle_of_a_stream_closes_the_connection() -> None:
    with ModelServer() as server:
        cancelled_at(server, "words a b; hold here; say c", "here")


def test_a_cancel_before_the_answer_closes_the_connection() -> None:
    with ModelServer([Reply((Hold("here"), Close()), status=0)]) as server:
        cancelled_at(server, "", "here")


def test_a_cancel_while_the_consumer_is_busy_closes_the_connection() -> None:
    async def attempt(server: ModelServer) -> None:
        busy = asyncio.Event()

        async def deliver(_batch: Sequence[StreamEvent]) -> None:
            busy.set()
            await asyncio.Event().wait()

        async with ModelClient() as client:
            work = client.attempt(endpoint(server, WireApi.CHAT), request("words a b; stall forever"), deliver)
            task = asyncio.create_task(work)
            await busy.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await in_thread(server.wait_closed_early)

    with ModelServer() as server:
        run(attempt(server))


def test_an_error_of_the_consumer_closes_the_connection_even_while_somebody_keeps_the_error() -> None:
    """A traceback that is kept keeps the stream, too; so closing must not be left to the garbage collector."""

    async def deliver(_batch: Sequence[StreamEvent]) -> None:
        raise ZeroDivisionError

    async def attempt(server: ModelServer) -> None:
        async with ModelClient() as client:
            with pytest.raises(ZeroDivisionError) as kept:
                await client.attempt(endpoint(server, WireApi.CHAT), request("words a b; stall forever"), deliver)
            await in_thread(server.wait_closed_early)
            assert kept.value.__traceback__

    with ModelServer() as server:
        run(attempt(server))


def test_the_session_is_named_to_the_responses_wire() -> None:
    with ModelServer() as server:
        run(heard(server, WireApi.RESPONSES, "say hi"))
        assert server.requests[0].headers["session_id"] == "s1"
        assert server.requests[0].body["prompt_cache_key"] == "s1"


@both_wires
def test_requests_one_after_the_other_use_one_connection(wire: WireApi) -> None:
    async def attempts(server: ModelServer) -> None:
        async with ModelClient() as client:
            for number in range(5):
                await client.attempt(endpoint(server, wire), request(f"say {number}"), Heard())
            with pytest.raises(Rejected):
                await client.attempt(endpoint(server, wire), request("status 400"), Heard())
            await client.attempt(endpoint(server, wire), request("say last"), Heard())

    with ModelServer() as server:
        run(attempts(server))
        assert (len(server.requests), server.connections) == (7, 1)


def test_many_streams_at_once_do_not_meet() -> None:
    async def attempts(server: ModelServer) -> None:
        hears = [Heard() for _ in range(40)]
        async with ModelClient() as client, asyncio.TaskGroup() as group:
            for number, hear in enumerate(hears):
                asked = request(f"hold all; stream 20 n{number}.")
                group.create_task(client.attempt(endpoint(server, BOTH[number % 2]), asked, hear))
            await in_thread(server.wait_requests, len(hears))
            server.open("all")
        for number, hear in enumerate(hears):
            assert hear.news[-2] == TextDone(f"n{number}." * 20)

    with ModelServer() as server:
        run(attempts(server))


@both_wires
def test_a_huge_answer_and_a_huge_event_come_whole(wire: WireApi) -> None:
    with ModelServer() as server:
        assert TextDone("word " * 20_000) in run(heard(server, wire, "pack 16384; stream 20000"))
        long = "x" * 2_000_000
        assert TextDone(long) in run(heard(server, wire, f"split 65536; say {long}"))


def test_an_event_beyond_any_measure_is_an_error() -> None:
    small = Bounds(answer_event_bytes=1000)
    with ModelServer() as server:
        _, error = failure(server, WireApi.CHAT, f"say {'x' * 2_000_000}", bounds=small)  # not in one piece
    assert isinstance(error, BeyondBound)
    assert "the bound is 1000 (greenroom.limits.answer_event_bytes" in error.message


def test_loopback_is_asked_directly_and_others_through_the_environments_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with ModelServer() as proxy, ModelServer() as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        run(heard(server, WireApi.CHAT, "say direct"))
        assert not proxy.requests

        async def attempt() -> None:
            async with ModelClient() as client:
                await client.attempt(Endpoint("http://model.invalid/v1"), request("say by proxy"), Heard())

        run(attempt())
        assert [one.path for one in proxy.requests] == ["http://model.invalid/v1/chat/completions"]


def test_a_proxy_that_cannot_be_used_is_told_and_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def attempts(server: ModelServer) -> None:
        async with ModelClient() as client:
            monkeypatch.setenv("ALL_PROXY", "socks5://user:secret@127.0.0.1:1")
            with pytest.raises(Rejected, match="a proxy that the environment names") as failed:
                await client.attempt(endpoint(server, WireApi.CHAT), request("say hi"), Heard())
            assert "secret" not in str(failed.value)
            monkeypatch.delenv("ALL_PROXY")
            await client.attempt(endpoint(server, WireApi.CHAT), request("say hi"), Heard())

    with ModelServer() as server:
        run(attempts(server))


def test_a_client_that_could_not_be_built_closes_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")

    async def attempt() -> None:
        async with ModelClient() as client:
            with pytest.raises(Rejected):
                await client.attempt(Endpoint("http://127.0.0.1:1"), request("hi"), Heard())

    run(attempt())


def test_the_client_is_built_once_and_off_the_loop_even_if_the_first_to_need_it_is_cancelled() -> None:
    async def attempts(server: ModelServer) -> None:
        loop, building, go = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
        builders: list[threading.Thread] = []

        def build() -> httpx.AsyncClient:
            builders.append(threading.current_thread())
            loop.call_soon_threadsafe(building.set)
            assert go.wait(10)
            return build_http()

        async with ModelClient(build) as client:
            tasks = [
                asyncio.create_task(client.attempt(endpoint(server, WireApi.CHAT), request("say hi"), Heard()))
                for _ in range(2)
            ]
            await building.wait()  # the loop is free while the client is built
            tasks[0].cancel()
            await asyncio.wait(tasks[:1])
            assert tasks[0].cancelled()
            go.set()
            await tasks[1]
        assert len(builders) == 1
        assert builders[0] is not threading.current_thread()

    with ModelServer() as server:
        run(attempts(server))


def test_a_client_that_was_prepared_in_vain_is_built_again_for_who_needs_it() -> None:
    built: list[str] = []

    def build() -> httpx.AsyncClient:
        built.append("")
        if len(built) == 1:
            raise OSError(errno.EMFILE, "Too many open files")
        return build_http()

    async def attempts(server: ModelServer) -> None:
        async with ModelClient(build) as client:
            await asyncio.wait({client.prepare()})
            for _ in range(2):
                await client.attempt(endpoint(server, WireApi.CHAT), request("say hi"), Heard())

    with ModelServer() as server:
        run(attempts(server))
    assert len(built) == 2


def test_canned_replies_are_served_in_order_and_counted() -> None:
    replies = [canned(sse({"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]})) for text in "ab"]
    with ModelServer([*replies, "say never"]) as server:
        assert [run(heard(server, WireApi.CHAT, "x"))[1] for _ in replies] == [TextDone("a"), TextDone("b")]
        assert server.unused == 1
