"""The conversation methods: make, say, listen, stop."""

from typing import Any
from uuid import uuid4

import pytest

from actors.vocabulary import events as ev
from actors.vocabulary.errors import NotAllowed
from actors.vocabulary.ids import ConversationId, ItemId
from actors.vocabulary.settings import ApprovalPolicy, Decision, ReadOnly, ReasoningEffort
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient
from tests.transports.dialects.mcp.steps import (
    finished,
    nothing_open,
    wants_to_patch,
    wants_to_run,
    wants_to_use_a_tool,
)
from transports import supervisor_requests as ask


def new(client: McpClient, **params: Any) -> ConversationId:
    return ConversationId(client.ask("newConversation", params)["result"]["conversationId"])


def say(client: McpClient, conversation: ConversationId, text: str = "hi") -> Json:
    items = [{"type": "text", "data": {"text": text}}]
    return client.ask("sendUserMessage", {"conversationId": conversation, "items": items})


def listen(client: McpClient, conversation: ConversationId) -> str:
    name: str = client.ask("addConversationListener", {"conversationId": conversation})["result"]["subscriptionId"]
    return name


def begun(
    *, listens: bool = False, says: bool = False, elicits: bool = True
) -> tuple[Daemon, McpClient, ConversationId]:
    """A client with a new conversation, which it listens to and has said something in, in this order."""
    daemon = Daemon()
    client = McpClient(daemon, elicits=elicits)
    conversation = new(client)
    if listens:
        listen(client, conversation)
    if says:
        say(client, conversation)
    return daemon, client, conversation


def turn(conversation: ConversationId, **more: Any) -> Json:
    return {
        "conversationId": conversation,
        "items": [{"type": "text", "data": {"text": "go"}}],
        "cwd": "sub",
        "approvalPolicy": "never",
        "sandboxPolicy": {"mode": "read-only"},
        "model": "o4",
        "effort": "high",
        "summary": "auto",
        **more,
    }


def test_a_conversation_is_made_and_a_message_is_answered_when_it_is_kept() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    answer = client.ask("newConversation", {"model": "gpt-5", "approvalPolicy": "untrusted", "cwd": "/w"})
    conversation = ConversationId(answer["result"]["conversationId"])
    assert answer["result"]["model"] == "gpt-5"
    assert say(client, conversation)["result"] == {}
    assert conversation in daemon.turns
    assert client.told("codex/event") == []


def test_a_bad_config_is_told() -> None:
    error = McpClient(Daemon()).ask("newConversation", {"profile": "p"})["error"]
    assert error == {"code": -32600, "message": "error deriving config: config profile `p` not found"}


def test_events_go_to_the_listener_under_names_of_their_own() -> None:
    daemon, client, conversation = begun(listens=True, says=True)
    name = daemon.turns[conversation].turn
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert client.told("codex/event/task_complete") == [
        {
            "id": name,
            "msg": {"type": "task_complete", "last_agent_message": "Done"},
            "conversationId": conversation,
        }
    ]
    assert client.told("codex/event/session_configured") == []


def test_the_first_listener_of_a_new_conversation_hears_what_came_before_it() -> None:
    _, client, conversation = begun(says=True)
    request = client.begin("addConversationListener", {"conversationId": conversation})
    assert client.methods()[-2:] == [f"={request}", "codex/event/task_started"]
    client.forget()
    listen(client, conversation)
    assert client.told("codex/event/task_started") == []


def test_every_listener_hears_every_event() -> None:
    daemon = Daemon()
    first, second = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = new(first)
    for client in (first, second, second):
        listen(client, conversation)
    say(first, conversation)
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert len(first.told("codex/event/task_complete")) == 1
    assert len(second.told("codex/event/task_complete")) == 2


def test_a_removed_listener_hears_nothing_and_is_unknown() -> None:
    _, client, conversation = begun()
    name = listen(client, conversation)
    assert client.ask("removeConversationListener", {"subscriptionId": name})["result"] == {}
    say(client, conversation)
    assert client.told("codex/event/task_started") == []
    error = client.ask("removeConversationListener", {"subscriptionId": name})["error"]
    assert error == {"code": -32600, "message": f"subscription not found: {name}"}
    assert nothing_open(client)


