"""Questions: everybody attached is asked, the first answer counts, and a question that is over is withdrawn."""

from typing import Any

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, ItemId
from actors.vocabulary.settings import Decision
from tests.support.work import command_began, command_ended
from tests.transports.dialects.acp.peer import Editor, Json, daemon
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.steps import wants_to_patch, wants_to_run

FORMS: Json = {"elicitation": {"form": {}}}
PAGES: Json = {"elicitation": {"url": {}}}


def running(editor: Editor) -> ConversationId:
    session = editor.new()
    editor.prompt(session)
    return ConversationId(session)


def uses_a_tool(house: Daemon, one: ConversationId, **more: Any) -> None:
    options = [
        ev.ApprovalOption(id="y", name="Sure", kind="allow_once"),
        ev.ApprovalOption(id="yy", name="For ever", kind="allow_always"),
        ev.ApprovalOption(id="n", name="Never", kind="reject_once"),
    ]
    change: ev.FileUpdate = {"update": ev.UpdatedFile(unified_diff="@@ -3 +3 @@\n-old\n+new\n")}
    asked = ev.ApprovalRequested(
        call_id=CallId("c"),
        agent="claude",
        subject=ev.FilesSubject(changes={"/w/a.py": change}),
        agent_call=ev.AgentCall(title="Edit a.py", sort="edit"),
        approval_id=ApprovalId(f"a1@{one}"),
        item_id=ItemId("i1"),
        **{"options": tuple(options), **more},
    )
    house.say(one, asked)
    house.settle()


def fills_in(house: Daemon, one: ConversationId, **more: Any) -> None:
    form = (
        ev.FormField(name="who", title="Name", required=True),
        ev.FormField(name="color", choices=("r", "g"), names=("Red", "Green")),
        ev.FormField(name="count", type="integer", least=1, most=9),
        ev.FormField(name="many", type="array", choices=("a", "b"), least=1),
    )
    asked = ev.ApprovalRequested(
        call_id=CallId("c"),
        subject=ev.FormSubject(server="files", message="Who are you?", **{"form": form, **more}),
        approval_id=ApprovalId(f"a1@{one}"),
        item_id=ItemId("i9"),
    )
    house.say(one, asked)
    house.settle()


@pytest.mark.parametrize(
    ("option", "decision"),
    [
        ("approved", Decision.APPROVED),
        ("approved_for_session", Decision.APPROVED_FOR_SESSION),
        ("denied", Decision.DENIED),
    ],
)
def test_a_command_is_asked_for_behind_its_call_and_the_choice_is_the_answer(option: str, decision: Decision) -> None:
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    wants_to_run(house, one)
    (question,) = editor.questions()
    assert editor.order()[-2:] == ["tool_call", "session/request_permission"]
    call = question["params"]["toolCall"]
    assert (call["title"], call["kind"], call["status"]) == ("git init", "execute", "pending")
    assert "git init" in call["content"][-1]["content"]["text"]
    assert [each["kind"] for each in question["params"]["options"]] == [
        *("allow_once", "allow_always", "reject_once", "reject_once")
    ]
    editor.choose(question["id"], option)
    assert [answer.decision for answer in house.answered] == [decision]
    assert editor.withdrawn() == []


def test_a_no_that_stops_ends_the_turn() -> None:
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    wants_to_run(house, one)
    editor.choose(editor.questions()[0]["id"], "abort")
    assert editor.lines[-1]["result"] == {"stopReason": "cancelled"}
    assert house.turns == {}


def test_a_patch_is_asked_for_with_its_files() -> None:
    house = daemon()
    editor = Editor(house)
    wants_to_patch(house, running(editor))
    call = editor.questions()[0]["params"]["toolCall"]
    assert call["kind"] in {"edit", "delete"}
    assert [each["path"] for each in call["locations"]]
    assert "approved_for_session" not in {each["optionId"] for each in editor.questions()[0]["params"]["options"]}


@pytest.mark.parametrize(("option", "decision"), [("yy", Decision.APPROVED), ("n", Decision.DENIED)])
def test_the_options_of_an_agent_of_others_are_offered_and_answered(option: str, decision: Decision) -> None:
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    uses_a_tool(house, one)
    (question,) = editor.questions()
    assert [each["optionId"] for each in question["params"]["options"]] == ["y", "yy", "n"]
    (diff, _) = question["params"]["toolCall"]["content"]
    assert diff == {"type": "diff", "path": "/w/a.py", "oldText": "old\n", "newText": "new\n"}
    assert question["params"]["toolCall"]["locations"] == [{"path": "/w/a.py", "line": 3}]
    editor.choose(question["id"], option)
    assert [(each.decision, each.option) for each in house.answered] == [(decision, option)]


