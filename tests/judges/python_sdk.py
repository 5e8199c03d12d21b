"""Drives a server through the Python SDK: `python python_sdk.py MODE SERVER`, in the SDK's own environment.

Prints a report in JSON; what is expected of it stands in reports.py.
"""

import json
import sys
from typing import Any

import anyio
import mcp
import mcp.types as types


async def main(mode: str, server: str) -> None:
    report: dict[str, Any] = {"asked": [], "events": [], "progress": [], "updated": 0}
    begun = anyio.Event()

    async def asked(_: object, params: Any) -> types.ElicitResult:
        report["asked"].append(params.message)
        return types.ElicitResult(action="accept", content={})

    async def heard(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            report["updated"] += 1

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        report["progress"].append({"progress": progress, "total": total, "message": message})

    async def caught(awaitable: Any) -> dict[str, Any]:
        try:
            return {"answer": plain(await awaitable)}
        except Exception as error:
            return {"message": str(error)}

    parameters = mcp.StdioServerParameters(command=server)
    async with mcp.Client(parameters, mode=mode, elicitation_callback=asked, message_handler=heard) as client:
        report["server"] = plain(client.server_info)
        report["revision"] = client.protocol_version
        report["capabilities"] = plain(client.server_capabilities)
        report["tools"] = [tool.name for tool in (await client.list_tools()).tools]
        await client.send_ping()
        asks = {
            "prompt": 'call shell ["sh","-c","sleep 0.6; touch judged"]; then; say done',
            "approval-policy": "untrusted",
        }
        report["first"] = plain(await client.call_tool("codex", asks, progress_callback=progressed))
        thread = report["first"]["structuredContent"]["threadId"]
        report["uri"] = uri = f"greenroom://conversation/{thread}"
        await client.subscribe_resource(uri)
        report["reply"] = plain(await client.call_tool("codex-reply", {"threadId": thread, "prompt": "say again"}))
        sleeps = {
            "prompt": 'call shell ["sleep","60"]',
            "approval-policy": "never",
            "sandbox": "danger-full-access",
        }
        report["cancelled"] = await caught(client.call_tool("codex", sleeps, read_timeout_seconds=1.5))
        report["after"] = plain(
            await client.call_tool("codex-reply", {"threadId": thread, "prompt": "say still here"})
        )
        await client.set_logging_level("debug")
        report["resources"] = [str(one.uri) for one in (await client.list_resources()).resources]
        templates = (await client.list_resource_templates()).resource_templates
        report["templates"] = [one.uri_template for one in templates]
        report["read"] = plain(await client.read_resource(uri))["contents"]
        await client.unsubscribe_resource(uri)
        reference = types.ResourceTemplateReference(uri=report["templates"][0])
        completed = await client.complete(reference, {"name": "id", "value": thread[:4]})
        report["completed"] = plain(completed)["completion"]
        report["listed"] = plain(await client.call_tool("list_conversations", {}))["structuredContent"]
        report["unknown"] = await caught(client.call_tool("no_such_tool", {}))
        report["prompts"] = await caught(client.list_prompts())
    print(json.dumps(report))


def plain(model: Any) -> Any:
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:3])
