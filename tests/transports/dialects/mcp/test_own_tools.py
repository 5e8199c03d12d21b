"""The tools that are ours, how tools are listed, progress, and completion."""

from collections.abc import Iterator

import pytest

from actors.messages.conversation import Send, ToConversation
from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ConversationId, ItemId
from actors.vocabulary.items import TextItem
from actors.vocabulary.settings import BusyPolicy
from tests.support.work import command_began, command_ended
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.json_schema import check
from tests.transports.dialects.mcp.peer import McpClient
from tests.transports.dialects.mcp.steps import began, created, finished, text_of, wants_to_run
from transports.dialects.mcp.protocol.tools import ALL
from transports.supervisor_answers import SearchHit, SearchHits
from transports.supervisor_requests import Search


def test_ten_tools_are_listed_in_their_order_and_all_others_by_choice() -> None:
    names = [tool["name"] for tool in McpClient(Daemon()).ask("tools/list")["result"]["tools"]]
    ours = [
        "start_conversation",
        "send",
        "wait_conversation",
        "list_conversations",
        "interrupt_conversation",
        "waiting_messages",
        "read_conversation",
        "answer_approval",
    ]
    assert names == ["codex", "codex-reply", *ours]
    client = McpClient(Daemon(), tools=("conversationCreate", "codex"))
    assert [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]] == ["conversationCreate", "codex"]


def test_the_reference_s_tools_have_the_reference_s_names_and_arguments() -> None:
    codex, reply = McpClient(Daemon()).ask("tools/list")["result"]["tools"][:2]
    assert (codex["title"], reply["title"]) == ("Codex", "Codex Reply")
    assert codex["description"] == (
        "Run a Codex session. Accepts configuration parameters matching the Codex Config struct."
    )
    assert reply["description"] == "Continue a Codex session by providing the session id and prompt."
    properties = codex["inputSchema"]["properties"]
    assert list(properties) == [
        "prompt",
        "model",
        "profile",
        "cwd",
        "approval-policy",
        "sandbox",
        "config",
        "base-instructions",
        "developer-instructions",
        "compact-prompt",
        "include-plan-tool",
    ]
    assert codex["inputSchema"]["required"] == ["prompt"]
    assert properties["approval-policy"]["enum"] == ["untrusted", "on-failure", "on-request", "never"]
    assert properties["sandbox"]["enum"] == ["read-only", "workspace-write", "danger-full-access"]
    assert {"prompt", "sessionId", "threadId", "conversationId", "if-busy"} == set(reply["inputSchema"]["properties"])


def test_every_tool_has_a_title_hints_and_a_schema_of_what_comes_out() -> None:
    for tool in ALL:
        assert tool["title"]
        assert set(tool["annotations"]) == {
            "title",
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }
        assert tool["outputSchema"]["type"] == "object"


def schemas_in(value: object) -> Iterator[dict[str, object]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from schemas_in(inner)


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool["name"])
def test_no_schema_has_a_list_of_types_which_some_models_do_not_read(tool: dict[str, object]) -> None:
    for schema in schemas_in([tool["inputSchema"], tool["outputSchema"]]):
        assert not isinstance(schema.get("type"), list), schema


def test_a_tool_that_is_not_listed_can_be_called() -> None:
    daemon = Daemon()
    client = McpClient(daemon, tools=())
    assert created(client) in daemon.conversations


def test_conversations_of_every_client_are_listed_with_what_to_call_them() -> None:
    daemon = Daemon()
    conversation = finished(daemon, McpClient(daemon, "a"))
    client = McpClient(daemon, "b")
    result = client.result("list_conversations")
    (row,) = result["structuredContent"]["conversations"]
    assert (row["threadId"], row["state"], row["model"], row["preview"]) == (
        conversation,
        "idle",
        "mock-model",
        "hi",
    )
    assert conversation in text_of(result)
    assert client.result("list_conversations", {"cwd": "/elsewhere"})["structuredContent"] == {"conversations": []}


def test_conversations_in_which_something_was_said_are_listed_with_the_place() -> None:
    daemon = Daemon()
    conversation = finished(daemon, McpClient(daemon, "a"))
    finished(daemon, McpClient(daemon, "b"))
    newer, older = (SearchHit(conversation, None, "/", seq, 1.0, "user", f"place {seq}", ()) for seq in (9, 4))
    daemon.serve[Search] = lambda _: SearchHits((newer, older), None, 1.0)
    result = McpClient(daemon, "c").result("list_conversations", {"search": "place"})
    (row,) = result["structuredContent"]["conversations"]
    assert (row["threadId"], row["found"]) == (conversation, {"seq": 9, "text": "place 9"})


