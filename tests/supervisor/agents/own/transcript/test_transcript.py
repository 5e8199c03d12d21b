"""A model's transcript from events: the same live and read back, well formed in every order that can happen."""

import json
import time
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary import events as ev
from actors.vocabulary.events import MessageKind
from actors.vocabulary.ids import ApprovalId, CallId, ItemId
from actors.vocabulary.items import ImageItem, LocalImageItem, TextItem
from actors.vocabulary.settings import Decision
from supervisor.agents.own.model.endpoint import Endpoint
from supervisor.agents.own.model.pictures import readable_picture
from supervisor.agents.own.model.request import (
    CallItem,
    HistoryItem,
    HistoryPiece,
    Image,
    LocalImage,
    MessageItem,
    ModelRequest,
    OutputItem,
    ReasoningItem,
    TextPart,
    text_message,
)
from supervisor.agents.own.model.wire import body, form
from supervisor.agents.own.transcript import entries as module
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.agents.own.transcript.transcript import ModelTranscript
from supervisor.config.shared_keys import WireApi
from supervisor.work.reach.readable import Reach
from tests.support.any_event import event_of
from tests.support.plain_form import PLAIN, items_of
from tests.support.work import command, command_ended


def user(text: str) -> ev.UserMessage:
    return ev.UserMessage(message=text, items=(TextItem(text=text),))


def context(text: str, kind: MessageKind = MessageKind.ENVIRONMENT_CONTEXT) -> ev.UserMessage:
    return ev.UserMessage(message=text, kind=kind)


def call(name: str) -> ev.ToolCall:
    return ev.ToolCall(call_id=CallId(name), item_id=ItemId(f"item-{name}"), name="shell", arguments="{}")


def output(name: str) -> ev.ToolOutput:
    return ev.ToolOutput(call_id=CallId(name), item_id=ItemId(f"item-{name}"), output=f"out {name}")


def agent(text: str) -> ev.AgentMessage:
    return ev.AgentMessage(message=text)


def told(*events: ev.DurableEvent) -> ModelTranscript:
    transcript = ModelTranscript(PLAIN)
    for event in events:
        transcript.take(event)
    return transcript


def asked(item: str, approval: str, *, retry: bool = False) -> ev.ApprovalRequested:
    return ev.ApprovalRequested(
        call_id=CallId(item),
        subject=command("x"),
        approval_id=ApprovalId(approval),
        item_id=ItemId(item),
        retry=retry,
    )


def test_messages_are_read_in_order() -> None:
    transcript = told(ev.TaskStarted(), user("hi"), agent("yo"), ev.TaskComplete(), ev.TaskStarted(), user("on"))
    assert items_of(transcript) == [
        text_message("user", "hi"),
        text_message("assistant", "yo"),
        text_message("user", "on"),
    ]
    assert (transcript.user_messages, transcript.last_said) == (["on"], None)


def test_notices_go_before_the_turns_words_in_their_order_and_behind_older_ones() -> None:
    guide = context("guide", MessageKind.USER_INSTRUCTIONS)
    transcript = told(
        ev.TaskStarted(), user("hi"), guide, context("here"), ev.TaskStarted(), user("on"), context("there")
    )
    texts = [item.text for item in items_of(transcript) if isinstance(item, MessageItem)]
    assert texts == ["guide", "here", "hi", "there", "on"]
    assert transcript.last_context == {
        MessageKind.USER_INSTRUCTIONS: "guide",
        MessageKind.ENVIRONMENT_CONTEXT: "there",
    }


def test_outputs_stand_behind_their_calls_whatever_was_said_in_between() -> None:
    transcript = told(call("a"), call("b"), agent("wait"), output("a"), output("b"))
    assert items_of(transcript) == [
        CallItem(CallId("a"), "shell", "{}"),
        CallItem(CallId("b"), "shell", "{}"),
        OutputItem(CallId("a"), "out a"),
        OutputItem(CallId("b"), "out b"),
        text_message("assistant", "wait"),
    ]


