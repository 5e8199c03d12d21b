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
import time
from collections.abc import Awaitable, Callable, Collection
from pathlib import Path

ID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
FREE = {"approval-policy": "never", "sandbox": "danger-full-access"}
ASKS = {"approval-policy": "untrusted", "sandbox": "danger-full-access"}  # in another, a yes means inside
BEGUN_S = 30.0  # until the command of a call runs; some clients take eight seconds to start
POLL_S = 0.1
ENDED_S = 12.0  # until the command of a call that was given up is gone

Say = Callable[[str, dict[str, object]], Awaitable[str]]  # calls a tool; what the model sees of the answer


async def walk(
    tools: Callable[[], Awaitable[list[str]]],
    say: Say,
    answers: list[str],
    *,
    can: Collection[str] = ("accept", "decline"),
    patient: bool,
) -> dict[str, object]:
    """`answers` is where the client's own answers to questions are taken from, of those that it `can` give.

    `patient`: a call may take as long as its turn.
    """
    seconds, pid_file = sys.argv[2], Path(sys.argv[3])
    report: dict[str, object] = {"listed": await tools()}
    sleeps = f'call shell ["sleep","{seconds}"]; then; say rested'
    if patient:
        first = await say("codex", {"prompt": sleeps, **FREE})
    else:
        first = await waited(say, await say("start_conversation", {"prompt": sleeps, **camel(FREE)}))
    report["long"], report["seen"] = first, (thread := id_in(first)) is not None
    for name, answer in (("accepted", "accept"), ("declined", "decline")):
        prompt = f'call shell ["touch","{name}"]; then; say over'
        if answer in can:
            answers.append(answer)
            report[name] = await say("codex", {"prompt": prompt, **ASKS})
        else:
            report[name] = await asked_and_answered(say, prompt, answer)
    call = await begun(say, "61")
    cancelled = time.monotonic()
    call.cancel()
    report["cancelled"] = await gone(call)
    report["ended"] = await ended("61", cancelled)
    call = await begun(say, "62")
    kill(pid_file)
    report["killed"] = await gone(call)
    report["second"] = await say("codex-reply", {"threadId": thread, "prompt": "say again"})
    return report


async def asked_and_answered(say: Say, prompt: str, answer: str) -> str:
    """Have the model answer the question that a wait returns with."""
    begun = await say("start_conversation", {"prompt": prompt, **camel(ASKS)})
    asked = await waited(say, begun)
    found = re.search(rf"approvalId ([^ ,]+@{ID})", asked)
    assert found, asked
    decision = {"accept": "approved", "decline": "denied"}[answer]
    await say("answer_approval", {"approvalId": found[1], "decision": decision})
    return await waited(say, begun)


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


async def begun(say: Say, seconds: str) -> "asyncio.Future[str]":
    """Call for a command that sleeps so long. The call, when the command runs."""
    prompt = f'call shell ["sleep","{seconds}"]; then; say never'
    call = asyncio.ensure_future(say("codex", {"prompt": prompt, **FREE}))
    for _ in range(int(BEGUN_S / POLL_S)):
        if call.done() or sleeping(seconds, Path.cwd()):
            break
        await asyncio.sleep(POLL_S)
    return call


async def ended(seconds: str, since: float) -> float | None:
    """The time in seconds after which the command of a call that was given up is gone; None: it goes on."""
    while (now := time.monotonic()) < since + ENDED_S:
        if not sleeping(seconds, Path.cwd()):
            return round(now - since, 1)
        await asyncio.sleep(POLL_S)
    return None


def sleeping(seconds: str, where: Path) -> bool:
    """Whether a command that sleeps so long runs in this directory."""
    return any(_is(process, f"sleep\0{seconds}\0", where) for process in Path("/proc").glob("[0-9]*"))


def _is(process: Path, command: str, where: Path) -> bool:
    try:
        return (process / "cmdline").read_text() == command and (process / "cwd").readlink() == where
    except OSError:  # it has ended
        return False


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
