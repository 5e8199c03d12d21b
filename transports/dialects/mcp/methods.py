"""The table of MCP: each request's params and handler. The tools have a table of their own, by name."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from transports import jsonrpc
from transports.dialect import Action, Introduce
from transports.dialects.mcp import completion, resources, tools
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.calls import codex, own, typed
from transports.dialects.mcp.decoding import Undecodable
from transports.dialects.mcp.method import Handler, Method, always
from transports.dialects.mcp.revisions import Initialize, peer, welcome


class Anything(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class CallTool(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    name: str
    arguments: Any = None


class SetLevel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    level: Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]


def initialize(call: Call, said: Initialize) -> Iterable[Action]:
    desk = call.desk
    if desk.initialized:
        return call.fail(jsonrpc.INVALID_REQUEST, "initialize called more than once")
    desk.initialized = True
    desk.peer = peer(said)
    desk.client = replace(desk.client, name=desk.peer.name or desk.client.name, version=desk.peer.version)
    return (Introduce(desk.client), *call.finish(welcome(desk.peer.revision, desk.options.version)))


def ping(call: Call, _: Anything) -> Iterable[Action]:
    return call.finish({})


def list_tools(call: Call, wanted: resources.Page) -> Iterable[Action]:
    return resources.one_page(call, wanted, {"tools": tools.listed(call.desk.options.tools)})


def set_level(call: Call, wanted: SetLevel) -> Iterable[Action]:
    call.desk.loudness.choose(wanted.level)
    return call.finish({})


def call_tool(call: Call, wanted: CallTool) -> Iterable[Action]:
    """Generators start late, so that a handler's first refusal comes out here."""
    if wanted.name in WHOLE_TURN:
        return WHOLE_TURN[wanted.name](call, wanted.arguments)
    try:
        if wanted.name in TYPED:
            return tuple(TYPED[wanted.name](call, wanted.arguments))
        if wanted.name in OWN:
            return tuple(OWN[wanted.name](call, wanted.arguments if wanted.arguments is not None else {}))
    except Undecodable as error:
        if wanted.name in OWN:
            return call.tool_error(f"Invalid arguments for {wanted.name}: {error}")
    return call.tool_error(f"Unknown tool '{wanted.name}'")


WHOLE_TURN: Mapping[str, Handler] = {"codex": codex.codex, "codex-reply": codex.codex_reply}
TYPED: Mapping[str, Handler] = {
    "conversationCreate": typed.create,
    "conversationSendMessage": typed.send_message,
    "conversationStream": typed.stream,
    "conversationsList": typed.list_all,
}
OWN: Mapping[str, Handler] = {
    "list_conversations": own.list_conversations,
    "interrupt_conversation": own.interrupt_conversation,
    "read_conversation": own.read_conversation,
    "answer_approval": own.answer_approval,
}

URGENT = frozenset({"interrupt_conversation", "answer_approval"})  # tools that end what others wait for

METHODS: Mapping[str, Method] = {
    "initialize": Method(Initialize, initialize),
    "ping": Method(Anything, ping, urgent=always),
    "tools/list": Method(resources.Page, list_tools),
    "tools/call": Method(CallTool, call_tool, urgent=lambda wanted: wanted.name in URGENT),
    "logging/setLevel": Method(SetLevel, set_level),
    "completion/complete": Method(completion.Complete, completion.complete),
    "resources/list": Method(resources.Page, resources.list_all),
    "resources/templates/list": Method(resources.Page, resources.templates),
    "resources/read": Method(resources.Uri, resources.read),
    "resources/subscribe": Method(resources.Uri, resources.subscribe),
    "resources/unsubscribe": Method(resources.Uri, resources.unsubscribe),
}
