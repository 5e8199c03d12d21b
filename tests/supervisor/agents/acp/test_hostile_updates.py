"""Updates of any shape: what is made of them is in order, and can be stored."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary import events as ev
from tests.supervisor.agents.acp.recorded import Taken

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
KINDS = st.sampled_from(
    [
        *(
            "agent_message_chunk",
            "agent_thought_chunk",
            "user_message_chunk",
            "tool_call",
            "tool_call_update",
            "plan",
        ),
        *("available_commands_update", "current_mode_update", "config_option_update", "session_info_update"),
        *("usage_update", "unheard_of"),
    ]
)
BLOCK = st.builds(lambda words: {"type": "text", "text": words}, st.text(max_size=5))
CONTENT = st.lists(
    st.builds(lambda block: {"type": "content", "content": block}, BLOCK)
    | st.builds(
        lambda path, old, new: {"type": "diff", "path": path, "oldText": old, "newText": new},
        st.text(max_size=3),
        JSON,
        st.text(max_size=9),
    )
    | JSON,
    max_size=3,
)
UPDATE = st.fixed_dictionaries(
    {"sessionUpdate": KINDS},
    optional={
        "toolCallId": st.sampled_from(["a", "b", ""]) | JSON,
        "status": st.sampled_from(["pending", "in_progress", "completed", "failed"]) | JSON,
        "content": BLOCK | CONTENT | JSON,
        "rawInput": st.builds(lambda one: {"command": one}, JSON) | JSON,
        "rawOutput": JSON,
        "locations": st.lists(st.builds(lambda line: {"path": "/x", "line": line}, JSON), max_size=2) | JSON,
        "kind": JSON,
        "title": JSON,
        "entries": st.lists(st.builds(lambda one: {"content": one, "status": one}, JSON), max_size=2) | JSON,
        "configOptions": st.lists(st.builds(lambda one: {"id": "o", "options": one}, JSON), max_size=2) | JSON,
        "availableCommands": st.lists(st.builds(lambda one: {"name": one}, JSON), max_size=2) | JSON,
        "currentModeId": JSON,
        "used": JSON,
        "size": JSON,
        "cost": st.builds(lambda one: {"amount": one}, JSON) | JSON,
        "messageId": JSON,
        "_meta": JSON,
    },
)


@given(st.lists(UPDATE | JSON, max_size=12), JSON)
def test_whatever_comes_every_item_begins_before_it_ends_and_can_be_stored(updates: list[Any], answer: Any) -> None:
    taken = Taken()
    taken.hear(*updates)
    taken.note(taken.updates.finish(answer))
    running: set[str] = set()
    for event in taken.events:
        match event:
            case ev.WorkBegan():
                assert event.item_id not in running
                running.add(event.item_id)
            case ev.WorkOutput():
                assert event.item_id in running
            case ev.WorkEnded():
                running.remove(event.item_id)
            case _:
                pass
        if isinstance(event, ev.DurableEvent):
            assert ev.durable_adapter.validate_json(event.model_dump_json()) == event
    assert running == {use.item_id for use in taken.updates.open}
