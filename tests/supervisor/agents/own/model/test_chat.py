"""The chat wire: requests by the letter, and events from a stream."""

import json
from typing import Any

import pytest

from actors.vocabulary.ids import CallId
from supervisor.agents.errors import AnswerCut, ContextFull, StreamBroken
from supervisor.agents.own.model import chat
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
    ReasoningDone,
    ResponseEnd,
    StreamEvent,
    TextDelta,
    TextDone,
)
from supervisor.agents.own.model.wire import form
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.model.reading import decoded
from tests.support.model_wire import sse

SHELL = ToolSpec("shell", "Runs a command.", {"type": "object", "properties": {"command": {"type": "array"}}})


def body(request: ModelRequest, *, include_usage: bool = False) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(b"".join(chat.body(request, include_usage=include_usage)))
    return made


def chunk(reason: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def piece(index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: str = "") -> Any:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    return {"function": function} | ({} if index is None else {"index": index}) | ({"id": call_id} if call_id else {})


def calls_of(*pieces: Any, reason: str = "tool_calls") -> list[tuple[str, str, str]]:
    """Build calls from pieces that come one by one."""
    chunks = [chunk(tool_calls=[one]) for one in pieces]
    news, failure = decoded(WireApi.CHAT, sse(*chunks, chunk(reason)))
    assert failure is None
    return [(one.call_id, one.name, one.arguments) for one in news if isinstance(one, CallDone)]


def test_a_request_is_what_the_wire_wants_to_the_letter() -> None:
    output = '{"output":"a\\n","metadata":{"exit_code":0,"duration_seconds":0.0}}'
    asked = ModelRequest(
        "mock-model",
        "<instructions>",
        (
            text_message("user", "<environment_context>…"),
            text_message("user", "list files"),
            CallItem(CallId("c1"), "shell", '{"command":["ls"]}'),
            OutputItem(CallId("c1"), output),
        ),
        (SHELL,),
    )
    expected = """
    {"model":"mock-model","stream":true,
     "messages":[{"role":"system","content":"<instructions>"},{"role":"user","content":"<environment_context>…"},
      {"role":"user","content":"list files"},
      {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"shell","arguments":"{\\"command\\":[\\"ls\\"]}"}}]},
      {"role":"tool","tool_call_id":"c1","content":
        "{\\"output\\":\\"a\\\\n\\",\\"metadata\\":{\\"exit_code\\":0,\\"duration_seconds\\":0.0}}"}],
     "tools":[{"type":"function","function":{"name":"shell","description":"Runs a command.","strict":false,
       "parameters":{"type":"object","properties":{"command":{"type":"array"}}}}}]}
    """
    assert body(asked) == json.loads(expected)


def messages(*items: Any) -> list[dict[str, Any]]:
    whole: list[dict[str, Any]] = body(ModelRequest("m", "i", items))["messages"]
    return whole[1:]


def test_calls_of_one_response_are_one_message_and_their_outputs_follow() -> None:
    first, second = CallItem(CallId("a"), "shell", "{}"), CallItem(CallId("b"), "shell", "{}")
    outputs = (OutputItem(CallId("a"), "1"), OutputItem(CallId("b"), "2"))
    shown = messages(
        text_message("user", "go"),
        text_message("assistant", "Looking."),
        first,
        second,
        *outputs,
        text_message("assistant", "Done"),
    )
    assert [message["role"] for message in shown] == ["user", "assistant", "tool", "tool", "assistant"]
    assert shown[1]["content"] == "Looking."
    assert [call["id"] for call in shown[1]["tool_calls"]] == ["a", "b"]


def test_calls_of_two_responses_stay_two_messages() -> None:
    shown = messages(
        CallItem(CallId("a"), "shell", "{}"),
        OutputItem(CallId("a"), "1"),
        CallItem(CallId("b"), "shell", "{}"),
        OutputItem(CallId("b"), "2"),
    )
    assert [message["role"] for message in shown] == ["assistant", "tool", "assistant", "tool"]


def test_text_parts_are_one_string_unless_a_picture_is_among_them() -> None:
    assert messages(MessageItem("user", (TextPart("a"), TextPart("b")))) == [{"role": "user", "content": "ab"}]
    assert messages(MessageItem("user", (TextPart("a"), Image("data:image/png;base64,AA")))) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "a"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
            ],
        }
    ]


