"""Requests of a third-party agent to its client: to read and write files, to run commands. Loop thread.

Our own tools' means serve them, under the conversation's policy: anything that a command in its sandbox could not do
is refused, with the reason. A request that belongs to no tool call of the agent is work of its own in history.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from secrets import token_hex

from msgspec import Struct

from actors.messages.orders import AgentNews
from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ItemId
from actors.vocabulary.settings import DangerFullAccess, SandboxMode
from supervisor.agents.acp import client_files as files
from supervisor.agents.acp.failures import AgentRefused
from supervisor.agents.acp.json_readers import short, text, texts, whole_number
from supervisor.agents.acp.peer import RequestHandler
from supervisor.agents.acp.terminals import RequestedCommand, Terminal, Terminals
from supervisor.agents.acp.updates import Updates
from supervisor.agents.acp.wire import PARAMS_INVALID, Json
from supervisor.agents.environments import CommandEnvironment
from supervisor.agents.turn import Turn
from supervisor.config.bounds import Bounds
from supervisor.disk.folders import lies_in
from supervisor.loop.worker_job import in_worker
from supervisor.work.patch.errors import PatchError, PatchMismatch
from supervisor.work.patch.plan import PatchPlan
from supervisor.work.processes.command import Finished
from supervisor.work.processes.processes import Processes
from supervisor.work.reach.readable import Reach
from supervisor.work.safety.judge import judge_patch
from supervisor.work.safety.roots import obeyed_by
from supervisor.work.safety.rules import MayRun, MustAsk, Reject
from supervisor.work.sandbox.order import ConfinedCommand
from supervisor.work.sandbox.roots import Roots
from supervisor.work.sandbox.sandbox import Sandbox

BETTER_BY_ITSELF = {"gemini", "qwen"}  # offered file access, they fail to create files
VARIABLES = 200  # most that an agent may add to a command's environment
WORDS = 1_000  # most words of a command
MayWrite = Callable[[PatchPlan, tuple[str, ...], str], Awaitable[bool]]


class Tooling(Struct, frozen=True):
    """The parts of the engine that serve an agent; `around`: the environment of commands in the turn."""

    processes: Processes
    sandbox: Sandbox
    around: Callable[[Turn], CommandEnvironment]
    bounds: Callable[[], Bounds]


def client_capabilities(tooling: Tooling, turn: Turn, agent: str) -> Json:
    """Return the capabilities that an agent is told of. Commands are offered if they can be confined as needed."""
    confined = isinstance(turn.settings.sandbox, DangerFullAccess) or tooling.sandbox.availability.ok
    offers_files = agent not in BETTER_BY_ITSELF
    return {"fs": {"readTextFile": offers_files, "writeTextFile": offers_files}, "terminal": confined}


class ClientTools:
    """Serves the requests of a turn."""

    def __init__(self, tooling: Tooling, turn: Turn, updates: Updates, may_write: MayWrite) -> None:
        """`may_write`: ask a person whether a file that other programs obey may be written, with the reason."""
        self._may_write = may_write
        self._tooling = tooling
        self._turn = turn
        self._updates = updates
        self._around = tooling.around(turn)
        self._writing = asyncio.Lock()
        self._own: dict[str, ev.WorkBegan] = {}  # terminals that belong to no tool call of the agent
        self.terminals = Terminals(tooling.processes, turn.order, self._around.umask)
        updates.show_terminals(self.terminals.snapshot)

    def handler_for(self, method: str) -> RequestHandler | None:
        match method:
            case "fs/read_text_file":
                return self._read
            case "fs/write_text_file":
                return self._write
            case "terminal/create":
                return self._create
            case "terminal/output":
                return self._output
            case "terminal/wait_for_exit":
                return self._wait
            case "terminal/kill":
                return self._kill
            case "terminal/release":
                return self._release
            case _:
                return None

    async def aclose(self) -> None:
        """End the terminals: the turn is over."""
        await self.terminals.aclose()
        self._updates.show_terminals(lambda _: None)

    # --- files ------------------------------------------------------------------------------------------------------

    async def _read(self, params: Json) -> Json:
        path, first = _path(params), whole_number(params.get("line"))
        lines = whole_number(params.get("limit"))
        return {"content": await in_worker(files.read, self.reach, path, max(1, first or 1), lines)}

    async def _write(self, params: Json) -> Json:
        path, content = _path(params), params.get("content")
        if not isinstance(content, str):
            raise AgentRefused("`content` is not a text", PARAMS_INVALID)
        async with self._writing:
            try:
                plan = await in_worker(files.plan_write, self.reach, path, text(content), self._bounds)
                await self._apply(plan, approved=await self._is_approved(plan))
            except PatchError as error:
                raise AgentRefused(f"{path} was not written: {error.message}", files.NOT_DONE) from None
        return {}

    async def _is_approved(self, plan: PatchPlan) -> bool:
        """Ask a person if another program would obey the written file. False: no question was needed."""
        settings = self._turn.settings
        found = await asyncio.to_thread(self._obeyed_by, plan)
        if not found:
            return False
        verdict = judge_patch(
            inside_roots=True,
            empty=False,
            policy=settings.approval_policy,
            sandbox_mode=SandboxMode(settings.sandbox.mode),
            sandbox_available=self._tooling.sandbox.availability.ok,
            obeyed_by=found,
        )
        match verdict:
            case Reject():
                raise PatchMismatch(verdict.text)
            case MustAsk():
                if not await self._may_write(plan, found, verdict.reason or ""):
                    raise PatchMismatch("a person has refused it")
                return bool(await asyncio.to_thread(self._obeyed_by, plan))  # the sandbox may be narrower by now
            case MayRun():
                return False

    def _obeyed_by(self, plan: PatchPlan) -> tuple[str, ...]:
        """Return the programs that would obey a file which the sandbox leaves open. Other files are refused later."""
        settings = self._turn.settings
        with self._roots() as roots:
            opened = all(
                roots.innermost_root(path) and not any(lies_in(path, folder) for folder in roots.hidden)
                for path in plan.touched_paths
            )
            free = isinstance(settings.sandbox, DangerFullAccess)
            return obeyed_by(roots, settings.cwd, plan.touched_paths) if opened or free else ()

    async def _apply(self, plan: PatchPlan, *, approved: bool) -> None:
        known = any(_is_about(use.changes, use.places, plan) for use in self._updates.unfinished)
        title = f"Write {next(iter(plan.changes), '')}"
        try:
            await asyncio.to_thread(self._insist_on_roots, plan, approved=approved)
        except PatchError:
            if not known:  # without the change, which would show content of a file that the agent may not write
                self._tell_end(self._begin("edit", title, ev.OtherSubject()), "failed")
            raise
        begin = None if known else self._begin("edit", title, ev.FilesSubject(changes=dict(plan.changes)))
        await self._turn.wait_until_stored()  # so that the history knows of the write even after a crash
        status: ev.WorkStatus = "failed"
        try:
            # A thread can't be cancelled half-way, so the turn's end waits for it.
            writing = asyncio.ensure_future(asyncio.to_thread(self._put, plan, approved=approved))
            try:
                await asyncio.shield(writing)
            except asyncio.CancelledError:
                await asyncio.wait({writing})
                raise
            status = "completed"
        finally:
            if begin is not None:
                self._tell_end(begin, status)

    def _tell_end(
        self, begin: ev.WorkBegan, status: ev.WorkStatus, output: str = "", code: int | None = None
    ) -> None:
        self._say(
            ev.WorkEnded(
                call_id=begin.call_id,
                item_id=begin.item_id,
                kind=begin.subject.kind,
                subject=begin.subject,
                agent_call=begin.agent_call,
                status=status,
                output=output,
                exit_code=code,
            )
        )

    def _insist_on_roots(self, plan: PatchPlan, *, approved: bool) -> None:
        with self._roots() as roots:
            files.insist_on_roots(plan, self._turn.settings.sandbox, roots, approved=approved)

    def _put(self, plan: PatchPlan, *, approved: bool) -> None:
        with self._roots() as roots:
            files.write(plan, self._turn.settings.sandbox, roots, self._around.umask, approved=approved)

    def _roots(self) -> AbstractContextManager[Roots]:
        settings, sandbox = self._turn.settings, self._tooling.sandbox
        pins = sandbox.pins(self._turn.order.conversation, settings, self._around.env)
        return sandbox.roots(settings.sandbox, settings.cwd, pins, self._around.env)

    @property
    def reach(self) -> Reach:
        """The files that may be read for the agent. `~` means nothing here."""
        return Reach(self._turn.settings.cwd, None, self._tooling.sandbox.protection.hidden)

    # --- commands ---------------------------------------------------------------------------------------------------

    async def _create(self, params: Json) -> Json:
        wanted = self._requested_command(params)
        name = self.terminals.create(wanted, self)
        if not any(use.sort == "execute" or use.command for use in self._updates.unfinished):
            subject = ev.CommandSubject(command=wanted.argv, cwd=wanted.cwd)
            self._own[name] = self._begin("execute", " ".join(wanted.argv), subject)
            await self._turn.wait_until_stored()
        return {"terminalId": name}

    def _requested_command(self, params: Json) -> RequestedCommand:
        program, words = text(params.get("command")), texts(params.get("args"), WORDS)
        if not program or (params.get("args") and not words) or "\0" in "".join((program, *words)):
            raise AgentRefused("`command` and `args` are not the words of a command", PARAMS_INVALID)
        given = params.get("env")
        listed = given[:VARIABLES] if isinstance(given, list) else []
        added = {
            text(variable.get("name")): text(variable.get("value"))
            for variable in listed
            if isinstance(variable, dict)
        }
        cwd = text(params.get("cwd"))
        keep = self._bounds.command_output_bytes
        return RequestedCommand(
            argv=(program, *words),
            cwd=self._turn.settings.cwd / cwd if cwd and "\0" not in cwd else self._turn.settings.cwd,
            env={**self._around.env, **{name: value for name, value in added.items() if name and "=" not in name}},
            keep=min(keep, _limit(whole_number(params.get("outputByteLimit")), keep)),
        )

    def confine(self, wanted: RequestedCommand) -> AbstractContextManager[ConfinedCommand]:
        """Confine a command as the turn's settings are now. In a worker thread."""
        settings, sandbox = self._turn.settings, self._tooling.sandbox
        pins = sandbox.pins(self._turn.order.conversation, settings, self._around.env)
        return sandbox.confine(settings.sandbox, settings.cwd, wanted.argv, wanted.env, start=wanted.cwd, pins=pins)

    async def _output(self, params: Json) -> Json:
        return self.terminals.output(_terminal(params))

    async def _wait(self, params: Json) -> Json:
        return await self.terminals.wait(_terminal(params))

    async def _kill(self, params: Json) -> Json:
        await self.terminals.kill(_terminal(params))
        return {}

    async def _release(self, params: Json) -> Json:
        await self.terminals.release(_terminal(params))
        return {}

    async def terminal_wrote(self, name: str, piece: str) -> None:
        own = self._own.get(name)
        if own is not None:
            chunk = piece.encode(errors="replace")
            self._say(ev.WorkOutput(call_id=own.call_id, item_id=own.item_id, kind=own.subject.kind, chunk=chunk))
        else:
            self._say(*self._updates.terminal_wrote(name, piece))
        await self._turn.wait_for_room()

    def terminal_ended(self, name: str, terminal: Terminal) -> None:
        own, ended = self._own.pop(name, None), terminal.ended.result()
        if own is not None:
            code = ended.exit_code if isinstance(ended, Finished) else None
            status: ev.WorkStatus = "cancelled" if terminal.killed else "completed" if code == 0 else "failed"
            self._tell_end(own, status, terminal.text, code)

    # --- work of requests without a tool call -----------------------------------------------------------------------

    def _begin(self, sort: ev.ToolSort, title: str, subject: ev.WorkSubject) -> ev.WorkBegan:
        begin = ev.WorkBegan(
            call_id=CallId(f"client-{token_hex(6)}"),
            item_id=ItemId(self._turn.new_item()),
            subject=subject,
            agent_call=ev.AgentCall(title=short(title), sort=sort),
        )
        self._say(begin)
        return begin

    def _say(self, *news: AgentNews) -> None:
        if news:
            self._turn.emit(*news)

    @property
    def _bounds(self) -> Bounds:
        return self._tooling.bounds()


def _is_about(changes: Mapping[str, object], places: Iterable[ev.Place], plan: PatchPlan) -> bool:
    touched = {*map(str, plan.touched_paths), *plan.changes}
    return bool(touched & {*changes, *(str(place.path) for place in places)})


def _path(params: Json) -> str:
    path = text(params.get("path"))
    if not path.startswith("/"):
        raise AgentRefused(f"{path[:100]!r} is no absolute path", PARAMS_INVALID)
    return path


def _terminal(params: Json) -> str:
    return text(params.get("terminalId"))


def _limit(asked: int | None, most: int) -> int:
    return most if asked is None or asked < 0 else asked
