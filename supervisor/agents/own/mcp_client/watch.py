"""The end of a transport, and the reason for it, as its connection hears of them. Loop thread."""

import asyncio


class Watch:
    def __init__(self, server: str) -> None:
        self.server = server
        self.over = asyncio.Event()
        self.why = ""

    def ended(self, why: str) -> None:
        self.why = self.why or why
        self.over.set()
