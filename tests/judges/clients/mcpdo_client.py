"""The MCP inspector's `mcpdo`, a command per call: `python mcpdo_client.py SERVER SECONDS PID_FILE NAME`.

It waits a minute for a call. A question it puts out, and takes the answer with another command. Ctrl-C ends the
command alone: the call goes on in its daemon, and the next one waits for it, unless somebody disconnects.
"""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys

from tests.judges.clients.steps import told, walk
from tests.judges.installed import MODULES, NODE

MCPDO = (str(NODE), str(MODULES / ".bin" / "mcpdo"))
ANSWERS = {"accept": "{}", "decline": "--decline"}

answers: list[str] = []


def private() -> dict[str, str]:
    """The variables that make its daemon one of our own."""
    said = subprocess.check_output([*MCPDO, "private"], text=True)
    return {"MCP_INSPECTOR_SECRET_STORE": "memory", **dict(re.findall(r"export (\w+)='(.*)'", said))}


async def mcpdo(*words: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *(*MCPDO, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        said, complained = await process.communicate()
    except asyncio.CancelledError:
        process.send_signal(signal.SIGINT)
        await process.wait()
        raise
    return (said or complained).decode()


async def connect() -> None:
    await mcpdo("connect", "@judged", sys.argv[1])


async def tools() -> list[str]:
    return [tool["name"] for tool in json.loads(await mcpdo("@judged", "--format", "json", "tools/list"))["tools"]]


async def say(name: str, arguments: dict[str, object]) -> str:
    call = ("tools/call", name, "--tool-args-json", json.dumps(arguments))
    try:
        said = await mcpdo("@judged", "--format", "json", *call)
    except asyncio.CancelledError:
        await mcpdo("disconnect", "@judged")
        await connect()
        raise
    if "elicitationPending" in said:
        question = json.loads(said)["elicitationPending"]["elicitationId"]
        return await mcpdo("@judged", "elicitation/respond", question, ANSWERS[answers.pop(0)])
    return said


async def main() -> None:
    os.environ.update(private())
    await connect()
    try:
        told(await walk(tools, say, answers, patient=False))
    finally:
        await mcpdo("daemon", "stop")


asyncio.run(main())
