"""The tables of MCP: methods and tools by their names."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal, cast

from msgspec import Struct
from msgspec.structs import replace
from pydantic import ConfigDict

from actors.vocabulary.answers import Done
from actors.vocabulary.errors import GreenroomError
from transports import jsonrpc
from transports.dialect import Introduce
from transports.dialects.kit.methods import Method, always_urgent, method
from transports.dialects.kit.paging import BadCursor
from transports.dialects.kit.refusals import MethodError
from transports.dialects.kit.script import Script
from transports.dialects.mcp import completion, prompts
from transports.dialects.mcp.calls import codex, conversation_tools, greenroom_tools, long_work, tasks
from transports.dialects.mcp.calls.results import CallResult, ToolError, tool_error, with_link
from transports.dialects.mcp.protocol import arguments, resources, tools
from transports.dialects.mcp.protocol.answers import answers_in
from transports.dialects.mcp.protocol.decoding import Undecodable, decode
from transports.dialects.mcp.protocol.introduction import WITH_TASKS, welcome
from transports.dialects.mcp.protocol.repeated_requests import new_message
from transports.dialects.mcp.protocol.revisions import Era, Initialize, McpParams, peer
from transports.dialects.mcp.protocol.state import McpCall


class NoParams(McpParams): ...


class ListedTools(Struct, frozen=True):
    tools: Sequence[Mapping[str, object]]


class CallTool(McpParams):
    """Its other members are those of a repeated call."""

    model_config = ConfigDict(extra="allow")

    name: str
    arguments: object = None
    task: NoParams | None = None  # its wishes have no effect


class SetLevel(McpParams):
    level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def initialize(call: McpCall, params: Initialize) -> Mapping[str, object]:
    state = call.state
    if state.has_shaken_hands:
        raise MethodError(jsonrpc.INVALID_REQUEST, "initialize called more than once")
    state.era, state.peer = Era.HANDSHAKE, peer(params)
    state.client = replace(state.client, name=state.peer.name or state.client.name, version=state.peer.version)
    call.do(Introduce(state.client))
    return welcome(state.peer.revision, state.version, state.options.tools)


def ping(_: McpCall, __: NoParams) -> Done:
    return Done()


def list_tools(call: McpCall, params: resources.ListPage) -> ListedTools:
    listed = [tools.BY_NAME[name] for name in call.state.options.tools if name in tools.BY_NAME]
    return resources.one_page(params, ListedTools(listed))


def set_level(call: McpCall, params: SetLevel) -> Done:
    call.state.log.choose(params.level)
    return Done()


# --- tools ----------------------------------------------------------------------------------------------------------


def call_tool(call: McpCall, params: CallTool) -> Script[object]:
    if params.task is not None and call.peer.revision == WITH_TASKS:
        if params.name not in WHOLE_TURN:
            raise MethodError(jsonrpc.METHOD_NOT_FOUND, f"{params.name} can't be run as a task; call it without one")
        call.saying = call.state.repeats.identify(call.request, params.name, params.arguments)
        return (yield from tasks.begin(call, params.name, params.arguments))
    result = yield from _run_tool(call, params)
    if not isinstance(result, CallResult) or (params.name in WHOLE_TURN and call.peer.expects_text_alone):
        return result
    return with_link(result, call.peer)


def _run_tool(call: McpCall, params: CallTool) -> Script[object]:
    name, raw = params.name, params.arguments
    if call.peer.stateless:
        call.answers, call.saying = answers_in(params.model_extra or {}), new_message()
    elif name in SAYING:
        call.saying = call.state.repeats.identify(call.request, name, raw)
    try:
        if name in WHOLE_TURN:
            return (yield from WHOLE_TURN[name](call, raw))
        if name in OWN:
            tool, raw = OWN[name], {} if raw is None else raw
        elif name in CONVERSATION_TOOLS:
            tool = CONVERSATION_TOOLS[name]
        else:
            return tool_error(f"Unknown tool '{name}'")
        parsed = decode(tool.params, raw)
        if name in WITH_WARNINGS:
            call.state.note_ignored(name, tool.params, raw)
        return (yield from cast("Script[object]", tool.handler(call, parsed)))  # all of them are scripts
    except (Undecodable, BadCursor) as error:
        return tool_error(f"Invalid arguments for {name}: {error}" if name in OWN else f"Unknown tool '{name}'")
    except MethodError:
        raise
    except GreenroomError as why:
        if name in OWN or isinstance(why, ToolError):
            return tool_error(why.message)
        raise


WHOLE_TURN: Mapping[str, Callable[[McpCall, object], Script[object]]] = {
    "codex": codex.codex,
    "codex-reply": codex.codex_reply,
}
CONVERSATION_TOOLS: Mapping[str, Method[McpCall]] = {
    "conversationCreate": method(arguments.ConversationCreateArguments, conversation_tools.create),
    "conversationSendMessage": method(arguments.ConversationSendMessageArguments, conversation_tools.send_message),
    "conversationStream": method(arguments.ConversationStreamArguments, conversation_tools.stream),
    "conversationsList": method(arguments.ConversationsListArguments, conversation_tools.list_all),
}
OWN: Mapping[str, Method[McpCall]] = {
    "start_conversation": method(arguments.StartConversationArguments, long_work.start_conversation),
    "send": method(arguments.SendMessageArguments, long_work.send),
    "wait_conversation": method(arguments.WaitConversationArguments, long_work.wait_conversation),
    "list_conversations": method(arguments.ListConversationsArguments, greenroom_tools.list_conversations),
    "interrupt_conversation": method(
        arguments.InterruptConversationArguments, greenroom_tools.interrupt_conversation
    ),
    "waiting_messages": method(arguments.WaitingMessagesArguments, greenroom_tools.waiting_messages),
    "set_conversation": method(arguments.SetConversationArguments, greenroom_tools.set_conversation),
    "read_conversation": method(arguments.ReadConversationArguments, greenroom_tools.read_conversation),
    "answer_approval": method(arguments.AnswerApprovalArguments, greenroom_tools.answer_approval),
}

SAYING = frozenset({*WHOLE_TURN, "start_conversation", "send", "conversationSendMessage"})
WITH_WARNINGS = frozenset({"conversationCreate", "conversationSendMessage"})  # with warnings about unknown arguments
URGENT = frozenset({"interrupt_conversation", "answer_approval"})  # tools that end other requests

METHODS: Mapping[str, Method[McpCall]] = {
    "initialize": method(Initialize, initialize),
    "ping": method(NoParams, ping, urgent=always_urgent),
    "tools/list": method(resources.ListPage, list_tools),
    "tools/call": method(CallTool, call_tool, urgent=lambda params: params.name in URGENT),
    "tasks/get": method(tasks.TaskParams, tasks.get),
    "tasks/result": method(tasks.TaskParams, tasks.result),
    "tasks/list": method(resources.ListPage, tasks.list_all),
    "tasks/cancel": method(tasks.TaskParams, tasks.cancel, urgent=always_urgent),
    "logging/setLevel": method(SetLevel, set_level),
    "completion/complete": method(completion.Complete, completion.complete),
    "prompts/list": method(resources.ListPage, prompts.list_all),
    "prompts/get": method(prompts.GetPrompt, prompts.get),
    "resources/list": method(resources.ListPage, resources.list_all),
    "resources/templates/list": method(resources.ListPage, resources.templates),
    "resources/read": method(resources.Uri, resources.read),
    "resources/subscribe": method(resources.Uri, resources.subscribe),
    "resources/unsubscribe": method(resources.Uri, resources.unsubscribe),
}