@pytest.mark.parametrize("taken", ["yy", "approved_for_session"])
def test_always_in_an_editor_is_ours_and_stands_before_the_rule_of_the_agents_own(taken: str) -> None:
    """Editors have a key for the first option of a kind."""
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    kinds: dict[str, Any] = {"y": "allow_once", taken: "allow_always", "n": "reject_once"}
    options = tuple(
        ev.ApprovalOption(id=id_, name=id_, kind=kind, rule="their rule" if id_ == taken else "")
        for id_, kind in kinds.items()
    )
    uses_a_tool(house, one, fingerprint="f", options=options)
    (question,) = editor.questions()
    offered = question["params"]["options"]
    assert [each["kind"] for each in offered] == ["allow_once", "allow_always", "allow_always", "reject_once"]
    assert [each["name"] for each in offered[1:3]] == ["Yes, always in this conversation", "their rule"]
    assert len({each["optionId"] for each in offered}) == 4
    editor.choose(question["id"], offered[1]["optionId"])
    assert [(each.decision, each.option) for each in house.answered] == [(Decision.APPROVED_FOR_SESSION, "")]


@pytest.mark.parametrize(("option", "outside"), [("approved", False), ("approved_outside", True)])
def test_inside_and_outside_are_two_options_the_first_of_which_is_inside(option: str, outside: bool) -> None:
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    wants_to_run(house, one, outside_sandbox=False, inside_or_outside=True)
    (question,) = editor.questions()
    yes = [each["name"] for each in question["params"]["options"] if each["kind"] == "allow_once"]
    assert yes == ["Yes, in the sandbox", "Yes, outside the sandbox"]
    editor.choose(question["id"], option)
    assert [(each.decision, each.outside) for each in house.answered] == [(Decision.APPROVED, outside)]


def test_two_editors_are_asked_and_the_first_answer_takes_the_question_from_the_other() -> None:
    house = daemon()
    first, second = Editor(house, "first"), Editor(house, "second")
    one = running(first)
    second.result("session/resume", sessionId=one, cwd="/w")
    wants_to_run(house, one)
    mine, theirs = first.questions()[0], second.questions()[0]
    second.choose(theirs["id"], "approved")
    assert first.withdrawn() == [mine["id"]]
    assert second.withdrawn() == []
    first.choose(mine["id"], "abort")
    first.refuse(mine["id"], -32800)
    assert len(house.answered) == 1


@pytest.mark.parametrize(
    "reply", [{"outcome": {"outcome": "cancelled"}}, {"outcome": {"outcome": "selected", "optionId": "?"}}, {}, None]
)
def test_a_question_that_is_dismissed_stays_open_for_others(reply: Any) -> None:
    house = daemon()
    first, second = Editor(house, "first"), Editor(house, "second")
    one = running(first)
    second.result("session/resume", sessionId=one, cwd="/w")
    wants_to_run(house, one)
    first.respond(first.questions()[0]["id"], reply)
    assert house.answered == []
    assert second.withdrawn() == []
    second.choose(second.questions()[0]["id"], "approved")
    assert len(house.answered) == 1


def test_a_question_that_nobody_else_can_answer_is_denied_when_it_is_dismissed() -> None:
    house = daemon()
    editor = Editor(house)
    wants_to_run(house, running(editor))
    editor.refuse(editor.questions()[0]["id"])
    assert [each.decision for each in house.answered] == [Decision.DENIED]


def test_a_question_ends_with_a_cancelled_turn_and_denies_nothing() -> None:
    house = daemon()
    house.stops_by_itself = False
    editor = Editor(house)
    one = running(editor)
    wants_to_run(house, one)
    editor.notify("session/cancel", sessionId=one)
    editor.respond(editor.questions()[0]["id"], {"outcome": {"outcome": "cancelled"}})
    assert house.answered == []
    house._stop(one, house.turns[one].turn)
    house.settle()
    assert editor.order()[-1].startswith("=")
    assert editor.lines[-1]["result"] == {"stopReason": "cancelled"}
    assert editor.updates("tool_call_update")[-1]["status"] == "failed"


def test_a_question_whose_turn_ends_is_withdrawn() -> None:
    house = daemon()
    first, second = Editor(house, "first"), Editor(house, "second")
    one = running(first)
    second.result("session/resume", sessionId=one, cwd="/w")
    wants_to_run(house, one)
    first.notify("session/cancel", sessionId=one)
    assert second.withdrawn() == [second.questions()[0]["id"]]


@pytest.mark.parametrize("how", ["session/load", "session/resume", "_greenroom/attach"])
def test_open_questions_are_put_to_an_editor_that_comes_later(how: str) -> None:
    house = daemon()
    first, second = Editor(house, "first"), Editor(house, "second")
    one = running(first)
    wants_to_run(house, one)
    second.result(how, sessionId=one)
    (question,) = second.questions()
    assert any(
        each["toolCallId"] == question["params"]["toolCall"]["toolCallId"] for each in second.updates("tool_call")
    )
    second.choose(question["id"], "approved")
    assert first.withdrawn() == [first.questions()[0]["id"]]


def test_a_form_is_filled_in_where_the_editor_has_forms() -> None:
    house = daemon()
    editor = Editor(house, can=FORMS)
    one = running(editor)
    fills_in(house, one)
    (question,) = editor.questions("elicitation/create")
    assert question["params"]["requestedSchema"]["required"] == ["who"]
    editor.respond(question["id"], {"action": "accept", "content": {"who": "me", "count": 3}})
    assert house.answered[0].content == {"who": "me", "count": 3}
    assert editor.updates("tool_call") == []