def test_a_typing_error_in_our_own_arguments_is_not_ignored() -> None:
    result = McpClient(Daemon()).result("list_conversations", {"limt": 5})
    assert result["isError"]
    assert text_of(result).startswith("Invalid arguments for list_conversations: ")


def test_an_interrupt_is_answered_when_the_turn_is_over_and_at_once_where_none_runs() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, client, 1)
    daemon.stops_by_itself = False
    request = other.tool("interrupt_conversation", {"threadId": conversation[:8], "reason": "enough"})
    assert other.answers(request) == []
    daemon._stop(conversation, daemon.turns[conversation].turn)
    daemon.settle()
    assert other.answer(request)["result"]["structuredContent"] == {
        "threadId": conversation,
        "interrupted": True,
        "queued": 0,
        "waiting": [],
    }
    assert client.answer(1)["result"]["isError"]
    again = other.result("interrupt_conversation", {"threadId": conversation})
    assert again["structuredContent"]["interrupted"] is False


def test_an_interrupt_names_waiting_input_which_any_client_can_manage() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    conversation = began(daemon, client, 1)
    for words in ("run the tests", "commit"):
        items = (TextItem(text=words),)
        said = ToConversation(ConversationId(conversation), Send(items, BusyPolicy.ENQUEUE, by="somebody"))
        daemon.mailboxes["registry"].tell(said)
    daemon.settle()
    told = other.result("interrupt_conversation", {"threadId": conversation})["structuredContent"]
    assert told["queued"] == 2
    assert told["note"].startswith('2 messages wait: "run the tests", "commit"; they are held')
    one, two = (row["inputId"] for row in told["waiting"])

    def see(action: str, **more: str) -> list[str]:
        asked = {"threadId": conversation, "action": action, **more}
        result = other.result("waiting_messages", asked)["structuredContent"]
        return [row["text"] for row in result["waiting"]]

    assert see("edit", inputId=one, text="test") == ["test", "commit"]
    assert see("move", inputId=one) == ["commit", "test"]
    assert see("withdraw", inputId=two) == ["test"]
    assert other.result("waiting_messages", {"threadId": conversation, "action": "edit"})["isError"]
    assert see("go_on") == []
    assert see("list") == []


def test_an_interrupt_of_nothing_known_is_an_error() -> None:
    assert McpClient(Daemon()).result("interrupt_conversation", {"threadId": "nobody"})["isError"]


def test_a_transcript_can_be_read_in_pages() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = began(daemon, client)
    daemon.say(conversation, command_began("ls", "-l", item="i"))
    daemon.settle()
    daemon.say(
        conversation,
        command_ended("a\nb\n", item="i"),
        ev.AgentMessage(message="Two files.", item_id=ItemId("m")),
    )
    daemon.finish(conversation, "Two files.")
    daemon.settle()
    first = client.result("read_conversation", {"threadId": conversation, "limit": 4})["structuredContent"]
    assert (first["after"], first["complete"]) == (4, False)
    rest = client.result("read_conversation", {"threadId": conversation, "after": 4})["structuredContent"]
    assert rest["complete"] is True
    end = client.result("read_conversation", {"threadId": conversation, "before": 1 << 50, "limit": 4})
    last = end["structuredContent"]
    assert (last["after"], last["complete"]) == (rest["after"], False)
    whole = client.result("read_conversation", {"threadId": conversation, "before": last["before"]})
    assert (whole["structuredContent"]["after"], whole["structuredContent"]["complete"]) == (last["before"] - 1, True)
    text = first["text"] + rest["text"]
    for part in ("**User**\n\nhi", "$ ls -l", "a\nb\n[exit 0]", "**Agent**\n\nTwo files."):
        assert part in text


def test_an_approval_can_be_answered_by_its_id_once() -> None:
    daemon = Daemon()
    client, other = McpClient(daemon, "a"), McpClient(daemon, "b")
    approval = wants_to_run(daemon, began(daemon, client))
    arguments = {"approvalId": approval, "decision": "denied", "reason": "not now"}
    assert other.result("answer_approval", arguments)["structuredContent"] == {
        "threadId": approval.partition("@")[2],
        "approvalId": approval,
        "decision": "denied",
    }
    assert daemon.answered[0].reason == "not now"
    assert text_of(other.result("answer_approval", arguments)) == "already denied by tester[4711]"
    assert other.result("answer_approval", {**arguments, "approvalId": "x"})["isError"]


