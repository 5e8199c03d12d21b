"""Answers to the requests of dialects, on the loop. An Address: a connection asks here, and is told the answer.

One `match` over the requests, and a small method for each; work that may wait for the disk goes to a worker thread,
work that writes the journal to the writer's thread.
"""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_never

import structlog
from msgspec.structs import fields
from pydantic_core import PydanticSerializationError

from actors.conversation.effects import Settle
from actors.conversation.messages import Quiesce
from actors.journal.messages import Chore, ChoreDone
from actors.routing.messages import ClaimName, Known, NameClaimed
from actors.vocabulary.errors import (
    ConfigError,
    GreenroomError,
    InvalidInput,
    StorageFailed,
    UnknownConversation,
    WrongState,
)
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId
from actors.vocabulary.records import PAGE_BYTES, ListQuery
from actors.vocabulary.settings import SandboxMode, Settings, WorkspaceWrite
from supervisor.agent.environments import Around
from supervisor.agent.pins import missing, pins_of
from supervisor.agent.workspace import temporary_of
from supervisor.config.ceiling import Ceiling, check_overrides
from supervisor.config.changes import differences
from supervisor.config.complain import HIDDEN, is_secret
from supervisor.config.derive import Arguments, sandbox_policy, settings_for, working_directory
from supervisor.config.load import LoadedConfig, load
from supervisor.config.overrides import merge, overrides_from_json
from supervisor.config.providers import choose_provider, insist_on_a_model
from supervisor.engine.awaiting import Awaited
from supervisor.engine.command_environment import command_environment
from supervisor.engine.engine import Engine
from supervisor.journal.export import ExportPosition, import_, piece
from supervisor.journal.failures import typed
from supervisor.journal.opening import size_on_disk
from supervisor.services.approval_places import asked
from supervisor.services.branching import forked, guest
from supervisor.services.file_search import search
from supervisor.services.uploads import SpooledRecords, Uploads
from transports import requests as ask
from transports.dialect import Client
from transports.hello import Identity
from transports.messages import ServiceAnswer, ServiceRequest
from transports.switchboard import Switchboard

if TYPE_CHECKING:
    from supervisor.services.codex_services import Machine

log = structlog.get_logger()

CATCH_UP_S = 0.5  # for what was said just now, before a search

