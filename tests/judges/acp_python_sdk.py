"""Drives an ACP agent through the Python SDK: `python acp_python_sdk.py PLAN`, in the SDK's own environment.

Prints a report in JSON; what the plan has and what is expected of the report stands in acp_reports.py.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import acp  # type: ignore[import-not-found]  # it is in the environment of the judges
from acp import schema

plan: dict[str, Any] = json.loads(sys.argv[1])
LIMIT = 1 << 24
ROLES = {"user_message_chunk": "user_message", "agent_message_chunk": "agent_message"}


class Told:
    """A client that keeps what it is told, and answers permission requests at once."""

    def __init__(self) -> None:
        self.updates: list[tuple[str, Any]] = []
        self.permits = "allow_once"
        self.questions = 0
        self._more = asyncio.Condition()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        async with self._more:
            self.updates.append((session_id, update))
            self._more.notify_all()

    async def request_permission(self, options: Any, session_id: str, tool_call: Any, **_: Any) -> Any:  # noqa: ARG002  # by the SDK's names
        self.questions += 1
        chosen = next(one for one in options if one.kind == self.permits)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    def on_connect(self, conn: Any) -> None:
        """Nothing is needed: the client is handed over by `spawn_agent_process`."""

    async def until_said(self, session: str, after: int) -> None:
        async with self._more:
            await self._more.wait_for(lambda: self.text(session, after))

    def spoken(self, session: str, after: int = 0) -> list[list[str]]:
        """The words of both sides, as they came."""
        return [
            [ROLES[update.session_update], update.content.text]
            for owner, update in self.updates[after:]
            if owner == session and update.session_update in ROLES
        ]

    def text(self, session: str, after: int = 0) -> str:
        return "".join(words for role, words in self.spoken(session, after) if role == "agent_message")


async def prompted(client: Any, told: Told, session: str, text: str) -> dict[str, Any]:
    after = len(told.updates)
    answer = await client.prompt(session_id=session, prompt=[acp.text_block(text)])
    return {"stop": answer.stop_reason, "text": told.text(session, after)}


def running() -> int:
    """How many sleeps run in the directory of the plan."""

    def is_one(entry: Path) -> bool:
        try:
            here = str((entry / "cwd").readlink()).startswith(plan["work"])
            return here and (entry / "cmdline").read_bytes().startswith(b"sleep\0")
        except OSError:
            return False

    return sum(entry.name.isdecimal() and is_one(entry) for entry in Path("/proc").iterdir())


def kill_daemon() -> None:
    os.kill(int(Path(plan["daemon"]).read_text(encoding="ascii")), signal.SIGKILL)


async def connected(op: Callable[[Any, Told, Any], Awaitable[None]]) -> None:
    told = Told()
    spawned = acp.spawn_agent_process(
        told, plan["server"], use_unstable_protocol=True, transport_kwargs={"limit": LIMIT}
    )
    async with spawned as (client, _):
        initialized = await client.initialize(
            protocol_version=1, client_info=schema.Implementation(name="judge", version="1")
        )
        await op(client, told, initialized)


async def talk(client: Any, told: Told, initialized: Any) -> None:
    report["initialized"] = initialized.model_dump(mode="json", by_alias=True, exclude_none=True)
    report["listedBefore"] = len((await client.list_sessions(cwd=plan["work"])).sessions)
    prompts = plan["prompts"]
    one = (await client.new_session(cwd=plan["work"], mcp_servers=[])).session_id
    report["first"] = await prompted(client, told, one, prompts["first"])

    report["accepted"] = await prompted(client, told, one, prompts["accept"])
    report["accepted"]["questions"] = told.questions
    told.permits = "reject_once"
    report["refused"] = await prompted(client, told, one, prompts["refuse"])
    report["refused"]["questions"] = told.questions

    told.permits = "allow_once"
    stubborn = asyncio.create_task(prompted(client, told, one, prompts["stubborn"]))
    while not running():  # noqa: ASYNC110  # no message tells when a process runs
        await asyncio.sleep(0.02)
    await client.cancel(session_id=one)
    report["cancelled"] = {**await stubborn, "left": running()}

    other = (await client.new_session(cwd=plan["work"], mcp_servers=[])).session_id
    report["second"] = await prompted(client, told, other, prompts["second"])
    report["sessions"] = [one, other]
    report["listed"] = [row.session_id for row in (await client.list_sessions(cwd=plan["work"])).sessions]

    after = len(told.updates)
    lost = asyncio.create_task(prompted(client, told, one, prompts["stream"]))
    await told.until_said(one, after)
    kill_daemon()
    report["killed"] = await lost
    report["back"] = await prompted(client, told, one, prompts["back"])


async def load(client: Any, told: Told, _: Any) -> None:
    other = report["sessions"][1]
    await client.load_session(cwd=plan["work"], session_id=other, mcp_servers=[])
    report["loaded"] = told.spoken(other)


async def resume(client: Any, told: Told, _: Any) -> None:
    other = report["sessions"][1]
    await client.resume_session(cwd=plan["work"], session_id=other, mcp_servers=[])
    report["resumed"] = "".join(words for _, words in told.spoken(other))
    report["after"] = await prompted(client, told, other, plan["prompts"]["first"])


async def main() -> None:
    for op in (talk, load, resume):
        await connected(op)
    print(json.dumps(report))


report: dict[str, Any] = {}
if __name__ == "__main__":
    asyncio.run(main())