def test_the_same_name_of_a_call_in_a_later_response_is_another_call() -> None:
    second = call("a").model_copy(update={"item_id": ItemId("other")})
    answer = output("a").model_copy(update={"item_id": ItemId("other"), "output": "second"})
    transcript = told(call("a"), output("a"), agent("again"), second, answer)
    assert [type(item).__name__ for item in items_of(transcript)] == [
        "CallItem",
        "OutputItem",
        "MessageItem",
        "CallItem",
        "OutputItem",
    ]
    assert items_of(transcript)[-1] == OutputItem(CallId("a"), "second")


def test_open_calls_are_those_without_an_output_in_the_order_of_the_model() -> None:
    transcript = told(call("a"), call("b"), call("c"), output("b"))
    assert transcript.calls.open == (
        OpenCall(CallId("a"), ItemId("item-a"), "shell", "{}"),
        OpenCall(CallId("c"), ItemId("item-c"), "shell", "{}"),
    )


def test_pictures_and_reasoning_are_kept_for_the_model() -> None:
    items = (TextItem(text="see"), ImageItem(image_url="https://x/y"), LocalImageItem(path=Path("/a b.png")))
    reasoning = ev.ModelReasoning(item_id=ItemId("i"), id="r1", summary=("s",), encrypted_content="e")
    transcript = told(ev.UserMessage(message="see", items=items), reasoning)
    assert items_of(transcript) == [
        MessageItem("user", (TextPart("see"), Image("https://x/y"), LocalImage(Path("/a b.png")))),
        ReasoningItem("r1", ("s",), "e"),
    ]


def test_no_model_is_sent_a_text_that_is_empty() -> None:
    see = ImageItem(image_url="data:image/png;base64,A")
    transcript = told(
        ev.UserMessage(message=" ", items=(TextItem(text=" "),)),
        ev.UserMessage(message="", items=(TextItem(text=""), see)),
        user("see"),
    )
    assert items_of(transcript) == [
        text_message("user", "[an empty message]"),
        MessageItem("user", (Image(see.image_url),)),
        text_message("user", "see"),
    ]


def test_a_restart_that_leaves_pictures_out_puts_words_in_their_place_for_what_came_before() -> None:
    see = ev.UserMessage(message="see", items=(TextItem(text="see"), LocalImageItem(path=Path("a.png"))))
    transcript = told(see, ev.ConversationRestarted(without_pictures=True), see)
    first, second = (item.parts for item in items_of(transcript) if isinstance(item, MessageItem))
    assert first == (TextPart("see"), TextPart("[a picture that was left out when the conversation was restarted]"))
    assert second == (TextPart("see"), LocalImage(Path("a.png")))
    assert items_of(told(see, ev.ConversationRestarted())) == [MessageItem("user", second)]


def test_an_answered_question_is_known_by_item_and_by_whether_it_was_the_retry() -> None:
    first = ev.ApprovalResolved(approval_id=ApprovalId("1"), decision=Decision.APPROVED)
    second = ev.ApprovalResolved(approval_id=ApprovalId("2"), decision=Decision.DENIED, reason="no")
    transcript = told(asked("i", "1"), first, asked("i", "2", retry=True))
    assert transcript.calls.past_decision(asked("i", "", retry=True)) is None
    transcript.take(second)
    known = transcript.calls.past_decision(asked("i", ""))
    retried = transcript.calls.past_decision(asked("i", "", retry=True))
    assert known is not None
    assert known.decision is Decision.APPROVED
    assert retried is not None
    assert (retried.decision, retried.reason) == (Decision.DENIED, "no")
    assert transcript.calls.past_decision(asked("j", "")) is None


def test_a_new_turn_knows_nothing_of_the_questions_and_commands_of_the_last() -> None:
    resolved = ev.ApprovalResolved(approval_id=ApprovalId("1"), decision=Decision.APPROVED)
    ended = command_ended(code=1, call="i", item="i")
    transcript = told(asked("i", "1"), resolved, ended)
    assert transcript.calls.command_end(ItemId("i")) == ended
    transcript.take(ev.TaskStarted())
    assert transcript.calls.past_decision(asked("i", "")) is None
    assert transcript.calls.command_end(ItemId("i")) is None


