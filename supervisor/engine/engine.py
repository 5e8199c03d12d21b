"""Everything behind the socket: journal, loop, actors, agents, started in order and stopped in reverse.

The daemon puts a socket in front of it; `--embedded` and the demo use it directly. Main thread, unless noted.
"""

import asyncio
import json
import os
import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from actors.conversation.session import SessionDeps
from actors.conversation.state import Limits
from actors.journal.directory import Directory
from actors.journal.journalist import Journalist
from actors.journal.librarian import Librarian
from actors.messages.conversation import Command, Quiesce, RecordJobEnd, ToConversation
from actors.messages.orders import RunAgent
from actors.messages.ports import Outbox
from actors.messages.routing import AllAnswered, AllEnded, AwaitAnswers, KnownHeads, RegistryInput
from actors.routing.registry import Registry
from actors.runtime import base
from actors.runtime.base import Actor, Message, Ref, Start
from actors.runtime.clock import LoopClock
from actors.runtime.shared import SharedThread, call_on_loop
from actors.vocabulary.budget_raises import Raise, in_force
from actors.vocabulary.errors import ConfigError, GreenroomError, MailboxFull
from actors.vocabulary.events import APPROVAL_REQUESTED, JobEnded
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId
from actors.vocabulary.records import Append, Record
from supervisor.agents.backend import Backend
from supervisor.agents.client_mcp_servers import GivenServers
from supervisor.agents.environments import Environments
from supervisor.agents.turn_hook import TurnHook
from supervisor.config.load import LoadedConfig
from supervisor.config.whole_config import Config
from supervisor.engine.allocator import MemoryTrimming, keep_little
from supervisor.engine.chores import Chores
from supervisor.engine.health import Health, Look
from supervisor.engine.indexing import Indexing
from supervisor.engine.late import Late, LateBackend
from supervisor.engine.load_ahead import load_ahead
from supervisor.engine.recent_events import RecentEvents
from supervisor.engine.retention_timer import RetentionTimer
from supervisor.engine.runner import Runner
from supervisor.engine.slow_start import SlowStart
from supervisor.journal import Retention, SqliteJournal
from supervisor.loop.awaiting import Awaited, done_in_time
from supervisor.loop.signal_wakeup import SignalFlag, SignalWakeup
from supervisor.loop.thread import LoopThread
from supervisor.paths import Paths, private_directory
from supervisor.search.index import SearchIndex
from supervisor.work.processes.last_life import sweep_last_life
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.leftover_folders import is_anything_left

ENVELOPE_BYTES = 2 << 20  # bytes of an event beside the client's input: the words once more, and names
START_S = 30.0  # a repair of a damaged journal may take that long; everything else is milliseconds
STOP_S = 10.0  # includes the grace of processes
INTERRUPT_S = 5.0  # for interrupted turns to be recorded: their grace, and a busy machine
FULL_S = 1.0  # before news are sent again to a registry whose mailbox is full
LOOK_S = 5.0  # between looks at the clock while turns are draining; events end the wait
SETTLE_S = 2.0  # for the ends of lost turns: one commit, and an actor for each of them

AGENTS = ConnectionId("agents")  # the sender of news from agents; their answers are dropped

if TYPE_CHECKING:
    from supervisor.agents.acp.third_party_agents import ThirdPartyAgents
    from supervisor.agents.own.own_agent import OwnAgent
    from supervisor.agents.spending.ledger import Ledger
    from supervisor.work.jobs.jobs import BackgroundJobs
    from supervisor.work.sandbox.roots import Protection
    from supervisor.work.sandbox.sandbox import Sandbox

log = structlog.get_logger()


