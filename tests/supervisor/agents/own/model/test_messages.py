"""The messages wire: requests as Anthropic wants them, and streams as three servers write them."""

import json
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.ids import CallId
from actors.vocabulary.settings import ReasoningEffort, ReasoningSummary
from supervisor.agents.errors import AnswerCut, ContextFull, Rejected, StreamBroken, UsageLimit
from supervisor.agents.own.model import messages
from supervisor.agents.own.model.request import (
    CallItem,
    HistoryItem,
    Image,
    LocalImage,
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
    ReasoningDelta,
    ReasoningDone,
    ResponseEnd,
    StreamEvent,
    TextDelta,
    TextDone,
)
from supervisor.agents.own.model.wire import decoder
from supervisor.agents.spending.usage import TokenUsage
from supervisor.config.shared_keys import WireApi
from tests.supervisor.agents.own.model.reading import decoded
from tests.support.model_wire import sse

STREAMS = Path(__file__).parent / "streams"
OPUS = "claude-opus-4-5"
NEWEST = "claude-opus-5-5"
THOUGHT = ReasoningItem("", ("so",), signature="sig", wire="messages", model=OPUS)
CACHED = {"cache_control": {"type": "ephemeral"}}


def body(*items: HistoryItem, model: str = OPUS, longest: int | None = None, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        b"".join(messages.body(ModelRequest(model, "Be brief.", items, **more), longest))
    )
    return made


def history(*items: HistoryItem, model: str = OPUS) -> list[tuple[str, list[Any]]]:
    """Return the messages as roles and blocks, without marks."""
    made = body(*items, model=model)["messages"]
    for message in made:
        for block in message["content"]:
            block.pop("cache_control", None)
    return [(message["role"], message["content"]) for message in made]


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def called(name: str = "c1", arguments: str = '{"command":["ls"]}') -> CallItem:
    return CallItem(CallId(name), "shell", arguments)


def test_messages_before_the_history_become_the_system_prompt() -> None:
    made = body(text_message("developer", "Review only."), text_message("user", "hi"))
    assert made["system"] == [text("Be brief."), text("Review only.") | CACHED]
    assert made["messages"] == [{"role": "user", "content": [text("hi") | CACHED]}]
    assert made["stream"] is True


def test_words_of_a_developer_in_the_middle_are_a_persons() -> None:
    assert history(text_message("user", "a"), text_message("developer", "b")) == [("user", [text("a"), text("b")])]


def test_adjacent_items_of_a_role_are_one_message_and_results_come_before_what_was_said_meanwhile() -> None:
    items = (
        text_message("user", "a"),
        text_message("user", "b"),
        THOUGHT,
        text_message("assistant", "c"),
        called("1"),
        called("2"),
    )
    results = (OutputItem(CallId("1"), "out"), OutputItem(CallId("2"), " ", failed=True))
    call = {"type": "tool_use", "name": "shell", "input": {"command": ["ls"]}}
    assert history(*items, *results, text_message("user", "also")) == [
        ("user", [text("a"), text("b")]),
        (
            "assistant",
            [
                {"type": "thinking", "thinking": "so", "signature": "sig"},
                text("c"),
                {**call, "id": "1"},
                {**call, "id": "2"},
            ],
        ),
        (
            "user",
            [
                {"type": "tool_result", "tool_use_id": "1", "content": "out"},
                {"type": "tool_result", "tool_use_id": "2", "is_error": True},
                text("also"),
            ],
        ),
    ]


def test_a_person_has_the_first_word_and_the_last() -> None:
    begun, _, last = history(text_message("assistant", "hello"))
    assert begun == ("user", [text("[what came before is not shown]")])
    assert last == ("user", [text("Go on.")])


def test_empty_words_are_left_out() -> None:
    assert history(text_message("user", "a"), text_message("assistant", " \n"), text_message("user", "b")) == [
        ("user", [text("a"), text("b")])
    ]


def test_pictures_go_as_data_or_addresses_and_what_is_no_picture_in_words() -> None:
    pictures = (
        Image("data:image/png;base64,AAAA"),
        Image("data:image/jpg;base64,BBBB"),
        Image("https://x/y.png"),
        Image("data:image/svg+xml;base64,CCCC"),
        LocalImage(Path("/gone.png")),
    )
    assert history(MessageItem("user", (TextPart("see"), *pictures)))[0][1][1:] == [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "BBBB"}},
        {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        text("[a picture in a format that the model does not read]"),
        text("[the picture /gone.png]"),
    ]


@pytest.mark.parametrize("arguments", ["not json", "[1]", '{"a": NaN}', ""])
def test_arguments_that_are_no_object_are_shown_in_one(arguments: str) -> None:
    block = history(text_message("user", "a"), called("c", arguments), OutputItem(CallId("c"), "x"))[1][1][0]
    assert block["input"] == {"unreadable": arguments}


