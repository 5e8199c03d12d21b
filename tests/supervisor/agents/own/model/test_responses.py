"""The responses wire: requests by the letter, and events from a stream."""

import json
from typing import Any

import pytest

from actors.vocabulary.ids import CallId
from actors.vocabulary.settings import ReasoningEffort, ReasoningSummary
from supervisor.agents.errors import (
    AnswerCut,
    ContextFull,
    ModelError,
    Rejected,
    RetryableModelError,
    StreamBroken,
    UsageLimit,
)
from supervisor.agents.own.model import responses
from supervisor.agents.own.model.request import (
    CallItem,
    Image,
    MessageItem,
    ModelRequest,
    OutputItem,
    ReasoningItem,
    TextPart,
    ToolSpec,
    text_message,
)
from supervisor.agents.own.model.stream_events import (
    CallDone,
    RawReasoningDelta,
    ReasoningDelta,
    ReasoningDone,
    ResponseEnd,
    SectionBreak,
    TextDelta,
    TextDone,
)
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.model.reading import decoded
from tests.support.model_wire import sse


def message(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return done({"type": "message", "role": "assistant", "content": content})


def done(item: dict[str, Any]) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": item}


def body(request: ModelRequest) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(b"".join(responses.body(request)))
    return made


def delta(kind: str, text: str) -> dict[str, Any]:
    return {"type": f"response.{kind}.delta", "delta": text}


def failed(**error: str) -> dict[str, Any]:
    return {"type": "response.failed", "response": {"error": error}}


COMPLETED = {"type": "response.completed", "response": {"id": "r1"}}


def test_a_request_is_what_the_wire_wants_to_the_letter() -> None:
    asked = ModelRequest(
        "gpt-5",
        "…",
        (
            text_message("user", "hi"),
            text_message("assistant", "yo"),
            CallItem(CallId("c1"), "shell", "{…}"),
            OutputItem(CallId("c1"), "text"),
        ),
        (ToolSpec("shell", "…", {"type": "object"}),),
        ReasoningEffort.MEDIUM,
        ReasoningSummary.AUTO,
        "s1",
    )
    expected = """
    {"model":"gpt-5","instructions":"…","input":[
       {"type":"message","id":null,"role":"user","content":[{"type":"input_text","text":"hi"}]},
       {"type":"message","id":null,"role":"assistant","content":[{"type":"output_text","text":"yo"}]},
       {"type":"function_call","id":null,"name":"shell","arguments":"{…}","call_id":"c1"},
       {"type":"function_call_output","call_id":"c1","output":"text"}],
     "tools":[{"type":"function","name":"shell","description":"…","strict":false,"parameters":{"type":"object"}}],
     "tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"medium","summary":"auto"},
     "store":true,"stream":true,"include":[],"prompt_cache_key":"s1"}
    """
    assert body(asked) == json.loads(expected)


def rendered(**options: Any) -> dict[str, Any]:
    return body(ModelRequest("m", "i", (), **options))


def test_reasoning_is_null_without_effort_and_summary_is_left_out_for_none() -> None:
    assert rendered(effort=ReasoningEffort.NONE)["reasoning"] is None
    asked = rendered(effort=ReasoningEffort.HIGH, summary=ReasoningSummary.NONE)
    assert asked["reasoning"] == {"effort": "high"}


def test_encrypted_reasoning_is_asked_for_only_when_nothing_is_stored() -> None:
    wanted = ["reasoning.encrypted_content"]
    assert rendered(effort=ReasoningEffort.LOW, store=False)["include"] == wanted
    assert rendered(effort=ReasoningEffort.LOW, store=True)["include"] == []
    assert rendered(effort=ReasoningEffort.NONE, store=False)["include"] == []


def test_pictures_and_reasoning_are_input_items() -> None:
    items = (
        MessageItem("user", (TextPart("see"), Image("https://x/y.png"))),
        ReasoningItem("rs_1", ("a", "b"), "opaque"),
        ReasoningItem("rs_2"),
    )
    assert body(ModelRequest("m", "i", items))["input"] == [
        {
            "type": "message",
            "id": None,
            "role": "user",
            "content": [
                {"type": "input_text", "text": "see"},
                {"type": "input_image", "image_url": "https://x/y.png"},
            ],
        },
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}],
            "encrypted_content": "opaque",
        },
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": None},
    ]


def test_the_wires_own_example_is_read() -> None:
    stream = (
        b"event: response.output_item.done\n"
        b'data: {"type":"response.output_item.done","item":{"type":"message","role":"assistant",'
        b'"content":[{"type":"output_text","text":"hi"}]}}\n\n'
        b"event: response.completed\n"
        b'data: {"type":"response.completed","response":{"id":"r1","usage":{"input_tokens":3,'
        b'"input_tokens_details":null,"output_tokens":1,"output_tokens_details":null,"total_tokens":4}}}\n\n'
    )
    assert decoded(WireApi.RESPONSES, stream) == ([TextDone("hi"), TokenUsage(3, 1, 4), ResponseEnd("r1")], None)


