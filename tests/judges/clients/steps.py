"""The steps that each client takes: list, a long turn, accept, decline, cancel, a killed daemon, a second turn.

A client's script says how it calls a tool and what its model would see of the answer; what came of it goes to
standard output as JSON. Runs in the client's own environment, so it imports the standard library alone.
"""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
FREE = {"approval-policy": "never", "sandbox": "danger-full-access"}
PATIENCE_S = 2.0  # then a client gives a call up
BEGUN_S = 1.0  # until the command of a call runs

Say = Callable[[str, dict[str, object]], Awaitable[str]]  # calls a tool; what the model sees of the answer


async def walk(tools: Callable[[], Awaitable[list[str]]], say: Say, answers: list[str] | None) -> dict[str, object]:
    """`answers` is where the client's own answers to questions are taken from; None: it can't be asked."""
    seconds, pid_file = sys.argv[2], Path(sys.argv[3])
    report: dict[str, object] = {"listed": await tools()}
    sleeps = f'call shell ["sleep","{seconds}"]; then; say rested'
    if answers is None:
        first = await waited(say, await say("start_conversation", {"prompt": sleeps, **camel(FREE)}))
    else:
        first = await say("codex", {"prompt": sleeps, **FREE})
    report["long"], report["seen"] = first, (thread := id_in(first)) is not None
    for name, answer in (("accepted", "accept"), ("declined", "decline")):
        prompt = f'call shell ["touch","{name}"]; then; say over'
        if answers is None:
            await asked_and_answered(say, prompt, answer)
        else:
            answers.append(answer)
            await say("codex", {"prompt": prompt, "approval-policy": "untrusted"})
    sleeps = 'call shell ["sleep","61"]; then; say never'
    report["cancelled"] = await gone(asyncio.wait_for(say("codex", {"prompt": sleeps, **FREE}), PATIENCE_S))
    report["ended"] = await ends("61")
    call = asyncio.ensure_future(gone(say("codex", {"prompt": sleeps.replace("61", "62"), **FREE})))
    await asyncio.sleep(BEGUN_S)
    kill(pid_file)
    report["killed"] = await call
    report["second"] = await say("codex-reply", {"threadId": thread, "prompt": "say again"})
    return report


async def asked_and_answered(say: Say, prompt: str, answer: str) -> None:
    """Have the model answer the question that a wait returns with."""
    begun = await say("start_conversation", {"prompt": prompt, "approvalPolicy": "untrusted"})
    asked = await waited(say, begun)
    found = re.search(rf"approvalId ([^ ,]+@{ID})", asked)
    assert found, asked
    decision = {"accept": "approved", "decline": "denied"}[answer]
    await say("answer_approval", {"approvalId": found[1], "decision": decision})
    await waited(say, begun)


async def waited(say: Say, begun: str) -> str:
    """Wait as a model does that reads the text of each answer, in pieces shorter than any client's patience."""
    after = 0
    while True:
        said = await say("wait_conversation", {"threadId": id_in(begun), "after": after, "seconds": 3})
        if "works on" not in said:
            return said
        found = re.search(r"after (\d+)", said)
        assert found, said
        after = int(found[1])


async def ends(seconds: str) -> bool:
    """Whether the sleeping command of a call that was given up is gone soon."""
    for _ in range(40):
        if not sleeping(seconds):
            return True
        await asyncio.sleep(0.1)
    return False


def sleeping(seconds: str) -> bool:
    return any(words(path) == f"sleep\0{seconds}\0".encode() for path in Path("/proc").glob("[0-9]*/cmdline"))


def words(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def kill(pid_file: Path) -> None:
    os.kill(int(pid_file.read_text()), signal.SIGKILL)


def camel(arguments: dict[str, str]) -> dict[str, str]:
    return {re.sub("-(.)", lambda part: part[1].upper(), name): value for name, value in arguments.items()}


def id_in(seen: str) -> str | None:
    found = re.search(rf"(?:conversation/|threadId\W+)({ID})", seen)
    return found[1] if found else None


async def gone(call: Awaitable[str]) -> str:
    try:
        return await call
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001  # each client has errors of its own
        return f"{type(error).__name__}: {error}"


def told(report: dict[str, object]) -> None:
    print(json.dumps(report))
