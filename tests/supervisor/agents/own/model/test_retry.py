"""Budgets and pauses as plain arithmetic, then whole responses over real HTTP with a clock that doesn't wait."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from actors.vocabulary.ids import CallId
from supervisor.agents.errors import (
    FatalModelError,
    ModelError,
    Rejected,
    RequestFailed,
    RetriesExhausted,
    RetryableModelError,
    StreamBroken,
    UsageLimit,
)
from supervisor.agents.own.model.client import ModelClient
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.request import CallItem, HistoryItem, ModelRequest, OutputItem, text_message
from supervisor.agents.own.model.retry import Pause, RetryBudgets, back_off, format_delay, respond
from supervisor.agents.own.model.stream_events import CallDone, ResponseEnd, StreamEvent, TextDone
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.model.reading import BOTH, Heard, always, endpoint, in_thread, request, run
from tests.support.model_reply import Reply
from tests.support.model_server import ModelServer

both_wires = pytest.mark.parametrize("wire", BOTH)


def middle(low: float, high: float) -> float:
    return (low + high) / 2


def budgets(requests: int = 4, streams: int = 5) -> RetryBudgets:
    return RetryBudgets(Endpoint("http://x", request_max_retries=requests, stream_max_retries=streams), middle)


def test_the_pause_doubles_from_200_ms() -> None:
    budget = budgets(streams=5)
    delays = [budget.next_pause(StreamBroken("x")).delay_s for _ in range(5)]
    assert delays == pytest.approx([0.2, 0.4, 0.8, 1.6, 3.2])


def test_the_jitter_is_ten_percent_either_way() -> None:
    asked: list[tuple[float, float]] = []

    def lowest(low: float, high: float) -> float:
        asked.append((low, high))
        return low

    assert back_off(1, lowest) == pytest.approx(0.18)
    assert asked == [(0.9, 1.1)]


@pytest.mark.parametrize("attempt", [10, 1000, 10**9])
def test_the_pause_is_a_minute_at_most_however_many_tries_are_allowed(attempt: int) -> None:
    assert back_off(attempt, middle) == pytest.approx(60)


def test_a_pause_says_what_broke_which_try_comes_and_when() -> None:
    pause = budgets().next_pause(StreamBroken("idle timeout waiting for SSE", 0.203))
    assert pause == Pause("stream disconnected before completion: idle timeout waiting for SSE", 1, 5, 0.203)
    assert pause.text == (
        "stream error: stream disconnected before completion: idle timeout waiting for SSE; retrying 1/5 in 203ms…"
    )


@pytest.mark.parametrize(
    ("delay", "text"),
    [(0.0281, "28ms"), (0.9999, "1s"), (1.9, "1.9s"), (12.34, "12.3s"), (600, "600s"), (86400, "86400s")],
)
def test_a_pause_is_shown_as_people_write_it(delay: float, text: str) -> None:
    assert format_delay(delay) == text


def test_the_wait_that_the_server_asks_for_is_taken_unless_it_is_none() -> None:
    assert budgets().next_pause(RequestFailed("x", retry_after_s=7)).delay_s == 7
    assert budgets().next_pause(RequestFailed("x", retry_after_s=0)).delay_s == pytest.approx(0.2)


def test_a_server_that_asks_for_too_much_is_not_waited_for() -> None:
    with pytest.raises(RetriesExhausted, match="asks to wait 86400s"):
        budgets().next_pause(RequestFailed("unexpected status 503 Service Unavailable", retry_after_s=86400))


def test_each_budget_is_spent_by_its_own_kind_of_failure() -> None:
    budget = budgets(requests=1, streams=2)
    kinds: list[RetryableModelError] = [RequestFailed("r"), StreamBroken("s"), RequestFailed("r"), StreamBroken("s")]
    assert [(pause.attempt, pause.most_attempts) for pause in map(budget.next_pause, kinds)] == [
        (1, 1),
        (1, 2),
        (1, 1),
        (2, 2),
    ]
    with pytest.raises(RetriesExhausted, match="stream disconnected before completion: s"):
        budget.next_pause(StreamBroken("s"))


def test_a_request_budget_that_is_spent_says_so() -> None:
    with pytest.raises(RetriesExhausted, match="exceeded retry limit, last error: refused"):
        budgets(requests=0).next_pause(RequestFailed("refused"))


# --- over real HTTP ---


@dataclass
class Turn:
    """A runner's part round a response: it keeps finished items, and runs calls before the next request."""

    prompt: str
    items: list[HistoryItem] = field(default_factory=list)
    pauses: list[Pause] = field(default_factory=list)
    delays: list[float] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    hear: Heard = field(default_factory=Heard)

    async def build(self) -> ModelRequest:
        answered = {item.call_id for item in self.items if isinstance(item, OutputItem)}
        for call in [item for item in self.items if isinstance(item, CallItem) and item.call_id not in answered]:
            self.ran.append(call.arguments)
            self.items.append(OutputItem(call.call_id, "done"))
        return ModelRequest("mock-model", "", (text_message("user", self.prompt), *self.items))

    async def deliver(self, batch: Sequence[StreamEvent]) -> None:
        await self.hear(batch)
        for one in batch:
            if isinstance(one, TextDone):
                self.items.append(text_message("assistant", one.text))
            elif isinstance(one, CallDone):
                self.items.append(CallItem(one.call_id, one.name, one.arguments))

    async def notify(self, pause: Pause) -> None:
        self.pauses.append(pause)

    async def sleep(self, delay_s: float) -> None:
        self.delays.append(delay_s)

    async def respond(self, at: Endpoint) -> None:
        async with ModelClient() as client:
            await respond(client, at, self.build, self.deliver, self.notify, uniform=middle, sleep=self.sleep)