EVENTS = st.one_of(
    st.sampled_from(["u", "v"]).map(user),
    st.sampled_from(["x", "y"]).map(agent),
    st.sampled_from(["c1", "c2"]).map(context),
    st.sampled_from(["a", "b", "c"]).map(call),
    st.sampled_from(["a", "b", "c"]).map(output),
    st.just(ev.TaskStarted()),
    st.just(ev.BackgroundEvent(message="-")),
)


@given(st.lists(EVENTS, max_size=25))
def test_every_output_stands_directly_behind_calls_and_outputs(events: list[ev.DurableEvent]) -> None:
    """Events come as the core sends them: an output only for an open call, none left open at the end of a turn."""
    transcript = ModelTranscript(PLAIN)
    open_calls: dict[ItemId, CallId] = {}
    for number, event in enumerate(events):
        take_in_order(transcript, open_calls, number, event)
    close(transcript, open_calls)
    check(items_of(transcript))


def take_in_order(
    transcript: ModelTranscript, open_calls: dict[ItemId, CallId], number: int, event: ev.DurableEvent
) -> None:
    match event:
        case ev.ToolCall():
            item, name = ItemId(f"item-{number}"), CallId(f"{event.call_id}{number}")
            open_calls[item] = name
            transcript.take(event.model_copy(update={"item_id": item, "call_id": name}))
        case ev.ToolOutput():
            if open_calls:
                item, name = open_calls.popitem()
                transcript.take(event.model_copy(update={"item_id": item, "call_id": name}))
        case _:
            if isinstance(event, ev.TaskStarted | ev.UserMessage):
                close(transcript, open_calls)
            transcript.take(event)


@given(st.lists(EVENTS, max_size=25), st.integers(1, 4))
def test_a_joined_history_says_the_same_as_a_loose_one(events: list[ev.DurableEvent], loose: int) -> None:
    transcripts = [ModelTranscript(PLAIN) for _ in range(2)]
    for transcript, limit in zip(transcripts, (loose, 1000), strict=True):
        open_calls: dict[ItemId, CallId] = {}
        with patch.object(module, "LOOSE", limit):
            for number, event in enumerate(events):
                take_in_order(transcript, open_calls, number, event)
    assert items_of(transcripts[0]) == items_of(transcripts[1])
    assert transcripts[0].size == transcripts[1].size


def test_a_long_history_is_a_few_blocks_and_little_that_is_loose() -> None:
    transcript = ModelTranscript(PLAIN)
    said_so_far = [f"{number:04}" + "x" * 1000 for number in range(3000)]
    for text in said_so_far:
        transcript.take(agent(text))
        assert len(transcript.items) < 300
    assert items_of(transcript) == [text_message("assistant", text) for text in said_so_far]


def test_a_call_without_an_output_keeps_its_place_open_however_much_follows() -> None:
    transcript = told(agent("first"), call("a"))
    for number in range(1000):
        transcript.take(agent(f"{number}"))
    transcript.take(output("a"))
    assert items_of(transcript)[:4] == [
        text_message("assistant", "first"),
        CallItem(CallId("a"), "shell", "{}"),
        OutputItem(CallId("a"), "out a"),
        text_message("assistant", "0"),
    ]


def test_pictures_by_address_are_encoded_once_and_can_still_be_left_out() -> None:
    see = ev.UserMessage(message="", items=(TextItem(text="see"), ImageItem(image_url="https://x/y")))
    transcript = told(see)
    (shown,) = transcript.items
    assert isinstance(shown, HistoryPiece)
    before = transcript.size
    transcript.take(ev.ConversationRestarted(without_pictures=True))
    assert items_of(transcript) == [
        MessageItem(
            "user", (TextPart("see"), TextPart("[a picture that was left out when the conversation was restarted]"))
        )
    ]
    assert transcript.size != before


def close(transcript: ModelTranscript, open_calls: dict[ItemId, CallId]) -> None:
    for item, name in open_calls.items():
        transcript.take(ev.ToolOutput(call_id=name, item_id=item, output="aborted"))
    open_calls.clear()


