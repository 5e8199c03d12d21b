"""Each method of the control API: its questions, and its handling of answers and refusals."""

from typing import Any

import pytest

from actors.messages.conversation import Send
from actors.vocabulary import errors
from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.settings import BusyPolicy, Decision
from tests.transports.dialects.control.scripted import ONE, TWO, Scripted, content, head, page_of
from transports.dialects.control.methods import METHODS
from transports.supervisor_requests import Search

NAMED = {"conversation": ONE}
GOOD: dict[str, dict[str, Any]] = {
    "conversation/create": {"name": "n", "cwd": "src", "config": {"a.b": 1}},
    "conversation/list": {},
    "conversation/search": {"query": "walrus", **NAMED, "order": "best"},
    "conversation/resolve": {"reference": "11"},
    "conversation/get": NAMED,
    "conversation/send": {**NAMED, "prompt": "hello"},
    "conversation/interrupt": {**NAMED, "kill": True, "reason": "enough"},
    "conversation/attach": {**NAMED, "after": 2},
    "conversation/compact": NAMED,
    "conversation/detach": {"subscription": "c/1"},
    "conversation/history": {**NAMED, "after": 0, "limit": 5},
    "conversations/interrupt": {"conversations": [ONE]},
    "events/read": {"after": 0},
    "conversation/budget": {**NAMED, "limits": {"turn.requests": "+5"}},
    "budgets/shared": {"limits": {"day.requests": "+5", "home.usd": None}},
    "usage/read": {"by": "model", "since": 5.0, "limit": 10},
    "conversation/set": {**NAMED, "settings": {"model": "other"}, "name": "n"},
    "conversation/rename": {**NAMED, "name": None},
    "conversation/archive": NAMED,
    "conversation/restart": NAMED,
    "conversation/resume_queue": NAMED,
    "conversation/queue": NAMED,
    "conversation/edit_input": {**NAMED, "input": "i", "prompt": "other words"},
    "conversation/move_input": {**NAMED, "input": "i", "to": "first"},
    "conversation/withdraw": {**NAMED, "input": "i"},
    "conversation/fork": {**NAMED, "at": 3, "name": "f"},
    "conversation/export": {**NAMED, "file": "/tmp/empty"},
    "conversation/import": {"file": "/tmp/lines.jsonl", "new_id": True},
    "conversation/delete": NAMED,
    "agents/list": {},
    "agents/check": {"agent": "claude", "seconds": 5},
    "conversation/servers": NAMED,
    "jobs/list": NAMED,
    "jobs/read": {"job": "3f2a", "after": 5, "seconds": 1},
    "jobs/write": {"job": "3f2a", "text": "y\n", "end_input": True},
    "jobs/wait": {"job": "3f2a", "seconds": 1},
    "jobs/end": {"job": "3f2a"},
    "approvals/list": NAMED,
    "approvals/answer": {"approval": f"x@{ONE}", "decision": "approved"},
    "request/cancel": {"request": "7"},
    "clients/list": {},
    "clients/kill": {"connection": "c2"},
    "daemon/status": {},
    "daemon/reload": {},
    "daemon/down": {"drain_s": 0},
    "config/get": {"key": "model"},
    "schema": {},
}
# The receiver of each method's last question; None: nobody.
SPEAKS_TO: dict[str, str | None] = {
    "conversation/create": "Create",
    "conversation/list": "ListConversations",
    "conversation/search": "Search",
    "conversation/resolve": "Resolve",
    "conversation/get": "Inspect",
    "conversation/send": "Send",
    "conversation/compact": "Send",
    "conversation/interrupt": "Interrupt",
    "conversation/attach": "Attach",
    "conversation/history": "ReadHistory",
    "conversation/budget": "ChangeSettings",
    "budgets/shared": "ReadSharedBudgets",
    "usage/read": "ReadUsage",
    "conversation/set": "ChangeSettings",
    "conversation/rename": "Rename",
    "conversation/archive": "Archive",
    "conversation/restart": "Restart",
    "conversation/resume_queue": "ResumeQueue",
    "conversation/queue": "InspectQueue",
    "conversation/edit_input": "EditInput",
    "conversation/move_input": "MoveInput",
    "conversation/withdraw": "WithdrawInput",
    "conversation/fork": "Fork",
    "conversation/export": "Export",
    "conversation/import": "Import",
    "conversation/delete": "Remove",
    "agents/list": "ListAgents",
    "agents/check": "CheckAgent",
    "conversation/servers": "ListServers",
    "jobs/list": "ListJobs",
    "jobs/read": "ReadJob",
    "jobs/write": "WriteJob",
    "jobs/wait": "WaitForJob",
    "jobs/end": "EndJob",
    "approvals/list": "Inspect",
    "events/read": "ReadNews",
    "approvals/answer": "AnswerApproval",
    "clients/list": "ListClients",
    "clients/kill": "KillClient",
    "daemon/status": "AskStatus",
    "daemon/reload": "ReloadConfig",
    "daemon/down": "StopDaemon",
    "config/get": "ReadConfig",
}
REFUSALS = [
    errors.UnknownConversation("no"),
    errors.WrongState("no"),
    errors.Overloaded("later"),
    errors.StorageFull("full"),
    errors.AlreadyAnswered("no", decision="denied", by="somebody"),
]