def test_ids_of_other_wires_servers_are_made_fit_and_stay_apart() -> None:
    items = (text_message("user", "a"), called("functions.shell:0"), called("functions_shell:0"))
    _, (_, calls), (_, results) = history(
        *items, OutputItem(CallId("functions.shell:0"), "x"), OutputItem(CallId("functions_shell:0"), "y")
    )
    ids = [call["id"] for call in calls]
    assert ids == [result["tool_use_id"] for result in results]
    assert len(set(ids)) == 2
    assert all(name.replace("_", "").isalnum() for name in ids)


@pytest.mark.parametrize(
    ("thought", "model", "sent"),
    [
        (THOUGHT, OPUS, True),
        (THOUGHT, "anthropic/claude-sonnet-5", True),  # a Claude model drops by itself what it can't read
        (THOUGHT, "qwen3", False),
        (ReasoningItem("", ("so",), wire="messages", model=OPUS), OPUS, False),  # unsigned
        (ReasoningItem("", ("so",), wire="messages", model="qwen3"), "qwen3", True),
        (ReasoningItem("", ("so",), signature="its own", wire="messages", model="qwen3"), OPUS, False),
        (ReasoningItem("", (), "sealed", wire="messages", model=OPUS), OPUS, True),
        (ReasoningItem("rs_1", ("so",), "sealed"), OPUS, False),
    ],
)
def test_thinking_goes_back_to_a_model_that_can_check_it(
    thought: ReasoningItem, model: str, sent: bool
) -> None:  # a parameter of the test
    made = history(text_message("user", "a"), thought, called(), OutputItem(CallId("c1"), "x"), model=model)
    assert (len(made[1][1]) == 2) is sent


def test_thinking_without_text_is_sent_with_its_signature_and_sealed_thinking_as_it_came() -> None:
    bare, sealed = replace_thought(summary=()), ReasoningItem("", (), "EmwKAhgB", wire="messages", model=OPUS)
    blocks = history(
        text_message("user", "a"), bare, sealed, text_message("assistant", "b"), text_message("user", "c")
    )[1][1]
    assert blocks[:2] == [
        {"type": "thinking", "thinking": "", "signature": "sig"},
        {"type": "redacted_thinking", "data": "EmwKAhgB"},
    ]


def replace_thought(summary: tuple[str, ...]) -> ReasoningItem:
    return ReasoningItem("", summary, signature="sig", wire="messages", model=OPUS)


def test_an_answer_of_thinking_alone_gets_words_because_none_may_end_in_thinking() -> None:
    assert history(text_message("user", "a"), THOUGHT, text_message("user", "b"))[1][1][-1] == text("[no words]")


def marks(*items: HistoryItem) -> list[str]:
    """Return the texts of the marked blocks."""
    made = body(*items)["messages"]
    return [
        block.get("text") or block["content"]
        for message in made
        for block in message["content"]
        if "cache_control" in block
    ]


def test_marks_stand_where_this_request_ends_and_where_the_last_two_ended() -> None:
    """A cache is read where an earlier request had it written: each repeats the marks of those before it."""
    items: list[HistoryItem] = [text_message("user", "one"), text_message("user", "two")]
    assert marks(*items) == ["two"]
    items += [called(f"c{number}") for number in range(30)]  # more blocks than a server looks back over
    items += [OutputItem(CallId(f"c{number}"), f"out {number}") for number in range(30)]
    assert marks(*items) == ["two", "out 29"]
    items += [text_message("assistant", "done"), text_message("user", "three")]
    assert marks(*items) == ["two", "out 29", "three"]
    items += [THOUGHT, called("d"), OutputItem(CallId("d"), "last")]
    assert marks(*items) == ["out 29", "three", "last"]


@pytest.mark.parametrize("union", ["anyOf", "oneOf", "allOf"])
def test_alternatives_at_the_top_of_a_schema_become_members(union: str) -> None:
    branches = [{"properties": {"a": {"type": "string"}}, "required": ["a"]}, {"properties": {"b": {}}}]
    tool = ToolSpec("t", "d", {union: branches, "properties": {"c": {}}, "required": ["c"]})
    schema = body(text_message("user", "x"), tools=(tool,))["tools"][0]["input_schema"]
    assert schema == {"type": "object", "properties": {"a": {"type": "string"}, "b": {}, "c": {}}, "required": ["c"]}
    plain = {"type": "object", "properties": {"p": {"anyOf": [{"type": "string"}]}}}
    assert body(text_message("user", "x"), tools=(ToolSpec("t", "d", plain),))["tools"][0]["input_schema"] == plain


ADAPTIVE = {"type": "adaptive", "display": "summarized"}
BOUND = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}