def failing(turn: Turn, at: Endpoint) -> ModelError:
    with pytest.raises(ModelError) as failed:
        run(turn.respond(at))
    return failed.value


@both_wires
def test_server_errors_are_retried_until_the_answer_comes(wire: WireApi) -> None:
    turn = Turn("status 500 times=2; status 429 retry-after=3; drop; say hi")
    with ModelServer() as server:
        run(turn.respond(endpoint(server, wire)))
        assert len(server.requests) == 5
    assert turn.delays == pytest.approx([0.2, 0.4, 3, 1.6])
    assert [(pause.attempt, pause.most_attempts) for pause in turn.pauses] == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert turn.pauses[2].text == (
        "stream error: unexpected status 429 Too Many Requests: status 429; retrying 3/4 in 3s…"
    )
    assert TextDone("hi") in turn.hear.news


@both_wires
def test_server_errors_without_end_exhaust_the_request_budget(wire: WireApi) -> None:
    turn = Turn("status 502 times=all bad gate")
    with ModelServer() as server:
        error = failing(turn, endpoint(server, wire, request_max_retries=2))
        assert len(server.requests) == 3
    assert error == RetriesExhausted("exceeded retry limit, last status: 502 Bad Gateway: bad gate")


@pytest.mark.parametrize("trouble", ["cut", "eof", "malformed", "fail server_error oops"])
@both_wires
def test_a_stream_that_breaks_is_asked_for_again_and_the_answer_comes_once(wire: WireApi, trouble: str) -> None:
    turn = Turn(f"{trouble}; words Here it is.")
    with ModelServer() as server:
        run(turn.respond(endpoint(server, wire)))
        assert len(server.requests) == 2
    assert [(pause.attempt, pause.most_attempts) for pause in turn.pauses] == [(1, 5)]
    assert [one for one in turn.hear.news if isinstance(one, TextDone | ResponseEnd)] == [
        TextDone("Here it is."),
        ResponseEnd("r1_0"),
    ]


@both_wires
def test_streams_that_break_without_end_exhaust_the_stream_budget(wire: WireApi) -> None:
    turn = Turn("words a b; cut times=all")
    with ModelServer() as server:
        error = failing(turn, endpoint(server, wire, stream_max_retries=1))
        assert len(server.requests) == 2
    assert isinstance(error, RetriesExhausted)
    assert error.message.startswith("stream disconnected before completion: ")


def test_a_rate_limit_inside_a_stream_waits_as_long_as_it_says() -> None:
    turn = Turn("fail rate_limit_exceeded Please try again in 1.9s; say hi")
    with ModelServer() as server:
        run(turn.respond(endpoint(server, WireApi.RESPONSES)))
    assert turn.delays == [1.9]


