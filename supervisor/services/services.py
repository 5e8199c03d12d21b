"""Answers to the requests of dialects, on the loop. An Address: connections send requests here, and get the answers.

One `match` over the requests, and a small method for each; work that may wait for the disk goes to a worker thread,
work that writes the journal to the writer's thread.
"""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import structlog

from actors.messages.conversation import Quiesce
from actors.vocabulary.answers import Done
from actors.vocabulary.errors import (
    ConfigError,
    GreenroomError,
    InvalidInput,
    StorageFailed,
    WrongState,
)
from actors.vocabulary.records import ListQuery
from actors.vocabulary.settings import Settings
from supervisor.agents.environments import CommandEnvironment
from supervisor.config.config_changes import differences
from supervisor.config.config_problems import without_secrets
from supervisor.config.load import LoadedConfig, load
from supervisor.config.new_settings import working_directory
from supervisor.config.overrides import overrides_from_json
from supervisor.config.providers import choose_provider
from supervisor.engine.engine import Engine
from supervisor.journal.opening import size_on_disk
from supervisor.services.agent_services import AgentServices
from supervisor.services.approval_places import find_request
from supervisor.services.client_settings import ClientSettings
from supervisor.services.file_searches import FileSearches
from supervisor.services.histories import Histories
from supervisor.services.job_services import JobServices
from supervisor.services.shared_budgets import SharedBudgetServices
from supervisor.services.spending import budget, usage
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.hello import Identity
from transports.messages import ServiceAnswer, ServiceRequest
from transports.supervisor_answers import (
    ApprovalPlaces,
    ClientRow,
    Clients,
    ConfigValue,
    DaemonStatus,
    MenuPrompts,
    NewsRead,
    PromptText,
    ProviderKey,
    ReloadedConfig,
    SearchHits,
    Servers,
    SingleCommandResult,
    StoppingDaemon,
    SupervisorAnswer,
)
from transports.switchboard import Switchboard

if TYPE_CHECKING:
    from supervisor.services.codex_services import Machine

log = structlog.get_logger()

CATCH_UP_S = 0.5  # for the search to read the latest events first


