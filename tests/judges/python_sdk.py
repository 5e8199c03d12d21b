"""Drives a server through the Python SDK: `python python_sdk.py MODE SERVER`, in the SDK's own environment.

Prints a report in JSON; what is expected of it stands in reports.py.
"""

import json
import sys
from collections.abc import Awaitable
from typing import Any

import anyio
import mcp
from mcp import types
from mcp.client import ClientRequestContext

ASKS = {
    "prompt": 'call shell ["sh","-c","sleep 0.6; touch judged"]; then; say done',
    "approval-policy": "untrusted",
    "sandbox": "danger-full-access",  # in another, a yes means inside
}
SLEEPS = {"prompt": 'call shell ["sleep","60"]', "approval-policy": "never", "sandbox": "danger-full-access"}
STATELESS = "2026-07-28"
PATIENCE_S = 1.5  # then it gives the sleeping call up

report: dict[str, Any] = {"asked": [], "progress": [], "updated": 0}


async def asked(context: ClientRequestContext, params: Any) -> Any:  # noqa: ARG001  # by the SDK's names
    report["asked"].append(params.message)
    return types.ElicitResult(action="accept", content={})


async def heard(message: object) -> None:
    if isinstance(message, types.ResourceUpdatedNotification):
        report["updated"] += 1


async def progressed(progress: float, total: float | None, message: str | None) -> None:
    report["progress"].append({"progress": progress, "total": total, "message": message})


async def talk(client: Any) -> None:
    report["server"] = plain(client.server_info)
    report["revision"] = client.protocol_version
    report["capabilities"] = plain(client.server_capabilities)
    report["tools"] = [tool.name for tool in (await client.list_tools()).tools]
    stateless = client.protocol_version >= STATELESS
    if not stateless:
        await client.send_ping()
    report["first"] = plain(await client.call_tool("codex", ASKS, progress_callback=progressed))
    thread = report["first"]["structuredContent"]["threadId"]
    report["uri"] = uri = f"greenroom://conversation/{thread}"
    again = client.call_tool("codex-reply", {"threadId": thread, "prompt": "say again"})
    if stateless:
        async with client.listen(resource_subscriptions=[uri], tools_list_changed=True) as news:
            report["reply"] = plain(await again)
            with anyio.fail_after(PATIENCE_S):
                report["updated"] += bool(await anext(aiter(news)))
    else:
        await client.subscribe_resource(uri)
        report["reply"] = plain(await again)
    report["cancelled"] = await caught(client.call_tool("codex", SLEEPS, read_timeout_seconds=PATIENCE_S))
    report["after"] = plain(await client.call_tool("codex-reply", {"threadId": thread, "prompt": "say still here"}))
    if not stateless:
        await client.set_logging_level("debug")
    await look(client, uri)
    if not stateless:
        await client.unsubscribe_resource(uri)
    report["listed"] = plain(await client.call_tool("list_conversations", {}))["structuredContent"]
    report["unknown"] = await caught(client.call_tool("no_such_tool", {}))
    report["prompts"] = await caught(client.list_prompts())


async def look(client: Any, uri: str) -> None:
    report["resources"] = [str(one.uri) for one in (await client.list_resources()).resources]
    templates = (await client.list_resource_templates()).resource_templates
    report["templates"] = [one.uri_template for one in templates]
    report["read"] = plain(await client.read_resource(uri))["contents"]
    reference = types.ResourceTemplateReference(uri=report["templates"][0])
    beginning = uri.rpartition("/")[2][:4]
    report["completed"] = plain(await client.complete(reference, {"name": "id", "value": beginning}))["completion"]


async def caught(answer: Awaitable[Any]) -> dict[str, Any]:
    try:
        return {"answer": plain(await answer)}
    except mcp.MCPError as error:
        return {"message": str(error)}


def plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main(mode: str, server: str) -> None:
    parameters = mcp.StdioServerParameters(command=server)
    async with mcp.Client(parameters, mode=mode, elicitation_callback=asked, message_handler=heard) as client:
        await talk(client)
    print(json.dumps(report))


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2])