def test_reasoning_is_left_out_and_does_not_part_calls_from_their_words() -> None:
    shown = messages(
        text_message("assistant", "Hm."), ReasoningItem("r1", ("why",)), CallItem(CallId("a"), "shell", "{}")
    )
    assert len(shown) == 1
    assert shown[0]["content"] == "Hm."


def test_usage_is_asked_for_only_where_the_endpoint_says_so() -> None:
    request = ModelRequest("m", "i", ())
    assert "stream_options" not in body(request)
    assert "tools" not in body(request)
    assert body(request, include_usage=True)["stream_options"] == {"include_usage": True}


def test_the_shortest_answers_of_the_wire_are_read() -> None:
    text = b'data: {"choices":[{"delta":{"content":"Done"},"finish_reason":"stop"}]}\n\n'
    assert decoded(WireApi.CHAT, text) == ([TextDelta("Done"), TextDone("Done"), ResponseEnd()], None)
    call = (
        rb'data: {"choices":[{"delta":{"tool_calls":[{"id":"c1","function":{"name":"shell","arguments":'
        rb'"{\"command\":[\"git\",\"init\"],\"workdir\":\"/w\",\"timeout\":5000}"}}]},"finish_reason":"tool_calls"}]}'
    )
    arguments = '{"command":["git","init"],"workdir":"/w","timeout":5000}'
    assert decoded(WireApi.CHAT, call + b"\n\n")[0] == [CallDone(CallId("c1"), "shell", arguments), ResponseEnd()]


def test_several_calls_come_by_index_whatever_order_their_pieces_have() -> None:
    assert calls_of(
        piece(1, "b", "shell", '{"n'),
        piece(0, "a", "update_plan", "{"),
        piece(1, arguments='":1}'),
        piece(0, arguments="}"),
    ) == [("a", "update_plan", "{}"), ("b", "shell", '{"n":1}')]


def test_several_pieces_in_one_chunk_are_all_read() -> None:
    news, _ = decoded(
        WireApi.CHAT, sse(chunk("tool_calls", tool_calls=[piece(0, "a", "x", "1"), piece(1, "b", "y", "2")]))
    )
    assert news[:2] == [CallDone(CallId("a"), "x", "1"), CallDone(CallId("b"), "y", "2")]


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([piece(None, "a", "x", "1"), piece(None, "b", "y", "2")], id="no-index"),
        pytest.param(
            [piece(None, "a", "x"), piece(arguments="1"), piece(None, "b", "y"), piece(arguments="2")], id="pieces"
        ),
        pytest.param([piece(0, "a", "x", "1"), piece(0, "b", "y", "2")], id="index-always-0"),
        pytest.param(
            [piece(0, "a", "x"), piece(0, "a", "x", "1"), piece(1, "b"), piece(1, "b", "y", "2")], id="repeated"
        ),
        pytest.param([piece(0, "a", "x"), piece(0, "z", None, "1"), piece(1, "b", "y", "2")], id="an-id-per-piece"),
    ],
)
def test_calls_of_careless_servers_are_told_apart(pieces: list[Any]) -> None:
    assert calls_of(*pieces) == [("a", "x", "1"), ("b", "y", "2")]


def test_a_name_may_come_in_pieces() -> None:
    assert calls_of(piece(0, "a", "she"), piece(0, None, "ll"), piece(0, arguments="{}")) == [("a", "shell", "{}")]


def test_calls_without_any_id_get_different_ones() -> None:
    found = calls_of(piece(None, None, "x", "1"), piece(None, None, "y", "2"))
    assert [(name, arguments) for _, name, arguments in found] == [("x", "1"), ("y", "2")]
    assert len({call_id for call_id, _, _ in found if call_id}) == 2


def test_decoded_arguments_are_written_as_json_again() -> None:
    undecoded = {"index": 0, "id": "a", "function": {"name": "x", "arguments": {"n": 1}}}
    assert calls_of(undecoded) == [("a", "x", '{"n":1}')]


