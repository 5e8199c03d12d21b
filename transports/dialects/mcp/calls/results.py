"""The results of tools: contents for models, the same as a structure for programs, errors, and tasks. Pure."""

from collections.abc import Mapping

from msgspec import UNSET, Struct, UnsetType, field
from msgspec.structs import replace

from actors.vocabulary.errors import GreenroomError
from actors.vocabulary.ids import ApprovalId
from transports import jsonrpc
from transports.dialects.kit.identifiers import uri_of
from transports.dialects.kit.moments import moment
from transports.dialects.mcp.protocol.elicitation import InputRequest
from transports.dialects.mcp.protocol.revisions import LINKS_FROM, WITHOUT_LINKS, Introduction
from transports.dialects.mcp.protocol.tasks import POLL_MS, TaskId, TaskMeta, TaskState
from transports.dialects.mcp.protocol.tool_results import AboutConversation


class ToolError(GreenroomError):
    """A refusal in a tool's own words."""


class ToolText(Struct, frozen=True):
    text: str
    type: str = "text"


class ConversationLink(Struct, frozen=True, kw_only=True, rename="camel"):
    type: str = "resource_link"
    uri: str
    name: str
    title: str
    description: str
    mime_type: str = "text/markdown"


class CallResult(Struct, frozen=True, kw_only=True, rename="camel"):
    result_type: str | UnsetType = UNSET
    content: tuple[ToolText | ConversationLink, ...]
    is_error: bool | UnsetType = UNSET
    structured_content: Struct | Mapping[str, object] | UnsetType = UNSET
    error: str | UnsetType = UNSET
    meta: TaskMeta | UnsetType = field(name="_meta", default=UNSET)


class ExtensionTask(Struct, frozen=True, rename="camel"):
    """A task as the extension has it."""

    task_id: str
    status: str
    created_at: str
    last_updated_at: str
    ttl_ms: None = None
    poll_interval_ms: int = POLL_MS
    status_message: str | UnsetType = UNSET
    input_requests: Mapping[ApprovalId, InputRequest] | UnsetType = UNSET
    result: CallResult | UnsetType = UNSET
    result_type: str = "complete"


def text(*texts: str) -> tuple[ToolText, ...]:
    return tuple(map(ToolText, texts))


def tool_error(*texts: str) -> CallResult:
    """An error as an ordinary result, which is how Codex reports all failures of a tool."""
    return CallResult(content=text(*texts), is_error=True)


def payload(value: Struct | Mapping[str, object], *, error: bool = False) -> CallResult:
    """The same object twice: as JSON text for models, as structure for programs."""
    return CallResult(content=text(jsonrpc.to_json(value)), is_error=error, structured_content=value)


def with_link(result: CallResult, peer: Introduction) -> CallResult:
    """The result with a link to its conversation, last: many clients show their model the contents alone.

    LangChain makes a file of a link, which OpenAI's API refuses, with the whole request. It has the default name of a
    client without one, so all of these get words instead; so does OpenCode, which drops links.
    """
    structure = result.structured_content
    if not isinstance(structure, AboutConversation) or peer.revision < LINKS_FROM:
        return result
    thread = structure.thread_id
    link: ToolText | ConversationLink
    if peer.name in WITHOUT_LINKS:
        link = ToolText(f"{uri_of(thread)}: {how_to_reply(thread)}")
    else:
        title = f"Conversation {thread}"
        link = ConversationLink(uri=uri_of(thread), name=thread, title=title, description=how_to_reply("this id"))
    return replace(result, content=(*result.content, link))


def how_to_reply(thread: str) -> str:
    return f"Say more in it with `codex-reply` and {thread} as threadId."


def describe_extension_task(task: TaskId, state: TaskState, status: str) -> ExtensionTask:
    return ExtensionTask(str(task), status, moment(state.created), moment(max(state.created, state.updated)))
