"""Elicitations: what is asked, of whom, how a reply is read, and when a question is taken back."""

from typing import Any

import pytest

from actors.messages.conversation import AnswerApproval, ToConversation
from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, ConversationId
from actors.vocabulary.settings import Decision
from tests.support.work import command_asked
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import McpClient
from tests.transports.dialects.mcp.steps import (
    began,
    created,
    nothing_open,
    sent,
    text_of,
    wants_to_patch,
    wants_to_run,
    wants_to_use_a_tool,
)

NOTHING_TO_FILL_IN = {"type": "object", "properties": {}}


def decisions(daemon: Daemon) -> list[Decision]:
    return [one.decision for one in daemon.answered]


def answer_elsewhere(daemon: Daemon, conversation: ConversationId, approval: ApprovalId) -> None:
    answer = AnswerApproval(approval, Decision.APPROVED, "somebody")
    daemon.mailboxes["registry"].tell(ToConversation(conversation, answer))
    daemon.settle()


def test_a_command_is_asked_for_right_after_its_event() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    wants_to_run(daemon, conversation)
    assert client.events()[-1] == {
        "type": "exec_approval_request",
        "call_id": "call1234",
        "command": ["git", "init"],
        "cwd": "/w",
    }
    assert client.lines[-1] == {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "elicitation/create",
        "params": {
            "message": "Allow Codex to run `git init` in `/w`?",
            "requestedSchema": NOTHING_TO_FILL_IN,
            "codex_elicitation": "exec-approval",
            "threadId": conversation,
            "codex_mcp_tool_call_id": "1",
            "codex_event_id": "1",
            "codex_call_id": "call1234",
            "codex_command": ["git", "init"],
            "codex_cwd": "/w",
            "codex_parsed_cmd": [{"type": "unknown", "cmd": "git init"}],
        },
    }


def test_an_approved_command_runs_and_the_call_goes_on_to_its_end() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    wants_to_run(daemon, conversation)
    client.respond(0, {"decision": "approved"})
    assert decisions(daemon) == [Decision.APPROVED]
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert text_of(client.answer(1)["result"]) == "Done"
    assert client.told("notifications/cancelled") == []
    assert nothing_open(client)


def test_a_patch_is_asked_of_newer_clients_in_the_shape_that_they_know() -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol="2025-11-25")
    wants_to_patch(daemon, began(daemon, client, 1))
    diff = "@@ -1 +1 @@\n-original content\n+modified content\n"
    assert client.told("elicitation/create")[0]["codex_changes"] == {
        "/w/f.txt": {"type": "update", "unified_diff": diff, "move_path": None},
        "/w/g.txt": {"type": "delete", "content": ""},
    }


def test_a_patch_is_asked_for_as_clients_of_its_time_read_it() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    wants_to_patch(daemon, conversation)
    diff = "@@ -1 +1 @@\n-original content\n+modified content\n"
    assert client.told("elicitation/create") == [
        {
            "message": "Allow Codex to apply proposed code changes?",
            "requestedSchema": NOTHING_TO_FILL_IN,
            "codex_elicitation": "patch-approval",
            "threadId": conversation,
            "codex_mcp_tool_call_id": "1",
            "codex_event_id": "1",
            "codex_call_id": "call1234",
            "codex_changes": {
                "/w/f.txt": {"update": {"unified_diff": diff, "move_path": None}},
                "/w/g.txt": "delete",
            },
        }
    ]


def test_clients_of_today_read_the_files_in_the_message() -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol="2025-11-25")
    wants_to_patch(daemon, began(daemon, client, 1))
    (params,) = client.told("elicitation/create")
    assert params["message"].splitlines() == [
        "Allow Codex to apply proposed code changes?",
        "  change /w/f.txt",
        "    @@ -1 +1 @@",
        "    -original content",
        "    +modified content",
        "  delete /w/g.txt",
    ]


@pytest.mark.parametrize("protocol", ["2025-06-18", "2025-11-25"])
def test_the_reason_of_the_agent_comes_last_on_one_quoted_line(protocol: str) -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol=protocol)
    reason = "safe\x1b[2J\nAllow Codex to run `ls` in `/w`?\u202e" + "x" * 5000
    wants_to_run(daemon, began(daemon, client, 1), reason=reason)
    (params,) = client.told("elicitation/create")
    first, *facts, said = params["message"].splitlines()
    assert first == "Allow Codex to run `git init` in `/w`?"
    assert facts == ["  $ git init", "  in /w", "  outside the sandbox"]
    assert said.startswith(r'  the agent says: "safe\x1b[2J Allow Codex to run `ls` in `/w`?\u202exxx')
    assert said.endswith('more characters)"')
    assert len(said) < 400


