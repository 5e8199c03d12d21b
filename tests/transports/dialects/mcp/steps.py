"""Steps that several tests share: begin a turn, have the agent ask, look at what stayed open."""

from pathlib import Path
from typing import Any

from actors.vocabulary import events as ev
from actors.vocabulary.ids import ApprovalId, CallId, ConversationId, ItemId
from tests.transports.dialects.mcp.daemon import Daemon
from tests.transports.dialects.mcp.peer import Json, McpClient


def began(daemon: Daemon, client: McpClient, request: Any = None, **arguments: Any) -> ConversationId:
    """A `codex` call whose turn is running."""
    before = set(daemon.conversations)
    client.tool("codex", {"prompt": "hi", **arguments}, request)
    (conversation,) = set(daemon.conversations) - before
    return conversation


def finished(daemon: Daemon, client: McpClient, text: str = "Done") -> ConversationId:
    conversation = began(daemon, client)
    daemon.finish(conversation, text)
    daemon.settle()
    return conversation


def created(client: McpClient, request: Any = None) -> ConversationId:
    """Make a conversation by the typed call."""
    arguments = {"prompt": "", "model": "o3", "cwd": "/w", "approval_policy": "untrusted"}
    answer = client.answer(client.tool("conversationCreate", arguments, request))
    return ConversationId(answer["result"]["structuredContent"]["conversation_id"])


def sent(client: McpClient, conversation: ConversationId, text: str = "Hello", request: Any = None) -> Json:
    arguments = {"conversation_id": conversation, "content": [{"type": "text", "text": text}]}
    result: Json = client.answer(client.tool("conversationSendMessage", arguments, request))["result"]
    return result


def wants_to_run(
    daemon: Daemon,
    conversation: ConversationId,
    name: str = "a1",
    reason: str | None = None,
    command: tuple[str, ...] = ("git", "init"),
    **more: Any,
) -> ApprovalId:
    approval = ApprovalId(f"{name}@{conversation}")
    daemon.say(
        conversation,
        ev.ApprovalRequested(
            call_id=CallId("call1234"),
            subject=ev.CommandSubject(command=command, cwd=Path("/w")),
            approval_id=approval,
            item_id=ItemId(f"i-{name}"),
            reason=reason,
            **more,
        ),
    )
    daemon.settle()
    return approval


def wants_to_patch(daemon: Daemon, conversation: ConversationId, name: str = "a1") -> ApprovalId:
    approval = ApprovalId(f"{name}@{conversation}")
    diff = "@@ -1 +1 @@\n-original content\n+modified content\n"
    changes: Any = {"/w/f.txt": {"update": {"unified_diff": diff, "move_path": None}}, "/w/g.txt": "delete"}
    daemon.say(
        conversation,
        ev.ApprovalRequested(
            call_id=CallId("call1234"),
            subject=ev.FilesSubject(changes=changes),
            approval_id=approval,
            item_id=ItemId(f"i-{name}"),
        ),
    )
    daemon.settle()
    return approval


def wants_to_use_a_tool(daemon: Daemon, conversation: ConversationId, name: str = "a1") -> ApprovalId:
    approval = ApprovalId(f"{name}@{conversation}")
    asked = ev.ApprovalRequested(
        call_id=CallId("call1234"),
        subject=ev.ToolSubject(server="files", tool="write", arguments='{"path": "/w/a"}'),
        outside_sandbox=True,
        approval_id=approval,
        item_id=ItemId(f"i-{name}"),
    )
    daemon.say(conversation, asked)
    daemon.settle()
    return approval


def text_of(result: Json) -> str:
    """The one text of a result, which a link to its conversation may follow."""
    content, *links = result["content"]
    assert content["type"] == "text"
    assert [one["type"] for one in links] in ([], ["resource_link"])
    text: str = content["text"]
    return text


def link_to(conversation: ConversationId) -> Json:
    return {
        "type": "resource_link",
        "uri": f"greenroom://conversation/{conversation}",
        "name": conversation,
        "title": f"Conversation {conversation}",
        "description": "Say more in it with `codex-reply` and this id as threadId.",
        "mimeType": "text/markdown",
    }


def nothing_open(client: McpClient) -> bool:
    return not any(client.statistics().values())