def prepared(**scripted: Any) -> Scripted:
    daemon = Scripted(**scripted)
    daemon.request("conversation/attach", NAMED, "prepare")
    return daemon


def test_the_table_and_these_tests_know_the_same_methods() -> None:
    assert METHODS.keys() == GOOD.keys()


def test_a_search_is_asked_in_our_words_and_its_hits_are_answered_with_the_place_of_the_next() -> None:
    daemon = prepared()
    wish = {"query": "walrus", "cwd": "/tmp", "since": 3.5, "limit": 5, "cursor": "9"}
    answer = daemon.request("conversation/search", wish)
    assert content(daemon.told[-1]) == Search("walrus", None, "/tmp", 3.5, 5, cursor="9")
    assert answer is not None
    result = answer["result"]
    assert (result["next_cursor"], result["read"], result["complete"]) == ("7", 0.5, True)
    assert (result["hits"][0]["text"], result["hits"][0]["marks"]) == ("a walrus", [[2, 8]])


@pytest.mark.parametrize("method", METHODS)
def test_a_good_request_is_answered_once_as_its_schema_says(method: str) -> None:
    daemon = prepared()
    assert "result" in (daemon.request(method, GOOD[method]) or {}), daemon.lines
    assert daemon.answer()["id"] == 1


@pytest.mark.parametrize("refusal", REFUSALS, ids=lambda refusal: refusal.code)
@pytest.mark.parametrize("method", SPEAKS_TO)
def test_a_refusal_is_answered_with_its_number_its_code_and_its_details(method: str, refusal: GreenroomError) -> None:
    daemon = prepared(replies={str(SPEAKS_TO[method]): lambda _: refusal})
    answer = daemon.request(method, GOOD[method])
    assert answer is not None
    assert answer["error"]["code"] == refusal.jsonrpc
    assert answer["error"]["data"] == {**refusal.details, "code": refusal.code, "retryable": refusal.retryable}


@pytest.mark.parametrize("method", [name for name, given in GOOD.items() if "conversation" in given])
def test_a_name_is_looked_up_first_and_an_id_is_not(method: str) -> None:
    daemon = prepared()
    daemon.told.clear()
    daemon.request(method, GOOD[method])
    assert "Resolve" not in daemon.kinds()
    daemon.told.clear()
    answer = daemon.request(method, {**GOOD[method], "conversation": "by-name"}, 2)
    assert daemon.kinds()[0] == "Resolve"
    assert answer is not None
    assert "result" in answer


@pytest.mark.parametrize("method", [name for name, given in GOOD.items() if "conversation" in given])
def test_a_name_that_means_nothing_is_refused_and_nothing_is_done(method: str) -> None:
    daemon = prepared(replies={"Resolve": lambda _: errors.UnknownConversation("no")})
    daemon.told.clear()
    answer = daemon.request(method, {**GOOD[method], "conversation": "by-name"})
    assert answer is not None
    assert answer["error"]["data"]["code"] == "unknown_conversation"
    assert daemon.kinds() == ["Resolve"]


# --- what single methods say ----------------------------------------------------------------------------------------


def test_a_send_says_its_policy_its_key_and_who_sent_it() -> None:
    daemon = Scripted()
    daemon.request("conversation/send", {**NAMED, "prompt": "p", "if_busy": "enqueue", "key": "k", "wait": True})
    send = daemon.last("Send")
    assert isinstance(send, Send)
    assert (send.policy, send.key, send.await_end, send.by) == (BusyPolicy.ENQUEUE, "k", True, "tester[7]")
    assert daemon.answer()["result"]["ending"] == "completed"


@pytest.mark.parametrize("said", [{}, {"prompt": "p", "items": [{"type": "text", "text": "t"}]}])
def test_a_send_wants_either_a_prompt_or_items(said: dict[str, Any]) -> None:
    daemon = Scripted()
    answer = daemon.request("conversation/send", {**NAMED, **said})
    assert answer is not None
    assert answer["error"]["code"] == -32602
    assert daemon.told == []


def test_an_environment_is_remembered_only_for_a_conversation_that_there_is() -> None:
    refusing = Scripted(replies={"Attach": lambda _: errors.UnknownConversation("no")})
    refusing.request("conversation/attach", NAMED)
    assert "RememberEnvironment" not in refusing.kinds()
    refusing = Scripted(replies={"Create": lambda _: errors.NameTaken("no")})
    refusing.request("conversation/create", {})
    assert "RememberEnvironment" not in refusing.kinds()
    daemon = Scripted()
    daemon.request("conversation/create", {})
    daemon.request("conversation/attach", NAMED, 2)
    daemon.request("conversation/attach", {**NAMED, "read_only": True}, 3)
    assert daemon.kinds().count("RememberEnvironment") == 2