def test_many_interrupts_are_all_answered_after_the_abort() -> None:
    daemon, client, conversation = begun(listens=True, says=True)
    daemon.stops_by_itself = False
    requests = [client.begin("interruptConversation", {"conversationId": conversation}) for _ in range(2)]
    assert [client.answers(one) for one in requests] == [[], []]
    daemon._stop(conversation, daemon.turns[conversation].turn)
    daemon.settle()
    assert client.methods()[-3:] == ["codex/event/turn_aborted", *(f"={one}" for one in requests)]
    assert [client.answer(one)["result"] for one in requests] == [{"abortReason": "interrupted"}] * 2


def test_an_interrupt_needs_no_listener_and_no_turn() -> None:
    _, client, conversation = begun()
    for _ in range(2):
        answer = client.ask("interruptConversation", {"conversationId": conversation})
        assert answer["result"] == {"abortReason": "interrupted"}
        say(client, conversation)


@pytest.mark.parametrize(
    "method", ["sendUserMessage", "sendUserTurn", "interruptConversation", "addConversationListener"]
)
def test_an_unknown_conversation_is_said_to_be_unknown(method: str) -> None:
    client = McpClient(Daemon())
    conversation = ConversationId(str(uuid4()))
    error = client.ask(method, turn(conversation))["error"]
    assert error == {"code": -32600, "message": f"conversation not found: {conversation}"}
    assert nothing_open(client)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("sendUserMessage", {"conversationId": "x", "items": []}),
        ("sendUserMessage", {"conversationId": str(uuid4()), "items": [{"type": "text", "text": "t"}, 5]}),
        ("sendUserMessage", {"conversationId": str(uuid4()), "items": []}),
        ("sendUserTurn", {"conversationId": str(uuid4()), "items": []}),
        ("sendUserTurn", turn(ConversationId(str(uuid4())), effort="enormous")),
        ("newConversation", {"approvalPolicy": "maybe"}),
        ("addConversationListener", {}),
        ("removeConversationListener", {"subscriptionId": 5}),
        ("interruptConversation", [1]),
        ("interruptConversation", None),
    ],
)
def test_params_that_cannot_be_read_are_answered(method: str, params: Any) -> None:
    assert McpClient(Daemon()).ask(method, params)["error"]["code"] == -32602


def test_a_turn_runs_with_settings_of_its_own() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = new(client, approvalPolicy="untrusted")
    assert client.ask("sendUserTurn", turn(conversation))["result"] == {}
    settings = daemon.turns[conversation].settings
    assert (settings.model, str(settings.cwd), settings.effort) == ("o4", "/w/sub", ReasoningEffort.HIGH)
    assert (settings.approval_policy, settings.sandbox) == (ApprovalPolicy.NEVER, ReadOnly())
    daemon.finish(conversation, "Done")
    daemon.settle()
    say(client, conversation)
    assert daemon.turns[conversation].settings.approval_policy is ApprovalPolicy.UNTRUSTED


def test_a_turn_s_settings_are_not_lost_on_a_busy_conversation() -> None:
    daemon, client, conversation = begun(says=True)
    client.ask("sendUserTurn", turn(conversation))
    assert daemon.turns[conversation].settings.model == "mock-model"
    daemon.finish(conversation, "Done")
    daemon.settle()
    assert daemon.turns[conversation].settings.model == "o4"


def test_a_command_is_asked_for_in_snake_case_and_the_decision_counts() -> None:
    daemon, client, conversation = begun(listens=True, says=True, elicits=False)
    wants_to_run(daemon, conversation, reason="why not")
    assert client.lines[-1] == {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "execCommandApproval",
        "params": {
            "conversation_id": conversation,
            "call_id": "call1234",
            "command": ["git", "init"],
            "cwd": "/w",
            "reason": "why not",
        },
    }
    client.respond(0, {"decision": "approved"})
    assert [one.decision for one in daemon.answered] == [Decision.APPROVED]
    assert client.told("elicitation/create") == []


