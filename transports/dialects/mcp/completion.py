"""`completion/complete`: ids of conversations for the resource templates."""

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict

from actors.errors import GreenroomError
from actors.registry_messages import ListConversations
from transports import jsonrpc
from transports.dialect import Action
from transports.dialects.mcp.call import Call
from transports.dialects.mcp.resources import TEMPLATES

VALUES = 100  # MCP allows no more


class Argument(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    name: str
    value: str


class Complete(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    ref: dict[str, Any]
    argument: Argument


def complete(call: Call, wanted: Complete) -> Iterable[Action]:
    templates = {template["uriTemplate"] for template in TEMPLATES}
    if wanted.ref.get("type") != "ref/resource" or wanted.ref.get("uri") not in templates:
        return call.fail(jsonrpc.INVALID_PARAMS, "only the templates of resources can be completed")
    if wanted.argument.name != "id":
        return call.fail(jsonrpc.INVALID_PARAMS, f"no argument {wanted.argument.name!r}")

    def listed(answer: Any) -> Iterable[Action]:
        if isinstance(answer, GreenroomError):
            return call.refuse(answer)
        found = [head.conversation for head in answer.heads if head.conversation.startswith(wanted.argument.value)]
        completion = {"values": found[:VALUES], "total": len(found), "hasMore": len(found) > VALUES}
        return call.finish({"completion": completion})

    return call.tell(ListConversations, listed)