def test_a_subscription_that_was_refused_or_given_up_is_not_known_any_more() -> None:
    daemon = Scripted(replies={"Attach": lambda _: errors.InvalidInput("cursor 9 is not in 0..3", last_seq=3)})
    daemon.request("conversation/attach", {**NAMED, "after": 9})
    refused = daemon.request("conversation/detach", {"subscription": daemon.last("Attach").subscription}, 2)
    assert "error" in (refused or {})
    daemon = prepared()
    name = daemon.answer("prepare")["result"]["subscription"]
    assert "result" in (daemon.request("conversation/detach", {"subscription": name}) or {})
    again = daemon.request("conversation/detach", {"subscription": name}, 2)
    assert again is not None
    assert again["error"]["data"]["code"] == "invalid_input"


def test_a_connection_has_so_many_subscriptions_and_one_that_was_given_up_makes_room() -> None:
    daemon = Scripted(subscriptions=2)

    def attach(number: int) -> dict[str, Any]:
        answer = daemon.request("conversation/attach", NAMED, number)
        assert answer is not None
        return answer

    names = [attach(number)["result"]["subscription"] for number in (1, 2)]
    refused = attach(3)["error"]
    assert refused["data"]["code"] == "overloaded"
    assert "greenroom.limits.subscriptions" in refused["message"]
    daemon.request("conversation/detach", {"subscription": names[0]}, 4)
    assert "result" in attach(5)


def test_a_delete_is_answered_when_the_registry_has_done_it() -> None:
    daemon = Scripted(replies={"Remove": lambda _: errors.WrongState("a turn is open")})
    refused = daemon.request("conversation/delete", NAMED)
    assert refused is not None
    assert refused["error"]["data"]["code"] == "wrong_state"
    daemon = Scripted()
    answer = daemon.request("conversation/delete", NAMED)
    assert answer is not None
    assert answer["result"] == {"conversation": ONE}


@pytest.mark.parametrize("approval", ["x", "x@", "x@y", "@"])
def test_an_approval_that_names_no_conversation_is_unknown(approval: str) -> None:
    daemon = Scripted()
    answer = daemon.request("approvals/answer", {"approval": approval, "decision": "denied"})
    assert answer is not None
    assert answer["error"]["data"]["code"] == "unknown_approval"
    assert daemon.told == []


def test_an_answer_carries_the_decision_and_who_decided() -> None:
    daemon = Scripted()
    daemon.request("approvals/answer", {"approval": f"x@{ONE}", "decision": "denied", "reason": "no"})
    said = daemon.last("AnswerApproval")
    assert (said.decision, said.by, said.reason) == (Decision.DENIED, "tester[7]", "no")


def test_pages_of_a_list_stay_in_place_while_conversations_are_used() -> None:
    ids = [f"{number:08d}-0000-4000-8000-000000000000" for number in range(5)]
    heads = {one: head(one, updated=float(number // 2)) for number, one in enumerate(ids)}  # type: ignore[arg-type]  # ids in all but name
    daemon = Scripted(replies={"ListConversations": lambda message: page_of(heads.values(), message.query)})
    first = (daemon.request("conversation/list", {"limit": 2}) or {})["result"]
    shown = [row["conversation"] for row in first["conversations"]]
    heads[ids[1]] = head(ids[1], updated=9.0)  # type: ignore[arg-type]  # the same
    page, cursor, number = first, first["next_cursor"], 2
    while cursor:
        page = (daemon.request("conversation/list", {"limit": 2, "cursor": cursor}, number) or {})["result"]
        shown += [row["conversation"] for row in page["conversations"]]
        cursor, number = page["next_cursor"], number + 1
    assert shown == [ids[4], ids[3], ids[2], ids[0]], (
        "the one that moved to the front is not repeated or skipped over"
    )
    assert page["total"] == 5


def test_a_list_can_be_narrowed_by_state_directory_and_name() -> None:
    heads = (head(ONE, name="a", state="running", cwd="/a"), head(TWO, name="b", cwd="/b"))
    daemon = Scripted(replies={"ListConversations": lambda message: page_of(heads, message.query)})
    for number, (wish, found) in enumerate(
        [({"state": "running"}, [ONE]), ({"cwd": "/b"}, [TWO]), ({"name": "b"}, [TWO]), ({"state": "failed"}, [])]
    ):
        result = (daemon.request("conversation/list", wish, number) or {})["result"]
        assert [row["conversation"] for row in result["conversations"]] == found
    answer = daemon.request("conversation/list", {"state": "sleeping"}, "bad")
    assert answer is not None
    assert "state" in answer["error"]["message"]


def test_a_cursor_that_is_none_of_ours_is_refused() -> None:
    answer = Scripted().request("conversation/list", {"cursor": "next"})
    assert answer is not None
    assert answer["error"]["code"] == -32602
    assert "cursor" in answer["error"]["message"]