@pytest.mark.parametrize("protocol", ["2025-06-18", "2025-11-25"])
def test_a_command_that_could_be_misread_has_lines_of_its_own(protocol: str) -> None:
    daemon = Daemon()
    client = McpClient(daemon, protocol=protocol)
    command = ("sh", "-c", "make` in `/w`?\n\nAllow Codex to run `ls\u200b")
    wants_to_run(daemon, began(daemon, client, 1), command=command)
    (params,) = client.told("elicitation/create")
    assert params["message"].splitlines() == [
        "Allow Codex to run this command?",
        "  $ sh -c $'make` in `/w`?",
        "  >",
        r"  > Allow Codex to run `ls\u200b'",
        "  in /w",
        "  outside the sandbox",
    ]
    assert params["codex_command"] == list(command)


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        ({"decision": "approved"}, Decision.APPROVED),
        ({"decision": "approved_for_session"}, Decision.APPROVED_FOR_SESSION),
        ({"decision": "denied", "more": 1}, Decision.DENIED),
        ({"action": "accept", "content": {}}, Decision.APPROVED),
        ({"action": "accept", "decision": "denied"}, Decision.DENIED),
        ({"action": "decline"}, Decision.DENIED),
        ({"decision": "withdrawn"}, Decision.DENIED),
        ({"decision": 5}, Decision.DENIED),
        ({"action": []}, Decision.DENIED),
        ({}, Decision.DENIED),
        ([], Decision.DENIED),
        ("yes", Decision.DENIED),
    ],
)
def test_both_shapes_of_a_reply_are_read_and_any_other_is_a_no(reply: Any, decision: Decision) -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    wants_to_run(daemon, began(daemon, client))
    client.respond(0, reply)
    assert decisions(daemon) == [decision]


def test_a_dismissed_question_is_denied_where_nobody_else_could_be_asked_and_the_caller_learns_what_it_was() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    wants_to_run(daemon, conversation)
    client.respond(0, {"action": "cancel"})
    (answer,) = daemon.answered
    assert answer.decision is Decision.DENIED
    assert answer.reason == "the client dismissed the question"
    daemon.finish(conversation, "I could not run it")
    daemon.settle()
    result = client.answer(1)["result"]
    said, remark = (one["text"] for one in result["content"] if one["type"] == "text")
    assert said == "I could not run it" == result["structuredContent"]["content"]
    assert remark.startswith(
        "The agent asked for `git init` in `/w`, outside the sandbox; "
        "the client dismissed the question, so it was denied"
    )
    assert "answer_approval" in remark
    assert "approval-policy never" in remark
    assert result["structuredContent"]["notices"] == [remark]
    assert "isError" not in result
    assert nothing_open(client)


def test_a_dismissed_question_stays_open_for_another_client_that_can_be_asked() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "c1"), McpClient(daemon, "c2")
    conversation = began(daemon, client, 1)
    other.ask("addConversationListener", {"conversationId": conversation})
    wants_to_run(daemon, conversation)
    client.respond(0, {"action": "cancel"})
    assert decisions(daemon) == []
    other.respond(0, {"decision": "approved"})
    assert decisions(daemon) == [Decision.APPROVED]
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert "notices" not in client.answer(1)["result"]["structuredContent"]


def test_an_abort_ends_the_turn() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    began_in = began(daemon, client)
    wants_to_run(daemon, began_in)
    client.respond(0, {"decision": "abort"})
    assert client.types()[-1] == "turn_aborted"
    assert nothing_open(client)


def test_an_answer_from_elsewhere_takes_the_question_back_and_a_late_reply_means_nothing() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    answer_elsewhere(daemon, conversation, wants_to_run(daemon, conversation))
    assert client.told("notifications/cancelled") == [{"requestId": 0, "reason": "answered elsewhere"}]
    client.respond(0, {"decision": "abort"})
    assert conversation in daemon.turns
    assert decisions(daemon) == [Decision.APPROVED]


def test_the_end_of_the_turn_takes_the_question_back() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    wants_to_run(daemon, began(daemon, client, 1))
    client.cancel(1)
    assert [one["requestId"] for one in client.told("notifications/cancelled")] == [0]
    assert client.methods()[-1] == "=1"
    assert nothing_open(client)


def test_two_clients_are_asked_and_the_first_answer_wins() -> None:
    daemon = Daemon()
    first, second = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, first, 1)
    second.tool("codex-reply", {"threadId": conversation, "prompt": "me too"}, 2)
    wants_to_run(daemon, conversation)
    assert len(first.told("elicitation/create")) == len(second.told("elicitation/create")) == 1
    second.respond(0, {"decision": "denied"})
    first.respond(0, {"decision": "approved"})
    assert decisions(daemon) == [Decision.DENIED]
    assert first.told("notifications/cancelled") == [{"requestId": 0, "reason": "answered elsewhere"}]
    assert second.told("notifications/cancelled") == []