def test_calls_count_even_when_the_server_says_stop() -> None:
    assert calls_of(piece(0, "a", "x", "{}"), reason="stop") == [("a", "x", "{}")]


def test_reasoning_and_text_come_before_calls_that_were_sent_first() -> None:
    events = [
        chunk(tool_calls=[piece(0, "a", "x", "{}")]),
        chunk(reasoning="hm"),
        chunk(reasoning={"text": "m"}),
        chunk(reasoning_content="!"),
        chunk(content="Hi"),
        chunk("tool_calls"),
    ]
    news, _ = decoded(WireApi.CHAT, sse(*events))
    assert news == [
        RawReasoningDelta("hmm!"),
        TextDelta("Hi"),
        ReasoningDone("", raw="hmm!"),
        TextDone("Hi"),
        CallDone(CallId("a"), "x", "{}"),
        ResponseEnd("c"),
    ]


USAGE = {
    "prompt_tokens": 5,
    "completion_tokens": 2,
    "total_tokens": 7,
    "prompt_tokens_details": {"cached_tokens": 3},
    "completion_tokens_details": {"reasoning_tokens": 1},
}
COUNTED: list[StreamEvent] = [
    TextDelta("x"),
    TextDone("x"),
    TokenUsage(5, 2, 7, cached=3, reasoning=1),
    ResponseEnd("c"),
]


def test_usage_is_read_after_the_finish_reason_and_beside_it() -> None:
    after = sse(chunk("stop", content="x"), {"choices": [], "usage": USAGE}, "[DONE]")
    beside = sse(chunk("stop", content="x") | {"usage": USAGE})
    assert decoded(WireApi.CHAT, after) == (COUNTED, None)
    assert decoded(WireApi.CHAT, beside) == (COUNTED, None)


@pytest.mark.parametrize(
    ("counts", "cached", "written"),
    [
        ({"prompt_tokens_details": {"cached_tokens": 3, "cache_write_tokens": 2}}, 3, 2),  # OpenRouter
        ({"prompt_cache_hit_tokens": 4, "prompt_cache_miss_tokens": 1}, 4, None),  # DeepSeek
    ],
)
def test_cache_reads_and_writes_are_counted_under_each_servers_names(
    counts: dict[str, Any], cached: int, written: int | None
) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, **counts}
    news, _ = decoded(WireApi.CHAT, sse(chunk("stop"), {"choices": [], "usage": usage}))
    assert news == [TokenUsage(5, 2, 7, cached=cached, cache_written=written), ResponseEnd("c")]


def test_usage_without_details_leaves_them_unknown() -> None:
    news, _ = decoded(WireApi.CHAT, sse(chunk("stop"), {"choices": [], "usage": {"prompt_tokens": 5}}))
    assert news == [TokenUsage(5, 0, 5), ResponseEnd("c")]


def test_done_finishes_an_answer_whose_server_gives_no_reason() -> None:
    assert decoded(WireApi.CHAT, sse(chunk(content="x"), "[DONE]")) == (
        [TextDelta("x"), TextDone("x"), ResponseEnd("c")],
        None,
    )


def test_nothing_after_the_finish_reason_adds_to_the_answer() -> None:
    news, failure = decoded(
        WireApi.CHAT, sse(chunk("stop", content="x"), chunk("stop", content="y"), {"error": "late"})
    )
    assert (news, failure) == ([TextDelta("x"), TextDone("x"), ResponseEnd("c")], None)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_is_an_error_and_no_item_of_it_is_finished(reason: str) -> None:
    news, failure = decoded(
        WireApi.CHAT, sse(chunk(content="x"), chunk(tool_calls=[piece(0, "a", "x")]), chunk(reason))
    )
    assert news == [TextDelta("x")]
    assert failure == AnswerCut(reason)


def test_the_end_of_the_connection_finishes_nothing() -> None:
    news, failure = decoded(WireApi.CHAT, sse(chunk(content="x"), chunk(tool_calls=[piece(0, "a", "x", "{}")])))
    assert news == [TextDelta("x")]
    assert failure == StreamBroken("stream closed before a finish_reason")


