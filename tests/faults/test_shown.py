"""The judge of what an editor was shown, judged itself."""

from collections.abc import Mapping

import pytest

from tests.faults.caller import Message
from tests.faults.shown import MARK, Item, View, complaints

HISTORY = [
    {"seq": seq, "event": event}
    for seq, event in enumerate(
        (
            {"type": "user_message", "kind": "plain", "item_id": "u1", "message": f"{MARK}ask"},
            {"type": "approval_requested", "item_id": "c1", "retry": False},
            {"type": "work_began", "item_id": "c1"},
            {"type": "work_ended", "item_id": "c1", "exit_code": 0},
            {"type": "agent_message", "item_id": "m1", "message": f"{MARK}one two"},
            {"type": "user_message", "kind": "plain", "item_id": "u2", "message": f"{MARK}go on"},
            {"type": "agent_message", "item_id": "m2", "message": f"{MARK}thr", "cut": "lost"},
        ),
        start=1,
    )
]


def seen(*, without: str = "", **other: Item) -> View:
    """A view in which all is as it is stored, but for what is named."""
    items = {
        "u1": Item("user", f"{MARK}ask"),
        "c1": Item("call", ends=["completed"]),
        "m1": Item("agent", f"{MARK}one two"),
        "u2": Item("user", f"{MARK}go on"),
        "m2": Item("agent", f"{MARK}three"),
        **other,
    }
    return View(items={name: item for name, item in items.items() if name != without})


def found(view: View, kills: int = 0) -> str:
    return "\n".join(complaints(view, HISTORY, kills))


def update(kind: str, meta: Mapping[str, Message] | None = None, **more: object) -> tuple[Message, Message]:
    return {"sessionUpdate": kind, **more}, dict(meta or {})


def test_a_view_equal_to_the_stored_history_has_no_complaint() -> None:
    assert found(seen()) == ""


def test_events_stored_before_the_editor_came_need_not_be_shown() -> None:
    view = seen(without="m1")
    view.since = 5
    assert found(view) == ""


@pytest.mark.parametrize(
    ("view", "complaint"),
    [
        (seen(without="m1"), "lost: m1"),
        (seen(m1=Item("agent", f"{MARK}one twoone two")), "shown '§one twoone two'"),
        (seen(m2=Item("agent", f"{MARK}xyz")), "was '§thr' when it was lost"),
        (seen(c1=Item("call", ends=["completed", "completed"])), "c1 ended ['completed']"),
        (seen(c1=Item("call")), "c1 ended"),
        (seen(m9=Item("agent", f"{MARK}nobody")), "never said"),
        (View(items=dict(reversed(seen().items.items()))), "out of order"),
    ],
)
def test_lost_doubled_altered_and_reordered_events_are_found(view: View, complaint: str) -> None:
    assert complaint in found(view)


def test_a_message_that_a_kill_took_whole_is_no_lie_and_a_remark_of_ours_neither() -> None:
    view = seen(m9=Item("agent", f"{MARK}on its way"), r=Item("agent", "The turn was lost."))
    assert found(view, kills=1) == ""


def test_a_prompt_of_its_own_is_not_to_come_back() -> None:
    view = seen()
    view.own.add(f"{MARK}ask")
    assert "came back" in found(view)
    del view.items["u1"]
    assert found(view) == ""


def test_a_call_begins_once_and_before_it_goes_on() -> None:
    view = View()
    view.take(*update("tool_call_update", toolCallId="c2"))
    view.take(*update("tool_call", toolCallId="c2"))
    assert view.wrong == ["c2 goes on and never began", "c2 was begun twice"]


def test_the_place_never_goes_back_while_one_daemon_runs() -> None:
    view = View()
    for instance, seq in (("a", 7), ("b", 3), ("a", 6)):
        view.take(*update("plan", {"greenroom": {"instance": instance, "seq": seq}}))
    assert view.wrong == ["place 6 came after 7"]