def test_items_come_in_the_servers_order_and_say_everything_again() -> None:
    part_added = {"type": "response.reasoning_summary_part.added"}
    summary = [{"type": "summary_text", "text": "ab"}, {"type": "summary_text", "text": "c"}]
    content = [{"type": "reasoning_text", "text": "raw"}]
    reasoning = {"type": "reasoning", "id": "rs", "summary": summary, "content": content, "encrypted_content": "e"}
    events = [
        {"type": "response.created", "response": {"id": "r1"}},
        part_added,
        delta("reasoning_summary_text", "a"),
        delta("reasoning_summary_text", "b"),
        part_added,
        delta("reasoning_summary_text", "c"),
        delta("reasoning_text", "raw"),
        done(reasoning),
        delta("output_text", "Hel"),
        delta("output_text", "lo"),
        message("Hello"),
        delta("function_call_arguments", "{"),
        done({"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"}),
        done({"type": "function_call", "call_id": "c2", "name": "shell", "arguments": "[]"}),
        done({"type": "file_search_call", "id": "w"}),
        COMPLETED,
    ]
    assert decoded(WireApi.RESPONSES, sse(*events)) == (
        [
            ReasoningDelta("ab"),
            SectionBreak(),
            ReasoningDelta("c"),
            RawReasoningDelta("raw"),
            ReasoningDone("rs", ("ab", "c"), "raw", "e"),
            TextDelta("Hello"),
            TextDone("Hello"),
            CallDone(CallId("c1"), "shell", "{}"),
            CallDone(CallId("c2"), "shell", "[]"),
            ResponseEnd("r1"),
        ],
        None,
    )


def test_adjacent_deltas_of_a_chunk_are_one_and_those_of_two_messages_are_not() -> None:
    events = sse(delta("output_text", "a"), delta("output_text", "b"), message("ab"), delta("output_text", "c"))
    assert decoded(WireApi.RESPONSES, events)[0] == [TextDelta("ab"), TextDone("ab"), TextDelta("c")]


def test_finished_items_are_told_though_the_stream_breaks() -> None:
    call = done({"type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}"})
    news, failure = decoded(WireApi.RESPONSES, sse(message("one"), call, delta("output_text", "tw")))
    assert news == [TextDone("one"), CallDone(CallId("c1"), "shell", "{}"), TextDelta("tw")]
    assert failure == StreamBroken("stream closed before response.completed")


def test_a_refusal_is_text() -> None:
    item = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    assert decoded(WireApi.RESPONSES, sse(delta("refusal", "No."), done(item), COMPLETED))[0] == [
        TextDelta("No."),
        TextDone("No."),
        ResponseEnd("r1"),
    ]


def test_usage_with_details_is_kept() -> None:
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 12,
    }
    completed = {"type": "response.completed", "response": {"id": "r1", "usage": usage}}
    assert decoded(WireApi.RESPONSES, sse(completed))[0] == [
        TokenUsage(9, 3, 12, cached=4, reasoning=2),
        ResponseEnd("r1"),
    ]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (failed(code="server_error", message="sorry"), StreamBroken("sorry")),
        ({"type": "response.failed", "response": {}}, StreamBroken("response.failed event received")),
        (failed(code="context_length_exceeded", message="too long"), ContextFull("too long")),
        (failed(code="insufficient_quota", message="pay"), UsageLimit("You've hit your usage limit. pay")),
        (failed(code="invalid_prompt", message="bad"), Rejected("bad")),
        ({"type": "error", "code": "server_error", "message": "flat"}, StreamBroken("flat")),
        ({"type": "error", "error": {"message": "nested"}}, StreamBroken("nested")),
        ({"error": {"message": "untyped"}}, StreamBroken("untyped")),
        (
            {"type": "response.incomplete", "response": {"incomplete_details": {"reason": "max_output_tokens"}}},
            AnswerCut("max_output_tokens"),
        ),
        ({"type": "response.incomplete"}, AnswerCut("incomplete")),
    ],
)
def test_a_failure_inside_the_stream_ends_it(event: dict[str, Any], expected: ModelError) -> None:
    news, failure = decoded(WireApi.RESPONSES, sse(delta("output_text", "x"), event, message("late"), COMPLETED))
    assert news == [TextDelta("x")]
    assert failure == expected


@pytest.mark.parametrize(
    ("words", "delay"),
    [
        ("Please try again in 1.9s. Visit …", 1.9),
        ("Please try again in 28ms.", 0.028),
        ("try again in 6m0s", 360.0),
        ("Try again in a while", None),
        ("no hint", None),
    ],
)
def test_the_wait_that_a_rate_limit_asks_for_is_kept(words: str, delay: float | None) -> None:
    _, failure = decoded(WireApi.RESPONSES, sse(failed(code="rate_limit_exceeded", message=words)))
    assert isinstance(failure, RetryableModelError)
    assert failure.retry_after_s == delay


@pytest.mark.parametrize(
    "odd",
    [
        {"type": 5},
        {"type": "response.output_text.delta"},
        {"type": "response.output_text.delta", "delta": {"a": 1}},
        {"type": "response.output_item.done"},
        {"type": "response.output_item.done", "item": []},
        {"type": "response.output_item.done", "item": {"type": "reasoning", "summary": "x", "content": 5}},
        {"type": "response.created"},
    ],
)
def test_events_of_another_shape_do_no_harm(odd: dict[str, Any]) -> None:
    news, failure = decoded(WireApi.RESPONSES, sse(odd, message("x"), COMPLETED))
    assert news[-2:] == [TextDone("x"), ResponseEnd("r1")]
    assert failure is None