@pytest.mark.parametrize(
    ("model", "effort", "thinking", "depth", "longest"),
    [
        ("claude-3-5-haiku-20241022", "high", None, None, 8_192),
        ("claude-3-haiku-20240307", "none", None, None, 4_096),
        ("claude-3-7-sonnet-20250219", "low", {"type": "enabled", "budget_tokens": 4_096}, None, 32_000),
        (OPUS, "high", {"type": "enabled", "budget_tokens": 16_000}, None, 32_000),
        (OPUS, "none", None, None, 32_000),
        ("claude-sonnet-4-20250514", "medium", {"type": "enabled", "budget_tokens": 10_000}, None, 32_000),
        ("claude-sonnet-4-6", "medium", ADAPTIVE, "medium", 64_000),
        ("anthropic/claude-opus-4.8", "none", None, None, 64_000),
        ("claude-sonnet-5", "minimal", ADAPTIVE, "low", 64_000),
        ("claude-sonnet-5", "none", {"type": "disabled"}, None, 64_000),
        (NEWEST, "high", ADAPTIVE | BOUND, "high", 64_000),
        (NEWEST, "none", {"type": "adaptive", "display": "omitted"} | BOUND, "low", 64_000),
        ("claude-fable-5", "none", {"type": "adaptive", "display": "omitted"}, "low", 64_000),
        ("claude-mythos-preview", "high", ADAPTIVE, "high", 64_000),
        ("qwen3-coder", "high", None, None, 32_000),
        ("qwen3-coder", "none", {"type": "disabled"}, None, 32_000),
    ],
)
def test_each_model_is_asked_to_think_in_its_own_way(
    model: str, effort: str, thinking: Any, depth: str | None, longest: int
) -> None:
    made = body(text_message("user", "x"), model=model, effort=ReasoningEffort(effort))
    assert (made.get("thinking"), made.get("output_config"), made["max_tokens"]) == (
        thinking,
        depth and {"effort": depth},
        longest,
    )


def test_thinking_is_not_shown_where_no_summary_is_wanted_and_fits_a_short_answer() -> None:
    asked: dict[str, Any] = {"effort": ReasoningEffort.HIGH, "summary": ReasoningSummary.NONE}
    assert body(text_message("user", "x"), model=NEWEST, **asked)["thinking"]["display"] == "omitted"
    assert body(text_message("user", "x"), longest=4_000, **asked)["thinking"]["budget_tokens"] == 2_000
    assert "thinking" not in body(text_message("user", "x"), longest=2_000, **asked)


# --- streams --------------------------------------------------------------------------------------------------------


def recorded(name: str) -> tuple[list[StreamEvent], Any]:
    return decoded(WireApi.MESSAGES, (STREAMS / f"{name}.sse").read_bytes())


def test_anthropics_stream_with_thinking_and_a_call() -> None:
    news, failure = recorded("anthropic-thinking-and-tool")
    assert failure is None
    thought = "The user wants the weather in San Francisco; I have a tool for that."
    assert news == [
        ReasoningDelta(thought),
        TextDelta("Okay, let's check the weather:"),
        ReasoningDone("", (thought,), signature="EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pk", wire="messages"),
        ReasoningDone("", encrypted_content="EmwKAhgBEgy3va3pzix/LafPsn4", wire="messages"),
        TextDone("Okay, let's check the weather:"),
        CallDone(
            CallId("toolu_01T1x1fJ34qAmk2tNTrN7Up6"),
            "get_weather",
            '{"location": "San Francisco, CA", "unit": "fahrenheit"}',
        ),
        TokenUsage(472 + 2048 + 128, 89, 472 + 2048 + 128 + 89, cached=2048, reasoning=41, cache_written=128),
        ResponseEnd("msg_014p7gG3wDgGV9EUtLvnow3U"),
    ]


def test_ollamas_stream_whose_thinking_is_not_signed() -> None:
    news, failure = recorded("ollama-thinking-and-tool")
    assert failure is None
    assert [one for one in news if isinstance(one, ReasoningDone | TextDone | CallDone | TokenUsage)] == [
        ReasoningDone("", ("Let me look.",), wire="messages"),
        CallDone(CallId("call_x1"), "shell", '{"command":["ls"]}'),
        TokenUsage(31, 12, 43),
    ]


def test_llama_cpps_stream_whose_blocks_all_close_at_the_end() -> None:
    news, failure = recorded("llamacpp-open-blocks")
    assert failure is None
    assert [one for one in news if not isinstance(one, ReasoningDelta | TextDelta)] == [
        ReasoningDone("", ("First the list.",), wire="messages"),
        TextDone("I look."),
        CallDone(CallId("aB3"), "shell", '{"command":["ls"]}'),
        CallDone(CallId("aB4"), "shell", '{"command":["pwd"]}'),
        TokenUsage(45, 33, 78, cached=25),
        ResponseEnd("chatcmpl-1"),
    ]


