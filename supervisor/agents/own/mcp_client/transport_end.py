"""The end of a transport and its reason, for which the connection waits. Loop thread."""

import asyncio


class TransportEnd:
    def __init__(self, server: str) -> None:
        self.server = server
        self.over = asyncio.Event()
        self.why = ""

    def note_end(self, why: str) -> None:
        self.why = self.why or why
        self.over.set()
