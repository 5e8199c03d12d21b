"""The tool grep: a search in a sandboxed process of its own, so that any pattern can be ended. Loop thread."""

import json
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import ClassVar

from msgspec import Struct

from actors.vocabulary import events as ev
from actors.vocabulary.settings import DangerFullAccess, ReadOnly, Settings
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools import reading_specs as specs
from supervisor.agents.own.tools.arguments import SearchArguments, parse_arguments
from supervisor.agents.own.tools.file_call import FileCall
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.agents.own.tools.work import Work
from supervisor.agents.own.transcript.open_calls import OpenCall
from supervisor.disk.ordinary_files import NotReadable
from supervisor.loop.threaded_contexts import in_a_thread
from supervisor.loop.worker_job import WorkerJob, in_worker
from supervisor.work.files import searching
from supervisor.work.processes.command import Finished, NotStarted
from supervisor.work.processes.output import Output, Stream
from supervisor.work.processes.processes import Processes
from supervisor.work.processes.spawn import reason
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.sandbox import Sandbox

PACKAGES = Path(searching.__file__).parents[3]
PROGRAM = (sys.executable, "-I", "-S", "-B", "-c", searching.PROGRAM, str(PACKAGES))


class GrepTool(Struct, frozen=True):
    names: ClassVar = frozenset({specs.GREP})
    only_reads: ClassVar = True
    processes: Processes
    sandbox: Sandbox

    def spec(self, _: Settings) -> ToolSpec | None:
        return specs.SEARCH

    async def carry_out(self, work: Work, call: OpenCall) -> ToolResult:
        arguments = parse_arguments(SearchArguments, call.arguments, work.bounds)
        words = (specs.GREP, arguments.pattern, arguments.path, *([arguments.glob] if arguments.glob else ()))
        hint = ev.CommandHint(cmd=" ".join(words), purpose="searches", query=arguments.pattern, path=arguments.path)
        looking = FileCall(self.sandbox, work, call)
        looking.say_began(words, hint)
        try:
            query = await in_worker(_query, arguments, looking, work.bounds.read_bytes)
            return await self._run(query, looking)
        except NotReadable as error:
            return looking.fail(str(error))

    async def _run(self, query: searching.SearchOrder, looking: FileCall) -> ToolResult:
        work, output = looking.work, Output(_ignore_output, keep_bytes=2 * looking.work.bounds.read_bytes)
        order, limit_s = work.turn.order, work.bounds.search_seconds
        try:
            async with in_a_thread(lambda: self._confine(query, work)) as confined:
                command = confined.command(order.conversation, order.turn, limit_s, work.environment.umask)
                result = await self.processes.run(command, output)
        except OSError as error:
            raise NotReadable(f"the search could not be started: {reason(error)}") from None
        return _report(result, output, looking, limit_s)

    def _confine(self, query: searching.SearchOrder, work: Work) -> AbstractContextManager[ConfinedCommand]:
        """Put the search into the sandbox; where there is none, the search itself leaves hidden files out."""
        policy = ReadOnly() if self.sandbox.availability.ok else DangerFullAccess()
        argv = (*PROGRAM, json.dumps(query))
        return self.sandbox.confine(policy, work.settings.cwd, argv, {}, start=Path("/"), pins=())


def _query(_: WorkerJob, arguments: SearchArguments, looking: FileCall, max_bytes: int) -> searching.SearchOrder:
    reach = looking.reach
    return searching.SearchOrder(
        pattern=arguments.pattern,
        path=str(reach.find(arguments.path)),
        base=str(reach.real_cwd),
        glob=arguments.glob,
        ignore_case=arguments.ignore_case,
        context=arguments.context,
        matches=arguments.max_matches,
        bytes=max_bytes,
        hidden=[str(folder) for folder in reach.real_hidden],
        hidden_files=sorted(reach.hidden_files),
    )


async def _ignore_output(_: Stream, __: bytes) -> None:
    pass


def _report(result: Finished | NotStarted, output: Output, looking: FileCall, limit_s: float) -> ToolResult:
    if isinstance(result, NotStarted):
        return looking.fail(f"the search could not be started: {result.reason}")
    text = output.stdout.text()
    if result.timed_out:
        looking.say_ended("", exit_code=1)
        why = f"the search took longer than {limit_s:g} seconds (greenroom.limits.search_seconds)"
        return failure("time_out", f"{text}error: {why}: narrow the path or the glob, or simplify the pattern", why)
    if result.exit_code == searching.BAD_PATTERN:
        return looking.fail(text.strip())
    if result.exit_code != 0:
        return looking.fail(f"the search failed: {output.stderr.text().strip().splitlines()[-1:]}")
    looking.say_ended(text.rstrip("\n").rpartition("\n")[2].strip("[]"))
    return ToolResult(text)