class Services:
    def __init__(
        self,
        engine: Engine,
        switchboard: Switchboard,
        identity: Identity,
        stop: Callable[[float], None],
        reread: Callable[[], LoadedConfig] = load,
    ) -> None:
        self._engine = engine
        self._switchboard = switchboard
        self._identity = identity
        self._stop = stop
        self._reread = reread
        self._began = time.monotonic()
        self._jobs = JobServices(lambda: engine.jobs)
        self._settings = ClientSettings(engine)
        self._shared_budgets = SharedBudgetServices(engine)
        self._agents = AgentServices(engine, self._settings)
        self._busy: set[asyncio.Task[None]] = set()
        self._histories = Histories(engine)
        self._file_searches = FileSearches()
        self._one_search_of_histories = asyncio.Lock()

    def tell(self, asked: ServiceRequest) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(asked), name=type(asked.request).__name__)
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)

    async def _serve(self, asked: ServiceRequest) -> None:
        answer = await self._answer(asked)
        if asked.caller is None or answer is None:
            return
        try:
            asked.reply_to.tell(ServiceAnswer(asked.caller, answer))
        except GreenroomError as gone:
            log.debug("services.nobody_to_tell", kind=type(asked.request).__name__, reason=gone.code)

    async def _answer(self, asked: ServiceRequest) -> SupervisorAnswer | GreenroomError | None:
        try:
            return await self._carry_out(asked.request, asked.client)
        except GreenroomError as error:
            return error
        except Exception:
            log.exception("services.failed", kind=type(asked.request).__name__)
            return GreenroomError("an internal error; see the daemon's log")

    async def _carry_out(self, request: ask.SupervisorRequest, client: Client) -> SupervisorAnswer | None:
        match request:
            case ask.MakeSettings():
                return await asyncio.to_thread(self._settings.make_settings, request, client)
            case ask.PermitSettings():
                return await asyncio.to_thread(self._settings.permit_settings, request, client)
            case ask.AlterSettings():
                return await asyncio.to_thread(self._settings.alter_settings, request, client)
            case ask.RememberEnvironment():
                if client.env:
                    self._engine.environments.remember(request.conversation, client.env, client.umask)
                return None
            case ask.GiveServers():
                self._engine.client_servers.give(request.conversation, request.servers)
                return None
            case ask.ListServers():
                return self._list_servers(request)
            case ask.ReadHistory():
                return await self._histories.read(request)
            case ask.ReadNews():
                return await self._read_news(request)
            case ask.FindApprovalPlaces():
                return await self._find_asked(request)
            case ask.Fork():
                return await self._histories.fork(request, self._settings.surroundings(client))
            case ask.Export():
                return await self._histories.export(request)
            case ask.Import():
                return await self._histories.bring_in(request)
            case ask.ReadUsage():
                return await asyncio.to_thread(usage, self._engine.journal, request)
            case ask.ReadBudget():
                journal, loaded, now = self._engine.journal, self._engine.loaded_config, time.time()
                raises = self._shared_budgets.of_today(now)
                return await asyncio.to_thread(budget, journal, loaded, request, raises, now)
            case ask.ReadSharedBudgets():
                return await self._shared_budgets.carry_out(request, client.label)
            case ask.AskStatus():
                return await self._status()
            case ask.ListClients():
                return await self._list_clients(client)
            case ask.KillClient():
                return await self._kill_client(request, client)
            case ask.ReloadConfig():
                return await self._reload()
            case ask.StopDaemon():
                return await self._stop_daemon(request)
            case ask.ReadConfig():
                return await self._read_config(request)
            case ask.ReadSavedConfig():
                return await self._read_saved_config()
            case ask.AskKey():
                return await self._key(request, client)
            case ask.RunOnce():
                return await self._run_once(request, client)
            case ask.DiffToRemote():
                machine = self._machine(client, Path(client.cwd) / request.cwd)
                return await machine.diff_to_remote()
            case ask.FindFiles():
                return await self._file_searches.find(request, client)
            case ask.Search():
                return await self._search(request)
            case ask.ListPrompts() | ask.ReadPrompt():
                return await asyncio.to_thread(self._prompts, request, client)
            case ask.ListAgents() | ask.CheckAgent():
                return await self._agents.carry_out(request, client)
            case ask.ListJobs() | ask.ReadJob() | ask.WriteJob() | ask.WaitForJob() | ask.EndJob():
                return await self._jobs.carry_out(request, client.name)
            case _:
                assert_never(request)

    # --- config ---------------------------------------------------------------------------------------------------

    async def _reload(self) -> ReloadedConfig:
        fresh = await asyncio.to_thread(self._reread)
        changes = differences(self._engine.config, fresh.config)
        self._engine.reload(fresh)
        self._switchboard.announce_reload()
        return ReloadedConfig(tuple(changes), fresh.warnings)

    async def _read_config(self, request: ask.ReadConfig) -> ConfigValue:
        tree: Any = without_secrets(self._engine.config.model_dump(mode="json"))
        for part in (request.key or "").split(".") if request.key else ():
            if not isinstance(tree, dict) or part not in tree:
                raise ConfigError(
                    f"no config key {request.key!r}; `greenroom config get` lists all keys", key=request.key
                )
            tree = tree[part]
        return ConfigValue(tree, self._engine.loaded_config.file.path)

    async def _read_saved_config(self) -> ConfigValue:
        file = (await asyncio.to_thread(self._reread)).file
        return ConfigValue(dict(file.tree), file.path)

    async def _key(self, request: ask.AskKey, client: Client) -> ProviderKey:
        person = request.person
        loaded = self._engine.loaded_config.with_overrides(overrides_from_json(person.config), person.profile)
        env = self._settings.environ(client)
        provider = choose_provider(loaded.config, env).provider
        try:
            key = provider.api_key(env) is not None
        except ConfigError:
            key = False
        return ProviderKey(key, openai=provider.id == "openai")

    def _list_servers(self, request: ask.ListServers) -> Servers:
        from supervisor.agents.client_server_rules import describe_servers

        return describe_servers(self._engine.client_servers.servers_of(request.conversation))

    # --- the machine ----------------------------------------------------------------------------------------------

    async def _run_once(self, request: ask.RunOnce, client: Client) -> SingleCommandResult:
        wanted = await asyncio.to_thread(self._settings_for_command, request, client)
        timeout_ms = request.timeout_ms or self._engine.config.greenroom.limits.command_timeout_ms
        machine = self._machine(client, wanted.cwd)
        policy, sandbox = wanted.approval_policy, wanted.sandbox
        return await machine.run_once(request.command, policy, sandbox, timeout_ms / 1000)

    def _settings_for_command(self, request: ask.RunOnce, client: Client) -> Settings:
        ceiling = self._settings.ceiling(request.person or ask.Person(), client)
        cwd = working_directory(request.cwd, ceiling.own.cwd) if request.cwd else ceiling.own.cwd
        settings = ceiling.own.model_copy(update={"cwd": cwd, "sandbox": request.sandbox or ceiling.own.sandbox})
        if request.person is not None:
            ceiling.check(settings)
        return settings

    def _machine(self, client: Client, cwd: Path) -> "Machine":
        from supervisor.services.codex_services import Machine

        theirs = CommandEnvironment.of_client(client.env or os.environ, client.umask)
        around = theirs.for_commands(self._engine.config, {**os.environ, **client.env})
        return Machine(self._engine.processes, self._engine.sandbox.get(), around, cwd)

    def _prompts(self, request: ask.ListPrompts | ask.ReadPrompt, client: Client) -> MenuPrompts | PromptText:
        from supervisor.services.prompt_services import PromptServices

        hidden = self._engine.sandbox.get().protection.hidden
        return PromptServices(lambda: self._engine.config, self._engine.paths, hidden).carry_out(request, client)

    # --- histories ------------------------------------------------------------------------------------------------

    async def _read_news(self, request: ask.ReadNews) -> NewsRead:
        recent = self._engine.recent_events
        if request.after is None or request.wait_s == 0:
            return recent.read_after(request.after, request.limit)
        return await recent.wait(request.after, request.limit, request.wait_s)

    async def _find_asked(self, request: ask.FindApprovalPlaces) -> ApprovalPlaces:
        journal = self._engine.journal
        places = await asyncio.to_thread(lambda: [find_request(journal, *question) for question in request.questions])
        return ApprovalPlaces(tuple(places))

    async def _search(self, request: ask.Search) -> SearchHits:
        engine = self._engine
        if not engine.config.greenroom.search:
            raise WrongState("the search is off; `search = true` under [greenroom] in the config turns it on")
        await engine.indexing.catch_up(CATCH_UP_S)
        async with self._one_search_of_histories:  # more at a time would only hold worker threads
            try:
                return await asyncio.to_thread(engine.search.search, request)
            except StorageFailed:  # a damaged file is made again with the next piece
                engine.indexing.note_news()
                raise

    # --- the daemon -----------------------------------------------------------------------------------------------

    async def _status(self) -> DaemonStatus:
        engine = self._engine
        journal = engine.paths.journal_file
        statistics = engine.statistics()
        statistics["registry"] = {**statistics["registry"], "conversations": await asyncio.to_thread(self._count)}
        return DaemonStatus(
            pid=os.getpid(),
            version=self._identity.version,
            instance=self._identity.instance,
            uptime_s=round(time.monotonic() - self._began, 3),
            config=engine.loaded_config.file.path,
            warnings=engine.loaded_config.warnings,
            journal=journal,
            journal_bytes=await asyncio.to_thread(size_on_disk, Path(journal)),
            journal_repaired=engine.journal.repair_report,
            search_bytes=await asyncio.to_thread(engine.search.bytes_on_disk),
            search_trouble=engine.indexing.trouble,
            trouble=engine.health.trouble,
            log=engine.paths.log_file,
            sandbox=await asyncio.to_thread(engine.sandbox_works),
            clients=len(self._switchboard.clients()),
            **statistics,
        )

    def _count(self) -> int | None:
        """The number of conversations; None while the journal can't be read, which `trouble` reports."""
        try:
            return self._engine.journal.list_page(ListQuery(archived=True, limit=1)).total
        except GreenroomError:
            return None

    async def _list_clients(self, me: Client) -> Clients:
        return Clients(
            tuple(
                ClientRow(
                    client.connection,
                    client.name,
                    client.version,
                    client.pid,
                    client.cwd,
                    you=client.connection == me.connection,
                )
                for client in self._switchboard.clients()
            )
        )

    async def _kill_client(self, request: ask.KillClient, me: Client) -> Done:
        if not self._switchboard.dismiss(request.connection, f"disconnected by {me.label}"):
            raise InvalidInput(f"no client {request.connection}; `greenroom clients` lists them")
        return Done()

    async def _stop_daemon(self, request: ask.StopDaemon) -> StoppingDaemon:
        default = self._engine.config.greenroom.drain_seconds
        drain_s = default if request.drain_s is None else request.drain_s
        self._engine.registry.tell(Quiesce())  # before the answer, so that no new turn begins after it
        asyncio.get_running_loop().call_soon(self._stop, drain_s)  # after the answer, which the stop would overtake
        return StoppingDaemon(drain_s)