def check(items: list[HistoryItem]) -> None:
    waiting: list[CallId] = []
    for item in items:
        if isinstance(item, CallItem):
            waiting.append(item.call_id)
        elif isinstance(item, OutputItem):
            waiting.remove(item.call_id)
        else:
            assert not waiting
    assert not waiting


@pytest.mark.parametrize("kind", [one for one in ev.DURABLE_EVENTS if not one.read_by_models], ids=ev.type_of)
@given(st.data())
def test_an_event_that_a_restart_does_not_parse_changes_nothing(
    kind: type[ev.DurableEvent], data: st.DataObject
) -> None:
    transcript, same = (told(user("u"), call("c"), context("c1"), agent("x")) for _ in range(2))
    transcript.take(data.draw(event_of(kind)))
    assert state_of(transcript) == state_of(same)


def state_of(transcript: ModelTranscript) -> dict[str, object]:
    return {**vars(transcript), "calls": vars(transcript.calls), "_entries": vars(transcript._entries)}  # all of it


FOREIGN = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["", ".", "a.png", "/", "//x", "\0", "~", "file://[", "data:", "http://[", "{", "\u2028"]),
)
ITEMS = st.one_of(
    st.builds(TextItem, text=FOREIGN),
    st.builds(ImageItem, image_url=FOREIGN),
    st.builds(LocalImageItem, path=FOREIGN.map(Path)),
)
ANY_EVENT = st.one_of(
    st.builds(
        ev.UserMessage,
        message=FOREIGN,
        kind=st.sampled_from(MessageKind),
        items=st.lists(ITEMS, max_size=3).map(tuple),
    ),
    st.builds(ev.AgentMessage, message=FOREIGN),
    st.builds(ev.ModelReasoning, item_id=FOREIGN, id=FOREIGN, summary=st.lists(FOREIGN, max_size=2).map(tuple)),
    st.builds(ev.ToolCall, call_id=FOREIGN, item_id=FOREIGN, name=FOREIGN, arguments=FOREIGN),
    st.builds(ev.ToolOutput, call_id=FOREIGN, item_id=FOREIGN, output=FOREIGN),
    st.builds(ev.ApprovalResolved, approval_id=FOREIGN, decision=st.sampled_from(Decision), reason=FOREIGN),
    st.builds(asked, FOREIGN, FOREIGN, retry=st.booleans()),
    st.builds(command_ended, FOREIGN, code=st.integers(), call=FOREIGN, item=FOREIGN),
    st.builds(ev.ConversationRestarted, without_pictures=st.booleans()),
    st.builds(ev.TaskStarted),
    st.builds(ev.TaskComplete),
    st.builds(ev.BackgroundEvent, message=FOREIGN),
)


@pytest.mark.parametrize("wire", WireApi)
@given(events=st.lists(ANY_EVENT, max_size=12))
def test_every_history_of_events_makes_a_request_on_both_wires(wire: WireApi, events: list[ev.DurableEvent]) -> None:
    """The order and the content are arbitrary: no stored event may keep its conversation from asking for ever."""
    transcript = ModelTranscript(form(wire, "claude-haiku-4-6"))
    for event in events:
        transcript.take(ev.durable_adapter.validate_json(ev.durable_adapter.dump_json(event)))
    read = tuple(_read(item) for item in transcript.items)
    for items in (read, tuple(transcript.items)):
        endpoint = Endpoint("http://127.0.0.1", wire)
        assert json.loads(b"".join(body(endpoint, ModelRequest(model="m", instructions="", items=items))))


def _read(item: HistoryPiece | MessageItem) -> HistoryPiece | MessageItem:
    if not isinstance(item, MessageItem):
        return item
    parts = tuple(
        part if isinstance(part, TextPart) else readable_picture(part, Reach(Path("/nowhere"))) for part in item.parts
    )
    assert not any(isinstance(part, LocalImage) for part in parts)
    return MessageItem(item.role, parts)