def start(index: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **members}}


def delta(index: int, kind: str, **members: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **members}}


def stop(reason: str | None, **members: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **members}}


END = {"type": "message_stop"}


def test_blocks_that_are_open_together_are_told_apart() -> None:
    reader = decoder(WireApi.MESSAGES)
    events = [
        start(0, "text", text=""),
        start(1, "text", text=""),
        *(delta(at % 2, "text_delta", text=f"{at} ") for at in range(4)),
    ]
    news = reader.read([json.dumps(one).encode() for one in events])
    assert news == [TextDelta("0 ", 0), TextDelta("1 ", 1), TextDelta("2 ", 0), TextDelta("3 ", 1)]
    assert reader.read([json.dumps(stop("end_turn")).encode()]) == [TextDone("0 2 ", 0), TextDone("1 3 ", 1)]


def test_calls_come_last_whatever_order_the_model_chose() -> None:
    news, _ = decoded(
        WireApi.MESSAGES,
        sse(
            start(0, "tool_use", id="a", name="x", input={"n": 1}), start(1, "text", text="so"), stop("tool_use"), END
        ),
    )
    assert news == [TextDelta("so"), TextDone("so"), CallDone(CallId("a"), "x", '{"n":1}'), ResponseEnd()]


def test_nothing_is_finished_before_the_stop_reason_which_also_ends_a_stream_that_is_cut() -> None:
    block = (start(0, "text", text=""), delta(0, "text_delta", text="hi"), {"type": "content_block_stop", "index": 0})
    assert decoded(WireApi.MESSAGES, sse(*block)) == (
        [TextDelta("hi")],
        StreamBroken("stream closed before a stop reason"),
    )
    assert decoded(WireApi.MESSAGES, sse(*block, stop("end_turn")))[0] == [
        TextDelta("hi"),
        TextDone("hi"),
        ResponseEnd(),
    ]


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("max_tokens", "model_max_output_tokens"),
        ("refusal", "refusal"),
        ("pause_turn", "pause_turn"),
    ],
)
def test_an_answer_that_stopped_early_says_why(reason: str, words: str) -> None:
    news, failure = decoded(WireApi.MESSAGES, sse(start(0, "text", text="half"), stop(reason), END))
    assert isinstance(failure, AnswerCut)
    assert words in failure.message
    assert news == [TextDelta("half")]


def test_a_window_that_filled_up_is_a_context_that_is_full() -> None:
    _, failure = decoded(WireApi.MESSAGES, sse(stop("model_context_window_exceeded"), END))
    assert isinstance(failure, ContextFull)


@pytest.mark.parametrize(
    ("kind", "words", "error"),
    [
        ("overloaded_error", "Overloaded", StreamBroken),
        ("api_error", "Internal server error", StreamBroken),
        ("rate_limit_error", "Slow down", StreamBroken),
        ("invalid_request_error", "messages: roles must alternate", Rejected),
        ("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum", ContextFull),
        ("request_too_large", "Request exceeds the maximum size", ContextFull),
        ("authentication_error", "invalid x-api-key", Rejected),
        ("permission_error", "no", Rejected),
        ("not_found_error", "model: claude-9", Rejected),
        ("billing_error", "no credit", UsageLimit),
    ],
)
def test_an_error_in_the_middle_of_a_stream_is_mapped(kind: str, words: str, error: type[Exception]) -> None:
    failed = {"type": "error", "error": {"type": kind, "message": words}, "request_id": "req_1"}
    news, failure = decoded(WireApi.MESSAGES, sse(start(0, "text", text="x"), failed, stop("end_turn"), END))
    assert type(failure) is error
    assert words in str(failure)
    assert news == [TextDelta("x")]


def test_counts_of_nought_at_the_end_do_not_undo_those_of_the_beginning() -> None:
    begun = {"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 471, "output_tokens": 5}}}
    ended = stop("end_turn") | {"usage": {"input_tokens": 0, "output_tokens": 80}}
    news, _ = decoded(WireApi.MESSAGES, sse(begun, ended, END))
    assert news == [TokenUsage(471, 80, 551), ResponseEnd("m")]


def test_blocks_without_a_beginning_and_events_of_no_use_are_borne() -> None:
    news, failure = decoded(
        WireApi.MESSAGES,
        sse(
            {"type": "ping"},
            {"type": "vibe_check"},
            delta(0, "text_delta", text="a"),
            delta(0, "citations_delta", citation={}),
            start(1, "server_tool_use", id="s", name="web_search", input={}),
            delta(7, "input_json_delta", partial_json="{"),
            stop(None),
            END,
        ),
    )
    assert (news, failure) == ([TextDelta("a"), TextDone("a"), ResponseEnd()], None)