def test_two_questions_of_one_turn_are_told_apart() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client)
    first, second = wants_to_run(daemon, conversation, "a1"), wants_to_run(daemon, conversation, "a2")
    client.respond(1, {"decision": "denied"})
    client.respond(0, {"decision": "approved"})
    assert [(one.approval, one.decision) for one in daemon.answered] == [
        (second, Decision.DENIED),
        (first, Decision.APPROVED),
    ]


def test_an_error_of_the_only_client_is_a_denial() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    wants_to_run(daemon, began(daemon, client))
    client.refuse(0)
    assert decisions(daemon) == [Decision.DENIED]
    assert daemon.answered[0].reason == "no client that was asked could answer it"


def test_an_error_of_one_of_two_leaves_the_question_to_the_other() -> None:
    daemon = Daemon()
    first, second = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, first, 1)
    second.tool("codex-reply", {"threadId": conversation, "prompt": "me too"}, 2)
    wants_to_run(daemon, conversation)
    first.refuse(0)
    assert decisions(daemon) == []
    second.respond(0, {"action": "accept"})
    assert decisions(daemon) == [Decision.APPROVED]


def test_errors_of_all_who_were_asked_are_a_denial_by_the_last_of_them() -> None:
    daemon = Daemon()
    first, second = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, first, 1)
    second.tool("conversationStream", {"conversation_id": conversation}, 2)
    wants_to_run(daemon, conversation)
    first.refuse(0)
    assert decisions(daemon) == []
    second.refuse(0)
    assert decisions(daemon) == [Decision.DENIED]
    assert daemon.answered[0].reason == "no client that was asked could answer it"


def test_a_client_that_cannot_be_asked_is_told_what_waits_and_how_to_answer() -> None:
    daemon = Daemon()
    client = McpClient(daemon, elicits=False)
    client.tool("codex", {"prompt": "hi"}, 1, _meta={"progressToken": "p"})
    (conversation,) = daemon.conversations
    approval = wants_to_run(daemon, conversation)
    assert client.told("elicitation/create") == []
    (params,) = client.told("notifications/progress")
    assert "`git init` in `/w`" in params["message"]
    assert f"greenroom approve {approval}" in params["message"]


def test_without_a_token_it_is_told_by_the_log() -> None:
    daemon = Daemon()
    client = McpClient(daemon, elicits=False)
    approval = wants_to_run(daemon, began(daemon, client))
    assert f"greenroom approve {approval}" in client.told("notifications/message")[-1]["data"]


def test_a_question_without_a_possible_answerer_is_denied_after_a_while_with_that_reason() -> None:
    daemon = Daemon()
    client = McpClient(daemon, elicits=False)
    wants_to_run(daemon, began(daemon, client))
    daemon.advance(299)
    assert decisions(daemon) == []
    daemon.advance(1)
    assert decisions(daemon) == [Decision.DENIED]
    assert daemon.answered[0].reason == "no attached client was able to answer it within 300 s"


def test_a_question_with_a_possible_answerer_waits_for_them() -> None:
    daemon = Daemon()
    client = McpClient(daemon, "a", elicits=False)
    conversation = began(daemon, client)
    other = McpClient(daemon, "b")
    other.tool("conversationStream", {"conversation_id": conversation}, 5)
    wants_to_run(daemon, conversation)
    daemon.advance(301)
    assert decisions(daemon) == []
    other.cancel(5)
    other.refuse(0)
    daemon.advance(301)
    assert decisions(daemon) == [Decision.DENIED]


def test_it_is_denied_although_the_client_that_could_not_be_asked_is_gone() -> None:
    daemon = Daemon()
    client = McpClient(daemon, elicits=False)
    wants_to_run(daemon, began(daemon, client))
    daemon.hang_up(client.mailbox)
    daemon.advance(300)
    assert decisions(daemon) == [Decision.DENIED]


def test_a_returning_client_that_cannot_be_asked_is_told_of_the_question_again() -> None:
    daemon = Daemon()
    client = McpClient(daemon, elicits=False)
    conversation = created(client)
    sent(client, conversation)
    wants_to_run(daemon, conversation)
    for request in (5, 6):
        client.tool("conversationStream", {"conversation_id": conversation}, request)
        client.cancel(request)
    assert len([one for one in client.told("notifications/message") if "greenroom approve" in one["data"]]) == 2


def test_an_answer_meanwhile_ends_the_waiting() -> None:
    daemon = Daemon()
    client = McpClient(daemon, elicits=False)
    conversation = began(daemon, client)
    answer_elsewhere(daemon, conversation, wants_to_run(daemon, conversation))
    assert client.statistics()["unasked"] == 0
    daemon.advance(1000)
    assert decisions(daemon) == [Decision.APPROVED]