def test_progress_beats_while_the_turn_runs_and_ends_with_it() -> None:
    daemon = Daemon()
    client = McpClient(daemon, progress_seconds=10)
    client.tool("codex", {"prompt": "secret plan"}, 1, _meta={"progressToken": "p"})
    (conversation,) = daemon.conversations
    daemon.advance(10)
    daemon.say(conversation, command_began("make", "all", item="i"))
    daemon.settle()
    daemon.advance(10)
    daemon.finish(conversation, "Done")
    daemon.settle()
    daemon.advance(60)
    told = client.told("notifications/progress")
    assert [(one["progressToken"], one["progress"], one["message"]) for one in told] == [
        ("p", 1, "thinking"),
        ("p", 2, "running `make all`"),
    ]
    assert "secret" not in str(told)


@pytest.mark.parametrize(
    ("subject", "activity"),
    [
        (ev.FilesSubject(changes={"/w/a": "delete"}), "applying a patch"),
        (ev.ToolSubject(server="files", tool="find"), "using a tool of an MCP server"),
        (ev.OtherSubject(), "using a tool"),
    ],
)
def test_progress_names_the_kind_of_work(subject: ev.WorkSubject, activity: str) -> None:
    daemon = Daemon()
    client = McpClient(daemon, progress_seconds=10)
    client.tool("codex", {"prompt": "go"}, 1, _meta={"progressToken": "p"})
    (conversation,) = daemon.conversations
    daemon.say(conversation, ev.WorkBegan(call_id=CallId("c"), item_id=ItemId("i"), subject=subject))
    daemon.settle()
    daemon.advance(10)
    assert client.told("notifications/progress")[-1]["message"] == activity


def test_progress_says_that_an_approval_waits_and_when_it_does_no_more() -> None:
    daemon = Daemon()
    client = McpClient(daemon, progress_seconds=10)
    client.tool("codex", {"prompt": "x"}, 1, _meta={"progressToken": 5})
    (conversation,) = daemon.conversations
    wants_to_run(daemon, conversation)
    daemon.advance(10)
    client.respond(0, {"decision": "approved"})
    daemon.advance(10)
    messages = [(one["progressToken"], one["message"]) for one in client.told("notifications/progress")]
    assert messages == [(5, "waiting for an approval"), (5, "thinking")]


def test_progress_says_that_the_model_will_be_asked_again() -> None:
    daemon = Daemon()
    client = McpClient(daemon, progress_seconds=10)
    client.tool("codex", {"prompt": "x"}, 1, _meta={"progressToken": 5})
    (conversation,) = daemon.conversations
    daemon.say(conversation, ev.StreamError(message="the stream ended early", attempt=1, delay_ms=20_000))
    daemon.settle()
    daemon.advance(10)
    (beat,) = client.told("notifications/progress")
    assert beat["message"] == "waiting to ask the model again"


def test_without_a_token_there_is_no_progress() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    began(daemon, client)
    daemon.advance(100)
    assert client.told("notifications/progress") == []


def test_ids_of_conversations_are_completed() -> None:
    daemon = Daemon()
    client = McpClient(daemon)
    conversation = created(client)
    ref = {"type": "ref/resource", "uri": "greenroom://conversation/{id}"}
    params = {"ref": ref, "argument": {"name": "id", "value": conversation[:4]}}
    assert client.ask("completion/complete", params)["result"] == {
        "completion": {"values": [conversation], "total": 1, "hasMore": False}
    }
    other = {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "id", "value": ""}}
    assert client.ask("completion/complete", other)["error"]["code"] == -32602


def test_the_result_of_every_own_tool_fits_its_schema() -> None:
    """The test client checks this on every result; here it is shown that the check can fail."""
    schema = {tool["name"]: tool["outputSchema"] for tool in ALL}["codex"]
    check({"threadId": "a", "sessionId": "a", "content": ""}, schema, schema)
    for wrong in ({}, {"threadId": "a", "sessionId": "a", "content": 5}):
        try:
            check(wrong, schema, schema)
        except AssertionError:
            continue
        raise AssertionError(wrong)