def test_a_call_that_was_finished_before_the_stream_broke_runs_once_and_is_in_the_next_request() -> None:
    script = 'say First.; call shell ["touch", "x"]; say never; cut; then; say Second.'
    turn = Turn(script)
    with ModelServer() as server:
        run(turn.respond(endpoint(server, WireApi.RESPONSES)))
        first, second = (one.body["input"] for one in server.requests)
    assert second[: len(first)] == first
    assert [item["type"] for item in second[1:]] == ["message", "function_call", "message", "function_call_output"]
    assert turn.ran == ['{"command":["touch","x"]}']
    calls = [one for one in turn.hear.news if isinstance(one, CallDone)]
    assert calls == [CallDone(CallId("call_1_0_0"), "shell", '{"command":["touch","x"]}')]
    assert turn.hear.news[-2] == TextDone("Second.")


def test_a_chat_call_in_a_stream_that_broke_is_not_run_at_all() -> None:
    turn = Turn('call shell ["touch", "x"]; cut times=all')
    with ModelServer() as server:
        failing(turn, endpoint(server, WireApi.CHAT, stream_max_retries=1))
        assert server.requests[0].body == server.requests[1].body
    assert not turn.items


@pytest.mark.parametrize("status", ["400", "401", "403", "404"])
@both_wires
def test_a_4xx_fails_at_once(wire: WireApi, status: str) -> None:
    turn = Turn(f"status {status} times=all no such thing")
    with ModelServer() as server:
        error = failing(turn, endpoint(server, wire))
        assert len(server.requests) == 1
    assert isinstance(error, Rejected)
    assert "no such thing" in error.message
    assert not turn.pauses


def test_a_usage_limit_fails_at_once_though_it_is_a_429() -> None:
    turn = Turn("status 429 type=usage_limit_reached times=all retry-after=1 Back at 5.")
    with ModelServer() as server:
        assert failing(turn, endpoint(server, WireApi.CHAT)) == UsageLimit("You've hit your usage limit. Back at 5.")
        assert len(server.requests) == 1


def test_an_answer_that_was_cut_by_the_model_fails_at_once() -> None:
    turn = Turn("say half; finish length")
    with ModelServer() as server:
        assert isinstance(failing(turn, endpoint(server, WireApi.CHAT)), FatalModelError)
        assert len(server.requests) == 1


def test_a_cancel_during_the_pause_ends_it_at_once_and_nothing_more_is_asked() -> None:
    async def attempt(server: ModelServer) -> None:
        paused = asyncio.Event()

        async def notify(pause: Pause) -> None:
            assert pause.delay_s == 500
            paused.set()

        async with ModelClient() as client:
            asked = always(request("status 503 retry-after=500 times=all"))
            task = asyncio.create_task(respond(client, endpoint(server, WireApi.CHAT), asked, Heard(), notify))
            await paused.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    with ModelServer() as server:
        run(attempt(server))
        assert len(server.requests) == 1


def test_a_cancel_during_a_retried_stream_closes_its_connection() -> None:
    async def attempt(server: ModelServer) -> None:
        turn = Turn("status 500; words a b; hold here")
        task = asyncio.create_task(turn.respond(endpoint(server, WireApi.RESPONSES)))
        await in_thread(server.wait_held, "here")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await in_thread(server.wait_closed_early, 1)

    with ModelServer() as server:
        run(attempt(server))


def test_an_error_of_the_consumer_is_its_own_and_is_not_retried() -> None:
    async def deliver(_batch: Sequence[StreamEvent]) -> None:
        raise ZeroDivisionError

    async def attempt(server: ModelServer) -> None:
        turn = Turn("")
        async with ModelClient() as client:
            asked = always(request("say hi"))
            await respond(client, endpoint(server, WireApi.CHAT), asked, deliver, turn.notify, sleep=turn.sleep)

    with ModelServer() as server:
        with pytest.raises(ZeroDivisionError):
            run(attempt(server))
        assert len(server.requests) == 1


def test_a_stale_connection_of_the_pool_costs_a_retry_at_most() -> None:
    """The server closes the kept connection just as the next request is on its way."""
    turn = Turn("say hi")
    with ModelServer(["say first", Reply((), status=0), "say hi"]) as server:

        async def attempts() -> None:
            async with ModelClient() as client:
                at = endpoint(server, WireApi.CHAT)
                await client.attempt(at, request("x"), Heard())
                await respond(client, at, turn.build, turn.deliver, turn.notify, uniform=middle, sleep=turn.sleep)

        run(attempts())
        assert server.connections == 2
    assert TextDone("hi") in turn.hear.news