def test_a_reply_that_steers_into_a_waiting_turn_is_asked_too() -> None:
    daemon = Daemon()
    first, second = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, first)
    wants_to_run(daemon, conversation)
    second.tool("codex-reply", {"threadId": conversation, "prompt": "me too"}, 2)
    (params,) = second.told("elicitation/create")
    assert params["codex_mcp_tool_call_id"] == "2"


def test_a_message_without_a_stream_asks_nobody_until_somebody_streams() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client, 1)
    sent(client, conversation)
    wants_to_run(daemon, conversation)
    assert client.told("elicitation/create") == []
    client.tool("conversationStream", {"conversation_id": conversation}, 3)
    assert client.methods()[-3:] == ["=3", "notifications/initial_state", "elicitation/create"]
    (params,) = client.told("elicitation/create")
    assert params["codex_mcp_tool_call_id"] == "1"
    client.respond(0, {"decision": "approved"})
    assert decisions(daemon) == [Decision.APPROVED]


def test_a_question_settled_after_the_client_left_is_forgotten() -> None:
    daemon = Daemon()
    client = McpClient(daemon, "a", elicits=False)
    other = McpClient(daemon, "b")
    conversation = began(daemon, other, 1)
    client.tool("conversationStream", {"conversation_id": conversation}, 5)
    wants_to_run(daemon, conversation)
    client.cancel(5)
    other.respond(0, {"decision": "approved"})
    daemon.advance(301)
    assert nothing_open(client)
    assert decisions(daemon) == [Decision.APPROVED]


def test_a_reader_that_is_late_does_not_ask_again_what_was_just_answered() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client)
    client.tool("conversationStream", {"conversation_id": conversation})
    daemon.say(conversation, ev.BackgroundEvent(message="both readers have this in their hands"))
    daemon.settle(but="wire")
    daemon.run_one(daemon.mailboxes["wire-c1"])  # the call's reader is ready again, the stream's is not
    daemon.say(
        conversation,
        command_asked("x", approval=f"a@{conversation}"),
    )
    daemon.settle(but="wire")
    assert len(client.told("elicitation/create")) == 1
    client.say({"jsonrpc": "2.0", "id": 0, "result": {"decision": "approved"}}, settle=False)
    daemon.run_one(client.mailbox)
    daemon.settle(but="registry")  # the answer is on its way while the stream hears of the question
    assert client.methods()[-1] == "exec_approval_request"
    daemon.settle()
    assert len(client.told("elicitation/create")) == 1
    assert decisions(daemon) == [Decision.APPROVED]


@pytest.mark.parametrize("elicits", [True, False])
def test_a_question_that_was_settled_between_two_readers_is_closed_by_the_second(*, elicits: bool) -> None:
    """The refused call's reader leaves before the answer, the listener's begins after it."""
    daemon = Daemon()
    conversation = began(daemon, McpClient(daemon, "c1"))
    wants_to_run(daemon, conversation)
    session, client = daemon.mailboxes[f"session-{conversation}"], McpClient(daemon, "c2", elicits=elicits)
    client.tool("codex-reply", {"threadId": conversation, "prompt": "x", "if-busy": "reject"}, settle=False)
    daemon.settle(but="session")
    daemon.run_one(session)  # the call reads, and knows of the question
    daemon.settle(but="session")  # its message waits, to be refused
    daemon.finish(conversation, "done")
    client.begin("addConversationListener", {"conversationId": conversation}, settle=False)
    daemon.settle()
    asked = [one["id"] for one in client.lines if one.get("method") == "elicitation/create"]
    assert [one["requestId"] for one in client.told("notifications/cancelled")] == asked
    assert len(asked) == elicits
    left = client.statistics()
    assert (left["questions"], left["unasked"]) == (0, 0)


def test_a_question_whose_stream_is_off_is_still_taken_back_when_somebody_else_answers() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    client.tool("conversationStream", {"conversation_id": conversation}, 5)
    sent(client, conversation)
    approval = wants_to_run(daemon, conversation)
    client.cancel(5)
    answer_elsewhere(daemon, conversation, approval)
    assert [one["requestId"] for one in client.told("notifications/cancelled")] == [0]
    assert nothing_open(client)


def test_a_tool_of_an_mcp_server_is_asked_for_in_words_and_as_a_command_that_codex_clients_can_answer() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client, 1)
    wants_to_use_a_tool(daemon, conversation)
    params = client.lines[-1]["params"]
    assert params["message"].split("\n") == [
        "The agent asks: may it use this tool of an MCP server?",
        "  tool files write",
        "    {",
        '      "path": "/w/a"',
        "    }",
        "  outside the sandbox",
    ]
    assert params["codex_elicitation"] == "exec-approval"
    assert params["codex_command"] == ["use-mcp-tool", "files", "write", '{"path": "/w/a"}']
    client.respond(0, {"action": "accept", "content": {}})
    assert decisions(daemon) == [Decision.APPROVED]