def test_a_tool_of_an_mcp_server_is_asked_for_as_a_command_that_says_it_is_none() -> None:
    daemon, client, conversation = begun(listens=True, says=True, elicits=False)
    wants_to_use_a_tool(daemon, conversation)
    (params,) = client.told("execCommandApproval")
    assert params == {
        "conversation_id": conversation,
        "call_id": "call1234",
        "command": ["use-mcp-tool", "files", "write", '{"path": "/w/a"}'],
        "cwd": "/",
        "reason": "no command: may it use this tool of an MCP server?",
    }
    client.respond(0, {"decision": "approved"})
    assert [one.decision for one in daemon.answered] == [Decision.APPROVED]


def test_a_patch_is_asked_for_with_its_changes() -> None:
    daemon, client, conversation = begun(listens=True, says=True)
    wants_to_patch(daemon, conversation)
    (params,) = client.told("applyPatchApproval")
    diff = "@@ -1 +1 @@\n-original content\n+modified content\n"
    assert params == {
        "conversation_id": conversation,
        "call_id": "call1234",
        "file_changes": {"/w/f.txt": {"update": {"unified_diff": diff, "move_path": None}}, "/w/g.txt": "delete"},
    }


def test_two_listeners_of_one_client_are_one_person() -> None:
    daemon, client, conversation = begun(listens=True)
    listen(client, conversation)
    say(client, conversation)
    wants_to_run(daemon, conversation)
    assert len(client.told("execCommandApproval")) == 1


@pytest.mark.parametrize("reply", [{"decision": "nonsense"}, None])
def test_an_unreadable_reply_and_an_error_are_denials(reply: Any) -> None:
    daemon, client, conversation = begun(listens=True, says=True)
    wants_to_run(daemon, conversation)
    if reply is None:
        client.refuse(0)
    else:
        client.respond(0, reply)
    assert [one.decision for one in daemon.answered] == [Decision.DENIED]


def test_a_question_that_waited_is_put_to_the_first_who_listens() -> None:
    daemon, client, conversation = begun(says=True)
    wants_to_run(daemon, conversation)
    request = client.begin("addConversationListener", {"conversationId": conversation})
    methods = client.methods()
    assert methods.index(f"={request}") < methods.index("codex/event/exec_approval_request")
    assert methods[-1] == "execCommandApproval"


def test_the_abort_takes_the_question_back() -> None:
    daemon, client, conversation = begun(listens=True, says=True)
    wants_to_run(daemon, conversation)
    client.ask("interruptConversation", {"conversationId": conversation})
    assert [one["requestId"] for one in client.told("notifications/cancelled")] == [0]


def test_both_families_work_on_one_conversation() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = finished(daemon, client)
    listen(client, conversation)
    request = client.tool("codex-reply", {"threadId": conversation, "prompt": "more"})
    daemon.say(conversation, ev.AgentMessage(message="More", item_id=ItemId("i")))
    daemon.finish(conversation, "More")
    daemon.settle()
    assert len(client.told("codex/event/agent_message")) == 1
    assert client.types().count("agent_message") == 1
    assert "result" in client.answer(request)


def test_a_turn_without_an_effort_has_that_of_its_conversation() -> None:
    daemon, client, conversation = begun()
    wish = turn(conversation)
    del wish["effort"]
    assert client.ask("sendUserTurn", wish)["result"] == {}
    assert daemon.turns[conversation].settings.effort is daemon.state(conversation).facts.settings.effort


def test_a_turn_whose_settings_go_too_far_is_refused_and_not_begun() -> None:
    daemon = Daemon()
    daemon.serve[ask.PermitSettings] = refuse
    client = McpClient(daemon)
    conversation = new(client)
    error = client.ask("sendUserTurn", turn(conversation))["error"]
    assert error == {"code": -32600, "message": "too far"}
    assert daemon.turns == {}


def refuse(_: ask.PermitSettings) -> None:
    raise NotAllowed("too far")