CLIENT_SHOWN = ("connection", "name", "version", "pid", "cwd")
SERVICES = ConnectionId("services")  # of our own claims, which nobody else answers
ARGUMENTS = tuple(one.name for one in fields(Arguments))


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
        self._noticed = False
        self._environ = dict(os.environ)  # decoded once: it is long, and a create wants it each time
        self._busy: set[asyncio.Task[None]] = set()
        most = engine.config.greenroom.limits.import_bytes
        self._uploads = Uploads(Path(engine.paths.state), most, engine.whole_bytes)
        self._importing: dict[ConnectionId, asyncio.Lock] = {}
        self._claims = count(1)
        self._one_import = asyncio.Lock()
        self._one_search = asyncio.Lock()
        self._one_search_of_histories = asyncio.Lock()
        self._newest_search: dict[tuple[ConnectionId, str | None], ask.FindFiles] = {}
        switchboard.on_leave = self._left

    def tell(self, asked: ServiceRequest) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(asked), name=type(asked.request).__name__)
        self._busy.add(task)
        task.add_done_callback(self._busy.discard)

    def _left(self) -> None:
        """Drop the uploads of a connection that has ended."""
        if self._uploads.characters:
            self._forget_the_gone()

    async def _serve(self, asked: ServiceRequest) -> None:
        answer = await self._answer(asked)
        if asked.caller is None or answer is None:
            return
        try:
            asked.reply_to.tell(ServiceAnswer(asked.caller, answer))
        except GreenroomError as gone:
            log.debug("services.nobody_to_tell", kind=type(asked.request).__name__, reason=gone.code)

    async def _answer(self, asked: ServiceRequest) -> ask.SupervisorAnswer | GreenroomError | None:
        try:
            return await self._carry_out(asked.request, asked.client)
        except GreenroomError as error:
            return error
        except Exception:
            log.exception("services.failed", kind=type(asked.request).__name__)
            return GreenroomError("an internal error; see the daemon's log")

    async def _carry_out(self, request: ask.SupervisorRequest, client: Client) -> ask.SupervisorAnswer | None:
        match request:
            case ask.MakeSettings():
                return await asyncio.to_thread(self._settings, request, client)
            case ask.Permit():
                return await asyncio.to_thread(self._permitted, request, client)
            case ask.RememberEnvironment():
                if client.env:
                    self._engine.environments.remember(request.conversation, client.env, client.umask)
                return None
            case ask.ReadHistory():
                return await self._read_history(request)
            case ask.ReadNews():
                return await self._read_news(request)
            case ask.FindAsked():
                return await self._find_asked(request)
            case ask.Fork():
                return await self._fork(request)
            case ask.Export():
                return await self._export(request)
            case ask.Import():
                return await self._import(request, client)
            case ask.AskStatus():
                return await self._status()
            case ask.ListClients():
                return await self._list_clients(client)
            case ask.KillClient():
                return await self._kill_client(request, client)
            case ask.Reload():
                return await self._reload()
            case ask.Down():
                return await self._down(request)
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
                return ask.Plain(await machine.diff_to_remote())
            case ask.FindFiles():
                return await self._find_files(request, client)
            case ask.Search():
                return await self._search(request)
            case _:
                assert_never(request)

    # --- config ---------------------------------------------------------------------------------------------------

    def _settings(self, request: ask.MakeSettings, client: Client) -> ask.SettingsMade:
        asked = overrides_from_json(request.config)
        person = request.person or ask.Person()
        own = overrides_from_json(person.config)
        overrides = merge(own, asked)
        loaded = self._engine.loaded.relayered(overrides, request.profile or person.profile)
        env = {**self._environ, **client.env}
        settings = settings_for(loaded.config, _arguments(request, person), Path(client.cwd), env)
        if request.person is not None:
            check_overrides(asked, self._engine.config.greenroom.mcp)
            self._ceiling(person, client).check(settings)
            if request.model_provider is None:
                insist_on_a_model(loaded.config, env, loaded.editable(env))
        named = request.model_provider or loaded.config.model_provider
        notice = None if named or self._noticed else choose_provider(loaded.config, env, loaded.editable(env)).notice
        asked_for: dict[str, str] = {name: env[name] for name in ("HOME", "TMPDIR") if name in env}
        tmpdir = temporary_of(command_environment(asked_for, loaded.config.shell_environment_policy))
        roots = pins_of(settings.sandbox, settings.cwd, tmpdir)
        settings = settings.model_copy(update={"overrides": without_secrets(overrides), "roots": roots})
        most = loaded.config.greenroom.limits.settings_bytes
        if (size := _size(settings)) > most:
            told = f"its settings take {size} bytes, {most} are possible (greenroom.limits.settings_bytes)"
            raise InvalidInput(f"{told}; shorten the instructions or the overrides")
        self._noticed = self._noticed or notice is not None  # one person has one daemon, and hears it once
        left_out = tuple(missing(roots, settings.sandbox, settings.cwd))
        return ask.SettingsMade(settings, notice, (*loaded.warnings, *_about(settings.cwd), *left_out))

    def _ceiling(self, person: ask.Person, client: Client) -> Ceiling:
        """The most that this client may ask for: the settings that the person made for it."""
        loaded = self._engine.loaded.relayered(overrides_from_json(person.config), person.profile)
        env = {**self._environ, **client.env}
        own = settings_for(loaded.config, _arguments(person, person), Path(client.cwd), env)
        opened = sandbox_policy(SandboxMode.WORKSPACE_WRITE, loaded.config)
        assert isinstance(opened, WorkspaceWrite)  # noqa: S101  # as was asked for
        home = client.env.get("HOME") or self._environ.get("HOME") or "/"
        return Ceiling(self._engine.config.greenroom.mcp, own, opened, Path(home), chosen=person.cwd is not None)

    def _permitted(self, request: ask.Permit, client: Client) -> ask.SettingsMade:
        """Settings for an existing conversation; only those that differ from its current ones are checked."""
        settings, current = request.settings, request.current
        has = ("cwd", "sandbox", "approval_policy")
        if any(getattr(settings, name) != getattr(current, name) for name in has):
            self._ceiling(request.person, client).check(settings)
        return ask.SettingsMade(settings, warnings=tuple(_about(settings.cwd)))

    async def _reload(self) -> ask.Plain:
        fresh = await asyncio.to_thread(self._reread)
        changes = differences(self._engine.config, fresh.config)
        self._engine.reload(fresh)
        self._switchboard.reconfigured()
        told = [{"key": one.key, "old": one.old, "new": one.new, "live": one.live} for one in changes]
        return ask.Plain({"changes": told, "warnings": list(fresh.warnings)})

    async def _read_config(self, request: ask.ReadConfig) -> ask.Plain:
        tree: Any = without_secrets(self._engine.config.model_dump(mode="json"))
        for part in (request.key or "").split(".") if request.key else ():
            if not isinstance(tree, dict) or part not in tree:
                raise ConfigError(
                    f"no config key {request.key!r}; `greenroom config get` lists all keys", key=request.key
                )
            tree = tree[part]
        return ask.Plain({"value": tree, "path": self._engine.loaded.file.path})

    async def _read_saved_config(self) -> ask.Plain:
        file = (await asyncio.to_thread(self._reread)).file
        return ask.Plain({"value": dict(file.tree), "path": file.path})

    async def _key(self, request: ask.AskKey, client: Client) -> ask.Plain:
        person = request.person
        loaded = self._engine.loaded.relayered(overrides_from_json(person.config), person.profile)
        env = {**self._environ, **client.env}
        provider = choose_provider(loaded.config, env).provider
        try:
            key = provider.api_key(env) is not None
        except ConfigError:
            key = False
        return ask.Plain({"key": key, "openai": provider.id == "openai"})

    # --- the machine ----------------------------------------------------------------------------------------------

    async def _run_once(self, request: ask.RunOnce, client: Client) -> ask.Plain:
        wanted = await asyncio.to_thread(self._once, request, client)
        timeout_ms = request.timeout_ms or self._engine.config.greenroom.limits.command_timeout_ms
        machine = self._machine(client, wanted.cwd)
        policy, sandbox = wanted.approval_policy, wanted.sandbox
        return ask.Plain(await machine.run_once(request.command, policy, sandbox, timeout_ms / 1000))

    def _once(self, request: ask.RunOnce, client: Client) -> Settings:
        ceiling = self._ceiling(request.person or ask.Person(), client)
        cwd = working_directory(request.cwd, ceiling.own.cwd) if request.cwd else ceiling.own.cwd
        settings = ceiling.own.model_copy(update={"cwd": cwd, "sandbox": request.sandbox or ceiling.own.sandbox})
        if request.person is not None:
            ceiling.check(settings)
        return settings

    async def _find_files(self, request: ask.FindFiles, client: Client) -> ask.Plain:
        key = (client.connection, request.series)
        self._newest_search[key] = request
        try:
            async with self._one_search:  # an editor asks at every key; more at a time would only take turns
                if request.series is not None and self._newest_search.get(key) is not request:
                    return ask.Plain({"files": []})
                roots = [Path(client.cwd) / root for root in request.roots]
                return ask.Plain({"files": await asyncio.to_thread(search, request.query, roots)})
        finally:
            if self._newest_search.get(key) is request:
                del self._newest_search[key]

    def _machine(self, client: Client, cwd: Path) -> "Machine":
        from supervisor.services.codex_services import Machine

        theirs = Around.of_client(client.env or os.environ, client.umask)
        around = theirs.for_commands(self._engine.config, {**os.environ, **client.env})
        return Machine(self._engine.processes, self._engine.sandbox, around, cwd)

    # --- histories ------------------------------------------------------------------------------------------------

    async def _read_history(self, request: ask.ReadHistory) -> ask.HistoryRead:
        journal, conversation, before = self._engine.journal, request.conversation, request.before
        if before is None:
            page = await asyncio.to_thread(journal.read, conversation, request.after, request.limit, PAGE_BYTES)
        else:
            page = await asyncio.to_thread(journal.read_back, conversation, before, request.limit, PAGE_BYTES)
        if page is None:
            raise UnknownConversation(f"no conversation {conversation}")
        return ask.HistoryRead(page, page.complete if before is None else page.is_the_beginning)

    async def _read_news(self, request: ask.ReadNews) -> ask.NewsRead:
        recent = self._engine.recent_events
        if request.after is None or request.wait_s == 0:
            return recent.after(request.after, request.limit)
        return await recent.wait(request.after, request.limit, request.wait_s)

    async def _find_asked(self, request: ask.FindAsked) -> ask.AskedFound:
        journal = self._engine.journal
        places = await asyncio.to_thread(lambda: [asked(journal, *one) for one in request.questions])
        return ask.AskedFound(tuple(places))

    async def _search(self, request: ask.Search) -> ask.Found:
        engine = self._engine
        if not engine.config.greenroom.search:
            raise WrongState("the search is off; `search = true` under [greenroom] in the config turns it on")
        await engine.indexing.catch_up(CATCH_UP_S)
        async with self._one_search_of_histories:  # more at a time would only hold worker threads that others need
            try:
                return await asyncio.to_thread(engine.search.search, request)
            except StorageFailed:  # a damaged file is made anew with the next piece
                engine.indexing.note_news()
                raise

    async def _export(self, request: ask.Export) -> ask.Exported:
        place = ExportPosition(*request.place) if request.place else None
        found = await asyncio.to_thread(piece, self._engine.journal, request.conversation, place)
        return ask.Exported(tuple(found.lines), found.position, found.partial)

    async def _import(self, request: ask.Import, client: Client) -> ask.Stored | ask.Plain:
        key = (client.connection, request.upload or f"{id(request)}")
        lock = self._importing.setdefault(client.connection, asyncio.Lock())
        try:
            async with lock:  # in the order they came
                count = await asyncio.to_thread(self._uploads.add, key, request.lines, partial=request.partial)
                if request.more:
                    return ask.Plain({"lines": count})
                with closing(self._uploads.take(key)) as upload:
                    async with self._one_import:  # each may hold a long line in memory, several times
                        return await self._take_in(upload, request.new_id)
        except OSError as error:
            raise typed(error, Path(self._engine.paths.state)) from error
        finally:
            self._forget_the_gone()

    def _forget_the_gone(self) -> None:
        """Drop the unfinished imports of connections that have ended; a running thread cleans up its own."""
        here = {one.connection for one in self._switchboard.clients()}
        here |= {one for one, lock in self._importing.items() if lock.locked()}
        self._uploads.keep_only(here)
        self._importing = {one: lock for one, lock in self._importing.items() if one in here}

    async def _take_in(self, lines: Iterable[bytes], new_id: ConversationId | None) -> ask.Stored:
        journal, state = self._engine.journal, Path(self._engine.paths.state)
        with closing(await asyncio.to_thread(SpooledRecords, state)) as records:
            brought = await asyncio.to_thread(guest, lines, new_id, records)

            async with self._name_kept(brought.head.name, brought.head.conversation):
                stored = await self._write(lambda: import_(journal, brought))
        return await self._make_known(stored)

    async def _fork(self, request: ask.Fork) -> ask.Stored:
        journal = self._engine.journal
        # A long history takes seconds to read and replay: not on the writer's thread, where every commit would wait.
        fork = await asyncio.to_thread(forked, journal, request.conversation, request.fork, request.at, request.name)

        async with self._name_kept(request.name, request.fork):
            await self._write(lambda: journal.adopt(fork.head, 1, fork.records))
        return await self._make_known(request.fork)

    @asynccontextmanager
    async def _name_kept(self, name: str | None, conversation: ConversationId) -> AsyncIterator[None]:
        """Keep the name for this conversation until it is on disk; raises if the name is refused or taken."""
        if not name:
            yield
            return
        me, claimed = Caller(SERVICES, next(self._claims)), Awaited[NameClaimed](asyncio.get_running_loop())
        self._engine.registry.tell(ClaimName(name, conversation, me, claimed))
        try:
            if (refusal := (await claimed.answer()).refusal) is not None:
                raise refusal
            yield
        finally:
            self._engine.registry.tell(Settle(me))

    async def _make_known(self, conversation: Any) -> ask.Stored:
        """Have the registry settle it, if it came with a turn that is open."""
        head = await asyncio.to_thread(self._engine.journal.row, conversation)
        if head is None:
            raise UnknownConversation(f"no conversation {conversation}")
        self._engine.registry.tell(Known((head,)))
        return ask.Stored(conversation)

    async def _write(self, work: Callable[[], object]) -> object:
        """Run the work on the journalist's thread, between two commits."""
        done = Awaited[ChoreDone](asyncio.get_running_loop())
        self._engine.chores.tell(Chore(work, done))
        result = (await done.answer()).result
        if isinstance(result, GreenroomError):
            raise result
        return result

    # --- the daemon -----------------------------------------------------------------------------------------------

    async def _status(self) -> ask.Plain:
        engine = self._engine
        journal = engine.paths.journal_file
        statistics = engine.statistics()
        return ask.Plain(
            {
                "pid": os.getpid(),
                "version": self._identity.version,
                "instance": self._identity.instance,
                "uptime_s": round(time.monotonic() - self._began, 3),
                "config": engine.loaded.file.path,
                "warnings": list(engine.loaded.warnings),
                "journal": journal,
                "journal_bytes": await asyncio.to_thread(size_on_disk, Path(journal)),
                "journal_repaired": engine.journal.repaired,
                "search_bytes": await asyncio.to_thread(engine.search.bytes_on_disk),
                "search_trouble": engine.indexing.trouble,
                "trouble": engine.health.trouble,
                "log": engine.paths.log_file,
                "sandbox": engine.sandbox.availability.ok,
                "clients": len(self._switchboard.clients()),
                **statistics,
                "registry": {**statistics["registry"], "conversations": await asyncio.to_thread(self._count)},
            }
        )

    def _count(self) -> int | None:
        """The number of conversations; None while the journal can't be read, of which `trouble` tells."""
        try:
            return self._engine.journal.listed(ListQuery(archived=True, limit=1)).total
        except GreenroomError:
            return None

    async def _list_clients(self, me: Client) -> ask.Plain:
        clients = [
            {name: getattr(one, name) for name in CLIENT_SHOWN} | {"you": one.connection == me.connection}
            for one in self._switchboard.clients()
        ]
        return ask.Plain({"clients": clients})

    async def _kill_client(self, request: ask.KillClient, me: Client) -> ask.Plain:
        if not self._switchboard.dismiss(request.connection, f"disconnected by {me.label}"):
            raise InvalidInput(f"no client {request.connection}; `greenroom clients` lists them")
        return ask.Plain({})

    async def _down(self, request: ask.Down) -> ask.Plain:
        default = self._engine.config.greenroom.drain_seconds
        drain_s = default if request.drain_s is None else request.drain_s
        self._engine.registry.tell(Quiesce())  # before the answer, after which no new turn begins
        asyncio.get_running_loop().call_soon(self._stop, drain_s)  # after the answer, which the stop would overtake
        return ask.Plain({"drain_s": drain_s})


def _arguments(wanted: ask.MakeSettings | ask.Person, person: ask.Person) -> Arguments:
    """Arguments for the settings: the client's own values go before the person's."""
    said = {name: getattr(wanted, name, None) for name in ARGUMENTS}
    return Arguments(
        **{name: getattr(person, name, None) if value is None else value for name, value in said.items()}
    )


def _size(settings: Settings) -> int:
    try:
        return len(settings.model_dump_json().encode())
    except PydanticSerializationError:
        told = f"the name of the working directory ({str(settings.cwd)!a}) or of $TMPDIR is not UTF-8 text"
        raise InvalidInput(f"{told}; use another one") from None


def _about(cwd: Path) -> Iterator[str]:
    if not cwd.exists():
        yield f"working directory {str(cwd)!a} does not exist; commands and patches fail there until it does"


def without_secrets(tree: Any, path: tuple[str, ...] = ()) -> Any:
    """The tree without secrets, to be shown or stored."""
    if isinstance(tree, dict):
        return {
            key: HIDDEN
            if is_secret((*path, key)) and isinstance(value, str)
            else without_secrets(value, (*path, key))
            for key, value in tree.items()
        }
    return tree
