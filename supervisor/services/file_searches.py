"""Searches for files by name, one at a time; of a series only the newest. Loop thread; a worker reads the disk."""

import asyncio
from pathlib import Path

from actors.vocabulary.ids import ConnectionId
from supervisor.services.file_search import search
from transports import supervisor_requests as ask
from transports.dialect import Client
from transports.supervisor_answers import FoundFiles


class FileSearches:
    def __init__(self) -> None:
        self._one_search = asyncio.Lock()
        self._newest: dict[tuple[ConnectionId, str | None], ask.FindFiles] = {}

    async def find(self, request: ask.FindFiles, client: Client) -> FoundFiles:
        key = (client.connection, request.series)
        self._newest[key] = request
        try:
            async with self._one_search:  # an editor asks at every key; searches at a time would only take turns
                if request.series is not None and self._newest.get(key) is not request:
                    return FoundFiles(())
                roots = [Path(client.cwd) / root for root in request.roots]
                return FoundFiles(await asyncio.to_thread(search, request.query, roots))
        finally:
            if self._newest.get(key) is request:
                del self._newest[key]
