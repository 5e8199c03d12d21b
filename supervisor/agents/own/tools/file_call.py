"""One call that looks at files: one line for people, work in a worker thread, text for the model. Loop thread."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from actors.vocabulary import events as ev
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.disk.ordinary_files import NotReadable
from supervisor.loop.worker_job import WorkerJob, in_worker
from supervisor.work.reach.readable import Reach
from supervisor.work.sandbox.sandbox import Sandbox

Look = Callable[[WorkerJob, Reach], "LookResult"]


class LookResult(Struct, frozen=True):
    """The text for the model, and its extent, for people."""

    text: str
    extent: str


class FileCall(Struct, frozen=True):
    sandbox: Sandbox
    work: Work
    call: OpenCall

    async def look(self, words: Sequence[str], hint: ev.CommandHint, look: Look) -> ToolResult:
        """Look, between the begin and end events that a command has. `words` are shown to people."""
        self.say_began(words, hint)
        try:
            seen = await in_worker(look, self.reach)
        except NotReadable as error:
            return self.fail(str(error))
        self.say_ended(seen.extent)
        return ToolResult(seen.text)

    @property
    def reach(self) -> Reach:
        return self.work.reach

    def say_began(self, words: Sequence[str], hint: ev.CommandHint) -> None:
        call, cwd = self.call, self.work.settings.cwd
        subject = ev.CommandSubject(command=tuple(words), cwd=cwd, hints=(hint,), tool=call.name)
        self.work.say(ev.WorkBegan(call_id=call.call, item_id=call.item, subject=subject))

    def say_ended(self, extent: str, exit_code: int = 0) -> None:
        self.work.say(
            ev.WorkEnded(
                call_id=self.call.call,
                item_id=self.call.item,
                kind="command",
                status="failed" if exit_code else "completed",
                output=extent,
                exit_code=exit_code,
            )
        )

    def fail(self, why: str) -> ToolResult:
        self.say_ended("", exit_code=1)
        return self.refuse(why)

    def refuse(self, why: str) -> ToolResult:
        return failure("tool", f"error: {why}")