def test_twenty_thousand_calls_of_one_answer_are_answered_in_linear_time() -> None:
    transcript = ModelTranscript(PLAIN)
    calls = [CallId(f"c{number}") for number in range(20_000)]
    began = time.process_time()
    for call in calls:
        transcript.take(ev.ToolCall(call_id=call, item_id=ItemId(call), name="x", arguments="{}"))
    transcript.take(ev.AgentMessage(message="and now"))
    for call in calls:
        transcript.take(ev.ToolOutput(call_id=call, item_id=ItemId(call), output=call))
    assert time.process_time() - began < 8.0
    assert [item.call_id for item in items_of(transcript) if isinstance(item, OutputItem)] == calls
    assert items_of(transcript)[-1] == text_message("assistant", "and now")


def noisy(transcript: ModelTranscript, name: str) -> None:
    call, item = CallId(name), ItemId(name)
    transcript.take(ev.ToolCall(call_id=call, item_id=item, name="shell", arguments="{}"))
    transcript.take(asked(name, name))
    transcript.take(ev.ApprovalResolved(approval_id=ApprovalId(name), decision=Decision.APPROVED))
    transcript.take(command_ended("x" * 1000, call=name, item=name))


def test_the_output_of_a_call_alone_tells_of_our_own_work() -> None:
    call_id, item = CallId("a"), ItemId("item-a")
    ends = (
        ev.WorkEnded(call_id=call_id, item_id=item, kind="files", status="completed", output="M f"),
        ev.WorkEnded(call_id=call_id, item_id=item, kind="tool", status="completed", result={"content": []}),
        ev.WorkEnded(call_id=call_id, item_id=item, kind="picture", status="completed"),
        command_ended("seen", call="a", item="item-a"),
    )
    assert items_of(told(call("a"), *ends, output("a"))) == items_of(told(call("a"), output("a")))


def test_output_of_a_command_is_kept_until_its_call_has_a_result_and_no_longer() -> None:
    transcript = ModelTranscript(PLAIN)
    noisy(transcript, "a")
    assert transcript.calls.command_end(ItemId("a")) is not None
    assert transcript.calls.past_decision(asked("a", "")) is not None
    transcript.take(ev.ToolOutput(call_id=CallId("a"), item_id=ItemId("a"), output="short"))
    assert transcript.calls.command_end(ItemId("a")) is None
    assert transcript.calls.past_decision(asked("a", "")) is None


def test_between_two_turns_a_transcript_keeps_what_a_model_reads_and_its_size() -> None:
    transcript = ModelTranscript(PLAIN)
    transcript.take(user("four"))
    noisy(transcript, "a")
    transcript.drop_turn_state()
    assert transcript.calls.command_end(ItemId("a")) is None
    assert not transcript.calls.open
    assert transcript.size == sum(len(item.data) for item in transcript.items if isinstance(item, HistoryPiece))


def odd(item: str, call_id: str = "c", name: str = "shell", arguments: str = "{}") -> ev.ToolCall:
    return ev.ToolCall(call_id=CallId(call_id), item_id=ItemId(item), name=name, arguments=arguments)


@pytest.mark.parametrize("name", ["", "a b", "ä", "x" * 65, "shell\n"])
def test_a_name_that_no_provider_takes_is_not_sent_back(name: str) -> None:
    (called,) = items_of(told(odd("a", name=name)))
    assert called == CallItem(CallId("c"), "unknown", "{}")


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "3", '{"a": NaN', "[" * 1000, '{"a":' * 1000, "{}}", "\0"])
def test_arguments_that_are_no_object_are_sent_back_as_the_text_in_one(arguments: str) -> None:
    (called,) = items_of(told(odd("a", arguments=arguments)))
    assert isinstance(called, CallItem)
    assert json.loads(called.arguments) == {"unreadable": arguments}


def test_pictures_of_a_call_reach_the_model_behind_all_the_outputs() -> None:
    transcript = ModelTranscript(PLAIN)
    picture = ImageItem(image_url="data:image/png;base64,AAAA")
    transcript.take(call("a"))
    transcript.take(call("b"))
    transcript.take(output("a").model_copy(update={"pictures": (picture,)}))
    transcript.take(output("b"))
    kinds = [type(item) for item in items_of(transcript)]
    assert kinds == [CallItem, CallItem, OutputItem, OutputItem, MessageItem]