class Engine:
    """The parts of the program. Built on the main thread; each step of `start` has its undo in `stop`."""

    def __init__(
        self,
        loaded: LoadedConfig,
        paths: Paths,
        environ: Mapping[str, str],
        outbox: Outbox,
        announce: Callable[[str], None] = lambda _: None,
        looks: Sequence[Look] = (),
        busy: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`announce` sends a text to every client; `looks`: further checks of health, beside the journal's.

        `busy` is told each second of the work that takes a start so long.
        """
        self.loaded_config = loaded
        self.paths = paths
        self.loop = LoopThread()
        self.shared_thread = SharedThread(
            self.loop.loop
        )  # for actors that never block: registry, sessions, connections
        self.clock = LoopClock(self.loop.loop)
        self.environments = Environments(environ, loaded.config.greenroom.limits.environments_bytes)
        self.client_servers = GivenServers(lambda: asyncio.to_thread(self._protect_anew))
        self.sandbox = Late(self._make_sandbox)
        self.agent = Late(self._make_own_agent)
        self.third_party_agents = Late(self._make_third_party_agents)
        self.recent_events = RecentEvents()
        self.search = SearchIndex(Path(paths.search_file), Path(paths.journal_file))
        self.raises: tuple[Raise, ...] = ()  # of budgets, as stored; shared_budgets.py changes this, on the loop
        self.indexing = Indexing(self.search, lambda: self.config.greenroom.search)
        self._environ = environ
        self._leftovers = Path(paths.leftovers)
        self._outbox = outbox
        self._announce = announce
        self._looks = looks
        self._busy = busy
        self._senders = count(1)
        self._undo: list[tuple[str, Callable[[], bool | None]]] = []
        self._loading_ahead: asyncio.Task[None] | None = None
        self._ledger_lock = threading.Lock()
        self._made_ledger: Ledger | None = None
        self._staff: list[Actor[Any]] = []  # actors that all others depend on

    @property
    def config(self) -> Config:
        return self.loaded_config.config

    @property
    def whole_bytes(self) -> int:
        """The largest event that is read whole, in bytes: a client's largest input, or the largest that we store."""
        limits = self.config.greenroom.limits
        return max(limits.frame_bytes + ENVELOPE_BYTES, limits.event_bytes)

    def start(self) -> None:
        """Start all parts in order. After a failure the started parts are stopped again, and the error is raised."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        keep_little()
        for directory in (self.paths.state, self.paths.run):
            private_directory(directory)
        if is_anything_left(self._leftovers):
            self.sandbox.get().begin()
        self._undo.append(("sandbox", lambda: self.sandbox.if_made(lambda sandbox: sandbox.end())))
        self.journal = SqliteJournal(
            Path(self.paths.journal_file),
            whole_bytes=self.whole_bytes,
            stored=self._pass_on_stored,
            forgotten=self._forget,
            busy=SlowStart(self._busy).tell,
        )
        self._undo.append(("journal", self.journal.close))
        self.raises = self.journal.raises()
        if self.journal.repair_report:
            log.error("journal.repaired", report=self.journal.repair_report)
            self.search.remove()  # it may have lost events, whose numbers will be given to others
        self.loop.start()
        self._undo.append(("loop", lambda: self.loop.stop(STOP_S)))
        self.loop.call(self._start_agents(), START_S)
        self._undo.append(("agents", lambda: self.loop.call(self._stop_agents(), STOP_S)))
        self.librarian = self._actor(Librarian(self.journal))
        self.journalist = self._actor(Journalist(self.journal, self.librarian))
        self.chores = Chores(self.loop.loop, self.journalist)
        self._undo.append(("actors", self._wait_for_actors))
        self.directory = self._actor(Directory(self.journal))
        self._registry = Registry(self._session_deps, self.directory, self.config.greenroom.limits.live_sessions)
        self.registry = self._actor(self._registry, self.shared_thread.start)
        self._settle_last_life()
        self.loop.call(self._keep_house(), START_S)
        self._undo.append(("search", self._end_search))  # before the end of the journalist, which closes the journal

    async def _keep_house(self) -> None:
        wanted = lambda: self.config.greenroom.retention  # noqa: E731  # read each time: a reload may change it
        RetentionTimer(self._prune, self.chores, self.registry, self.clock, wanted).begin()
        looks = (self.journal.look, *self._looks)
        self.health = Health(looks, self.chores, self.clock, self._announce)
        self.health.begin()
        MemoryTrimming(self.clock, lambda work: self.loop.loop.run_in_executor(None, work)).begin()
        self.indexing.begin()

    def _settle_last_life(self) -> None:
        """Write the ends of turns that ran when the last process died, before any client can see them."""
        ended = Awaited[AllEnded](self.loop.loop)
        # An ask, not a tell: the start ends when the registry knows all that is open. Others are not looked at.
        self.registry.ask(KnownHeads(tuple(self.journal.unsettled_heads()), ended), START_S)
        if not self.loop.call(done_in_time(ended.answer(), SETTLE_S), START_S):
            log.warning("engine.turns_unsettled")

    def stop(self) -> None:
        """Undo `start` in reverse order. A part that does not stop is logged as a bug."""
        while self._undo:
            name, undo = self._undo.pop()
            try:
                stopped = undo()
            except Exception:
                log.exception("engine.stop_failed", part=name)
            else:
                if stopped is False:
                    log.error("engine.would_not_stop", part=name)

    def wind_down(self, drain_s: float, wakeup: SignalWakeup, hurry: SignalFlag) -> None:
        """Refuse new work, let turns go on until `drain_s` is over or `hurry` is set, then interrupt them.

        Called on the main thread, which waits at `wakeup` meanwhile: a signal may set `hurry`.
        """
        pressing = asyncio.Event()
        over = asyncio.run_coroutine_threadsafe(self._wind_down(drain_s, pressing), self.loop.loop)
        over.add_done_callback(lambda _: wakeup.wake())
        deadline = time.monotonic() + drain_s + 2 * INTERRUPT_S + SETTLE_S + STOP_S
        while not over.done():
            wakeup.wait(LOOK_S)
            if hurry.is_set():
                hurry.clear()
                call_on_loop(self.loop.loop, pressing.set)
            if time.monotonic() > deadline:
                log.error("engine.loop_stuck")  # `stop` then goes on as far as it can
                return
        over.result()

    async def _wind_down(self, drain_s: float, pressing: asyncio.Event) -> None:
        self.registry.tell(Quiesce())
        await done_in_time(self.runner.wait_until_idle(), drain_s, pressing)
        self.registry.tell(Quiesce(interrupt=True))
        pressing.clear()
        if not await done_in_time(self.runner.wait_until_idle(), INTERRUPT_S, pressing):
            log.error("engine.turns_left", **self.runner.statistics())
        if self.jobs is not None and not await done_in_time(self.jobs.aclose(), INTERRUPT_S, pressing):
            log.error("engine.jobs_left")
        answered = Awaited[AllAnswered](self.loop.loop)  # the end of a turn or a job is stored before its answer
        self.registry.tell(AwaitAnswers(answered))
        await done_in_time(answered.answer(), SETTLE_S, pressing)

    def reload(self, loaded: LoadedConfig) -> None:
        """Use this config from the next turn on; `config.changes` has the keys that need a restart.

        A deleted file changes nothing: its sandbox and policies must not become defaults by accident.
        """
        before = self.loaded_config.file.path
        if before is not None and loaded.file.path is None:
            raise ConfigError(
                f"{before} is gone, what it said stays in force; an empty file is what means no settings"
            )
        self.loaded_config = loaded
        self._protect_anew()
        self.agent.if_made(lambda own: own.reload())

    def statistics(self) -> dict[str, Mapping[str, object]]:
        own, others = self.agent.made, self.third_party_agents.made
        return {
            **{actor.name: actor.statistics() for actor in self._staff},
            "agents": self.runner.statistics(),
            "histories": own.transcripts.statistics() if own else {},
            "other_agents": others.programs.statistics() if others else {},
            "processes": self.processes.statistics(),
        }

    def _wait_for_actors(self) -> bool:
        left = self.shared_thread.wait_for_actors(STOP_S)
        if left:
            log.error("engine.actors_left", names=left)
        return not left

    def _actor(self, actor: Actor[Message], start: Start = base.start) -> Ref[Message]:
        ref = start(actor)
        self._staff.append(actor)
        self._undo.append((actor.name, lambda: ref.stop(STOP_S)))
        return ref

    def _pass_on_stored(self, appends: Sequence[Append]) -> None:
        """Pass on the stored events. On the journalist's thread."""
        self.recent_events.publish(appends)
        self.indexing.note_news()
        for append in appends:
            for record in append.records:
                if record.type == APPROVAL_REQUESTED:
                    call_on_loop(self.loop.loop, self._notify_of_question, record)

    def _notify_of_question(self, record: Record) -> None:
        """Run `notify` for an approval that clients can find now. Those of an imported history are left out."""
        turn = None if record.turn is None else self.runner.turn(record.turn)
        if turn is not None:
            self._turn_hook.run_for_question(turn, json.loads(record.body))

    def _end_search(self) -> None:
        self.search.close()  # first, because it ends the piece under way
        self.loop.call(self.indexing.end(), STOP_S)

    def _prune(self, now: float, policy: Retention) -> bool:
        """Carry out a step of retention; after the last, the search follows. On the journalist's thread."""
        more = self.journal.prune(now, policy)
        if not (more or policy.keeps_all):
            self.search.check()
            self.indexing.note_news()
        return more

    def _forget(self, conversation: ConversationId, key: int) -> None:
        """Drop a deleted conversation from memory and from the search. On the journalist's thread."""
        self.search.forget(key)
        self.indexing.note_news()
        self.environments.forget(conversation)
        call_on_loop(self.loop.loop, self.client_servers.forget, conversation)
        call_on_loop(self.loop.loop, self._erase, conversation)

    def _session_deps(self, registry: Ref[RegistryInput]) -> SessionDeps:
        greenroom = self.config.greenroom
        # Names of turns and inputs must be unique, not secret; asking the system for each would release the GIL.
        chance = random.Random(os.urandom(32))  # noqa: S311  # see above
        limits = Limits(
            queue=greenroom.limits.queue_length,
            queue_bytes=greenroom.limits.queue_bytes,
            event_bytes=greenroom.limits.event_bytes,
            said_bytes=self.whole_bytes,
            unanswerable_s=greenroom.mcp.unanswerable_seconds,
            idle_park_s=greenroom.idle_park_seconds,
            interrupt_when_alone=greenroom.on_disconnect == "interrupt",
        )
        return SessionDeps(
            registry=registry,
            journalist=self.journalist,
            librarian=self.librarian,
            agents=self.runner,
            outbox=self._outbox,
            clock=self.clock,
            fresh_name=lambda: f"{chance.getrandbits(64):016x}",
            limits=limits,
            start=self._start_session,
        )

    def load_ahead(self) -> None:
        """Load what the first turn would wait for, unless that has begun. On the loop."""
        if self._loading_ahead is None:
            self._loading_ahead = self.loop.loop.create_task(load_ahead(self.agent), name="load-ahead")

    def _start_session(self, actor: Actor[Message], **context: str) -> Ref[Message]:
        """Start a session, and load the agent meanwhile, because a conversation that comes alive will have a turn."""
        self.agent.prepare()
        return self.shared_thread.start(actor, **context)

    async def _start_agents(self) -> None:
        """Start the runner and its parts. On the loop's thread, which spawns every child."""
        ledger, instance = Path(self.paths.ledger_file), self.paths.state
        if ended := await sweep_last_life(ledger, instance):
            log.warning("processes.swept", ended=ended)
        grace_s = self.config.greenroom.interrupt_grace_ms / 1000
        self.processes = await Processes(ledger, instance, grace_s, guarded=True).__aenter__()
        self._turn_hook = TurnHook(
            lambda: self.config.notify, lambda turn: self.environments.for_notices(turn, self.config)
        )
        self.runner = Runner(
            self.loop.loop,
            self.processes,
            self._backend_for,
            self._turn_hook.run_after_turn,
            self._rest,
            self._end_jobs,
        )

    async def _stop_agents(self) -> None:
        if self._loading_ahead is not None:
            self._loading_ahead.cancel()
        await self.runner.close()
        await self._turn_hook.close()
        if others := await self.third_party_agents.settled():
            await others.programs.aclose()
        if own := await self.agent.settled():
            await own.aclose()  # before the processes: MCP servers may then end by themselves
        await self.processes.__aexit__()

    def _job_ended(self, conversation: ConversationId, ended: JobEnded) -> None:
        self._tell(conversation, RecordJobEnd(ended))

    def _tell(self, conversation: ConversationId, command: Command) -> None:
        """Send a command to a conversation, which may be parked. On the loop's thread."""
        try:
            me = Caller(AGENTS, next(self._senders))  # known until the command is stored, which a stop waits for
            self.registry.tell(ToConversation(conversation, command, me))
        except MailboxFull:
            self.loop.loop.call_later(FULL_S, self._tell, conversation, command)
        except GreenroomError as gone:
            log.debug("engine.nobody_to_tell", conversation=conversation, reason=gone.code)

    def _backend_for(self, order: RunAgent) -> Backend:
        own = LateBackend(self.agent)
        if order.settings.agent:
            own.forget(order.conversation)  # its transcript will lack this turn
            return LateBackend(self.third_party_agents)
        return own

    def _rest(self, conversation: ConversationId) -> None:
        """Give back memory and programs that only make the next turn of a parked conversation faster."""
        if self.agent.made is not None:
            self.agent.made.rest(conversation)
        if self.third_party_agents.made is not None:
            self.third_party_agents.made.programs.rest(conversation)

    def _erase(self, conversation: ConversationId) -> None:
        if self.agent.made is not None:
            self.agent.made.erase(conversation)
        if self.third_party_agents.made is not None:
            self.third_party_agents.made.programs.erase(conversation)

    @property
    def jobs(self) -> "BackgroundJobs | None":
        """The background commands; None if none was ever started."""
        return self.agent.made.jobs if self.agent.made is not None else None

    async def _end_jobs(self, conversation: ConversationId) -> None:
        if self.agent.made is not None:
            await self.agent.made.end_jobs(conversation)

    def _make_sandbox(self) -> "Sandbox":
        from supervisor.work.sandbox.sandbox import Sandbox

        after_trial = lambda: call_on_loop(self.loop.loop, self.processes.reap_soon)  # noqa: E731  # see Sandbox
        return Sandbox(self._protection(), self._leftovers, after_trial)

    def _protection(self) -> "Protection":
        from supervisor.engine.protection import protection

        return protection(self.loaded_config, self.paths, self._environ, self.client_servers.programs())

    def _protect_anew(self) -> None:
        """Protect the files that the config and the clients' servers name now. Blocking: follows links."""

        def protect(sandbox: "Sandbox") -> None:
            sandbox.protection = self._protection()

        self.sandbox.if_made(protect)

    def sandbox_works(self) -> bool:
        """Tell whether commands can be confined here. Blocking: it is tried out."""
        return self.sandbox.get().availability.ok

    def _make_third_party_agents(self) -> "ThirdPartyAgents":
        """Import the third-party agents. In a worker thread."""
        from supervisor.agents.acp.third_party_agents import ThirdPartyAgents, ThirdPartyAgentsDeps

        needs = ThirdPartyAgentsDeps(
            loaded_config=lambda: self.loaded_config,
            journal=self.journal,
            processes=self.processes,
            environments=self.environments,
            client_servers=self.client_servers,
            sandbox=self.sandbox.get(),
            ledger=self._ledger(),
            raises=self._raises_in_force,
            tell=self._tell,
        )
        self.sandbox_works()  # tried out now rather than in the first turn
        return ThirdPartyAgents(needs)

    def _ledger(self) -> "Ledger":
        """Return the ledger into which all agents enter their costs. In worker threads, perhaps two at once."""
        from supervisor.agents.spending.ledger import Ledger

        with self._ledger_lock:
            if self._made_ledger is None:
                self._made_ledger = Ledger(self.journal.total_spent)
            return self._made_ledger

    def _raises_in_force(self) -> tuple[Raise, ...]:
        from supervisor.agents.spending.ledger import current_day  # loaded already when an agent asks

        return in_force(self.raises, current_day()) if self.raises else ()

    def _make_own_agent(self) -> "OwnAgent":
        """Import our own agent. In a worker thread: the import takes a tenth of a second."""
        from supervisor.agents.own.own_agent import OwnAgent, OwnAgentDeps

        needs = OwnAgentDeps(
            loaded_config=lambda: self.loaded_config,
            home=Path(self.paths.config),
            environ=self._environ,
            journal=self.journal,
            processes=self.processes,
            sandbox=self.sandbox.get(),
            environments=self.environments,
            client_servers=self.client_servers,
            ledger=self._ledger(),
            raises=self._raises_in_force,
            job_ended=self._job_ended,
        )
        self.sandbox_works()  # tried out now rather than in the first turn
        own = OwnAgent(needs)
        call_on_loop(self.loop.loop, own.prepare)
        return own