def test_an_error_inside_the_stream_ends_it_with_the_servers_words() -> None:
    news, failure = decoded(
        WireApi.CHAT, sse(chunk(content="x"), {"error": {"message": "overloaded"}}, chunk("stop"))
    )
    assert news == [TextDelta("x")]
    assert failure == StreamBroken("overloaded")
    full = {"error": {"code": "context_length_exceeded", "message": "too long"}}
    assert decoded(WireApi.CHAT, sse(full))[1] == ContextFull("too long")


def test_data_that_is_no_json_is_skipped_but_broken_json_breaks_the_stream() -> None:
    assert decoded(WireApi.CHAT, sse("ping", "", "[1]", "17", chunk("stop", content="x")))[1] is None
    news, failure = decoded(WireApi.CHAT, sse(chunk(content="x"), '{"choices":[{"de', chunk("stop", content="y")))
    assert news == [TextDelta("x")]
    assert failure == StreamBroken("an event is not JSON")


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": None},
        {"choices": [None]},
        {"choices": {"a": 1}},
        {"choices": [{"delta": "x"}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": 7, "reasoning": []}}]},
        {"choices": [{"delta": {"tool_calls": [None, {"function": None}]}}], "usage": "many"},
    ],
)
def test_events_of_another_shape_do_no_harm(odd: dict[str, Any]) -> None:
    news, failure = decoded(WireApi.CHAT, sse(odd, chunk("stop", content="x")))
    assert TextDone("x") in news
    assert failure is None


def test_a_refusal_and_wrapped_words_are_text() -> None:
    assert decoded(WireApi.CHAT, sse(chunk("stop", refusal="No.")))[0][1] == TextDone("No.")
    wrapped = chunk("stop", content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    assert decoded(WireApi.CHAT, sse(wrapped))[0][1] == TextDone("ab")


def test_a_surrogate_pair_cut_between_two_events_is_joined() -> None:
    halves = [
        rb'{"id":"c","choices":[{"delta":{"content":"a\ud83d"}}]}',
        rb'{"choices":[{"delta":{"content":"\ude00b"}}]}',
    ]
    end = sse(chunk("stop"))
    for chunks in (
        [b"data: %b\n\n" % half for half in halves],
        [b"".join(b"data: %b\n\n" % half for half in halves)],
    ):
        news, _ = decoded(WireApi.CHAT, *chunks, end)
        assert news == [TextDelta("a😀b"), TextDone("a😀b"), ResponseEnd("c")]


def test_half_a_surrogate_pair_never_reaches_anybody() -> None:
    lone = rb'data: {"id":"c","choices":[{"delta":{"content":"a\ud83d"},"finish_reason":"stop"}]}'
    for one in decoded(WireApi.CHAT, lone + b"\n\n")[0]:
        if isinstance(one, TextDelta | TextDone):
            one.text.encode()


SIGNED = {"extra_content": {"google": {"thought_signature": "c2ln"}}}


def test_the_signature_of_a_geminis_call_is_kept_and_sent_back_to_a_gemini_alone() -> None:
    first = piece(0, "a", "shell", "{}") | SIGNED
    news, _ = decoded(WireApi.CHAT, sse(chunk(tool_calls=[first, piece(1, "b", "shell", "{}")]), chunk("tool_calls")))
    calls = [one for one in news if isinstance(one, CallDone)]
    assert [one.signature for one in calls] == ["c2ln", ""]
    items = tuple(CallItem(one.call_id, one.name, one.arguments, one.signature) for one in calls)
    for model, sent in (("gemini-flash-latest", [True, False]), ("gpt-5", [False, False])):
        written = form(WireApi.CHAT, model)
        made = body(ModelRequest(model, "i", tuple(map(written.encode, items))))
        assert ["extra_content" in call for call in made["messages"][1]["tool_calls"]] == sent
    assert made["messages"][1]["tool_calls"][0].keys() == {"id", "type", "function"}


@pytest.mark.parametrize(
    ("told", "cost"), [(0.25, 0.25), (0, 0.0), ("0.25", None), (-1, None), (True, None), (1e9, None)]
)
def test_the_cost_that_a_provider_tells_is_taken_if_it_is_an_amount(told: object, cost: float | None) -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7, "cost": told}
    assert chat._usage(usage) == TokenUsage(5, 2, 7, cost=cost)
