"""Run the user's program after each completed turn and for each question, as `notify` in the config names it.

The program is never waited for and is no part of the turn: it stays in the daemon's own session, where no turn looks
for its processes, and may outlive the daemon. Loop thread, which spawns everything.
"""

import asyncio
import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from itertools import chain

import structlog

from actors.messages.orders import Completed
from actors.vocabulary.ids import ConversationId
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.turn import Turn
from supervisor.disk.search_paths import drop_writable_entries, writable_folders
from supervisor.work.processes.command import MARKS
from supervisor.work.processes.exits import Exit
from transports import question_text as texts

WHAT_LENGTH = 8_000  # of a question's text: the system passes no argument of more than 128 KiB

log = structlog.get_logger()


class TurnHook:
    """The hook of all conversations. A failed start is logged; the turn has completed all the same."""

    def __init__(
        self, program: Callable[[], Sequence[str]], around: Callable[[ConversationId], CommandEnvironment]
    ) -> None:
        self._program = program
        self._around = around
        self._watching: set[asyncio.Task[None]] = set()

    def run_after_turn(self, turn: Turn, outcome: Completed) -> None:
        """Run the program for a completed turn."""
        details = {"input-messages": list(turn.user_messages), "last-assistant-message": outcome.last_message}
        self._run(turn, "agent-turn-complete", details)

    def run_for_question(self, turn: Turn, question: texts.QuestionEvent) -> None:
        """Run the program for a question, whose event is stored by now."""
        what = texts.summary(question)
        left_out = f"… ({len(what) - WHAT_LENGTH:,} more characters)" if len(what) > WHAT_LENGTH else ""
        details = {
            "approval-id": question["approval_id"],
            "kind": texts.kind(question),
            "question": texts.title(question),
            "what": f"{what[:WHAT_LENGTH]}{left_out}",
        }
        self._run(turn, "approval-requested", details)

    def _run(self, turn: Turn, kind: str, details: Mapping[str, object]) -> None:
        program = self._program()
        if not program:
            return
        order = turn.order
        about = {"conversation-id": order.conversation, "turn-id": order.turn, "cwd": str(turn.settings.cwd)}
        try:
            argument = json.dumps({"type": kind, **about, **details}, ensure_ascii=False)
            popen = self._start([*program, argument], turn)
        except (OSError, ValueError) as error:
            log.warning("notify.not_started", program=program[0], reason=str(error))
            return
        watch = asyncio.create_task(_watch(popen, program[0]), name=f"notify-{popen.pid}")
        self._watching.add(watch)
        watch.add_done_callback(self._watching.discard)

    def _start(self, argv: Sequence[str], turn: Turn) -> "subprocess.Popen[bytes]":
        around = self._around(turn.order.conversation)
        both = (turn.order.settings, turn.settings)  # the folders that it may write can have changed during the turn
        open_ = chain.from_iterable(writable_folders(settings.sandbox, settings.cwd, around.env) for settings in both)
        env = drop_writable_entries(around.env, open_)
        return subprocess.Popen(  # noqa: S603  # the user's own program, from the user's own config
            argv,
            env={name: value for name, value in env.items() if name not in MARKS},
            cwd="/",  # not the project: `python -m` and the like import code from their working directory
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            umask=around.umask,
        )

    async def close(self) -> None:
        """Stop watching the programs; those that run go on."""
        watching = list(self._watching)
        for watch in watching:
            watch.cancel()
        await asyncio.gather(*watching, return_exceptions=True)


async def _watch(popen: "subprocess.Popen[bytes]", program: str) -> None:
    """Wait for the program, so that no zombie is left and a failure is logged."""
    ending = Exit(popen.pid)
    try:
        await ending.future
        if code := popen.poll():
            log.warning("notify.failed", program=program, exit_code=code)
    finally:
        ending.close()
        if popen.returncode is None:
            popen.returncode = 0  # it is not waited for any more, and the garbage collector must not warn of that