@pytest.mark.parametrize(("action", "decisions"), [("decline", [Decision.DENIED]), ("cancel", [Decision.DENIED])])
def test_a_form_may_be_declined_or_dismissed(action: str, decisions: list[Decision]) -> None:
    house = daemon()
    editor = Editor(house, can=FORMS)
    fills_in(house, running(editor))
    editor.respond(editor.questions("elicitation/create")[0]["id"], {"action": action})
    assert [each.decision for each in house.answered] == decisions


def test_a_form_that_an_editor_cannot_show_is_told_with_the_way_to_answer() -> None:
    house = daemon()
    editor = Editor(house)
    fills_in(house, running(editor))
    assert editor.questions() == []
    assert "greenroom approve" in editor.text()
    assert house.answered == []


def test_a_form_without_needs_is_a_yes_or_no_and_its_call_ends_with_the_answer() -> None:
    house = daemon()
    editor = Editor(house)
    fills_in(house, running(editor), form=())
    (question,) = editor.questions()
    editor.choose(question["id"], "approved")
    assert [each["status"] for each in editor.updates("tool_call_update")] == ["completed"]


def test_a_page_is_opened_where_the_editor_opens_pages() -> None:
    house = daemon()
    editor = Editor(house, can=PAGES)
    fills_in(house, running(editor), form=(), url="https://example.org/x")
    (question,) = editor.questions("elicitation/create")
    assert question["params"]["url"] == "https://example.org/x"


def test_our_requests_count_on_from_those_of_the_last_daemon() -> None:
    house = daemon()
    editor = Editor(house, first_question=17)
    wants_to_run(house, running(editor))
    assert editor.questions()[0]["id"] == 17


def test_a_refusal_closes_its_call() -> None:
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    wants_to_run(house, one)
    editor.choose(editor.questions()[0]["id"], "denied")
    refused = ev.ToolFailure(kind="refused", message="a person said no")
    house.say(one, ev.ToolCall(call_id=CallId("call1234"), item_id=ItemId("i-a1"), name="shell", arguments="{}"))
    house.say(one, ev.ToolOutput(call_id=CallId("call1234"), item_id=ItemId("i-a1"), output="no", failed=refused))
    house.settle()
    (closed,) = editor.updates("tool_call_update")
    assert (closed["status"], closed["content"][0]["content"]["text"]) == ("failed", "a person said no")


def test_a_command_that_was_approved_goes_on_as_the_call_that_was_asked_for() -> None:
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    wants_to_run(house, one)
    editor.choose(editor.questions()[0]["id"], "approved")
    house.say(one, command_began("git", call="call1234", item="i-a1"))
    house.settle()
    assert [each["status"] for each in editor.updates("tool_call_update")] == ["in_progress"]
    assert len(editor.updates("tool_call")) == 1


def test_an_editor_that_reads_on_knows_the_call_whose_question_waits() -> None:
    house = daemon()
    first = Editor(house, "first")
    one = running(first)
    wants_to_run(house, one)
    second = Editor(house, "second")
    second.result("_greenroom/attach", sessionId=one, after=first.seqs()[-1])
    assert second.updates("tool_call") == []
    assert [each["params"]["toolCall"]["toolCallId"] for each in second.questions()] == ["i-a1"]
    second.choose(second.questions()[0]["id"], "approved")
    house.say(one, command_began("git", call="call1234", item="i-a1"))
    house.settle()
    assert (second.updates("tool_call"), len(second.updates("tool_call_update"))) == ([], 1)


def test_a_call_that_waits_over_the_end_of_its_turn_is_ended_for_who_reads_on() -> None:
    house = daemon()
    first = Editor(house, "first")
    one = running(first)
    wants_to_run(house, one)
    at = first.seqs()[-1]
    house.finish(one, "")
    house.settle()
    second = Editor(house, "second")
    second.result("_greenroom/attach", sessionId=one, after=at)
    assert [each["status"] for each in second.updates("tool_call_update")] == ["failed"]


def test_a_question_to_run_a_command_again_is_no_new_call_and_a_denied_one_stays_failed() -> None:
    house = daemon()
    editor = Editor(house)
    one = running(editor)
    named: Any = {"call_id": CallId("call1234"), "item_id": ItemId("i-a1")}
    house.say(one, ev.ToolCall(**named, name="shell", arguments="{}"))
    house.say(one, command_began("git", call="call1234", item="i-a1"))
    house.say(one, command_ended(code=1, call="call1234", item="i-a1"))
    wants_to_run(house, one)
    editor.choose(editor.questions()[0]["id"], "denied")
    house.say(one, ev.ToolOutput(**named, output="it failed"))
    house.settle()
    assert len(editor.updates("tool_call")) == 1
    assert [each["status"] for each in editor.updates("tool_call_update")][-1] == "failed"
