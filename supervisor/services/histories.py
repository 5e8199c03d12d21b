"""Histories as clients move them: read in pages, forked, exported, imported. Loop thread.

Reads and replays go to worker threads, writes to the journal's own thread, between two commits.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path

from actors.messages.effects import Settle
from actors.messages.routing import ClaimName, KnownHeads, NameClaimed
from actors.vocabulary.errors import UnknownConversation
from actors.vocabulary.ids import Caller, ConnectionId, ConversationId
from actors.vocabulary.records import PAGE_BYTES
from actors.vocabulary.setting_changes import changes
from actors.vocabulary.settings import Settings
from supervisor.config.setting_values import Surroundings
from supervisor.engine.engine import Engine
from supervisor.journal.export import export, store_import
from supervisor.journal.journal_errors import journal_error
from supervisor.loop.awaiting import Awaited
from supervisor.services.altered_settings import alter
from supervisor.services.forks_and_imports import SettingsOfCopy, make_fork, replay_import
from supervisor.services.history_files import HistoryFile, SpooledRecords, fill_file
from transports import supervisor_requests as ask
from transports.supervisor_answers import ExportedHistory, HistoryRead, ImportedConversation, StoredConversation

SERVICES = ConnectionId("services")  # the sender of our own claims


class Histories:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._claims = count(1)
        self._one_import = asyncio.Lock()

    async def read(self, request: ask.ReadHistory) -> HistoryRead:
        journal, conversation, before = self._engine.journal, request.conversation, request.before
        if before is None:
            page = await asyncio.to_thread(journal.read, conversation, request.after, request.limit, PAGE_BYTES)
        else:
            page = await asyncio.to_thread(journal.read_back, conversation, before, request.limit, PAGE_BYTES)
        if page is None:
            raise UnknownConversation(f"no conversation {conversation}")
        return HistoryRead(page, page.complete if before is None else page.is_the_beginning)

    async def export(self, request: ask.Export) -> ExportedHistory:
        texts = export(self._engine.journal, request.conversation)
        return ExportedHistory(await asyncio.to_thread(fill_file, request.file, texts))

    async def bring_in(self, request: ask.Import) -> ImportedConversation:
        limits = self._engine.config.greenroom.limits
        try:
            async with self._one_import:  # each may hold a long line in memory, several times
                most, whole = limits.import_bytes, self._engine.whole_bytes
                with closing(await asyncio.to_thread(HistoryFile, request.file, most, whole)) as lines:
                    return await self._take_in(lines, request.new_id, request.settings)
        except OSError as error:
            raise journal_error(error, Path(self._engine.paths.state)) from error

    async def _take_in(
        self, lines: Iterable[bytes], new_id: ConversationId | None, settings: Settings
    ) -> ImportedConversation:
        journal, state = self._engine.journal, Path(self._engine.paths.state)
        with closing(await asyncio.to_thread(SpooledRecords, state)) as records:
            found = await asyncio.to_thread(
                replay_import, lines, new_id, records, settings, lambda name: bool(journal.find_name(name))
            )
            brought = found.history

            async with self._name_kept(brought.head.name, brought.head.conversation):
                await self._engine.chores.carry_out(lambda: store_import(journal, brought))
        stored = await self._make_known(brought.head.conversation)
        return ImportedConversation(stored.conversation, tuple(changes(found.file_settings or settings, settings)))

    async def fork(self, request: ask.Fork, around: Surroundings) -> StoredConversation:
        journal = self._engine.journal

        def settings_of(current: Settings) -> Settings:
            return alter(self._engine.loaded_config, current, request.values, around).settings

        other = SettingsOfCopy(settings_of, request.by) if request.values else None
        # A long history takes seconds to read and replay: not on the writer's thread, where every commit would wait.
        source, at, name = request.conversation, request.at, request.name
        fork = await asyncio.to_thread(make_fork, journal, source, request.fork, at, name, other)

        async with self._name_kept(request.name, request.fork):
            await self._engine.chores.carry_out(lambda: journal.adopt(fork.head, 1, fork.records))
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

    async def _make_known(self, conversation: ConversationId) -> StoredConversation:
        """Tell the registry of the conversation, which ends a turn that came open with it."""
        head = await asyncio.to_thread(self._engine.journal.row, conversation)
        if head is None:
            raise UnknownConversation(f"no conversation {conversation}")
        self._engine.registry.tell(KnownHeads((head,)))
        return StoredConversation(conversation)
