"""Work that only the writer of the journal may do, asked for on the loop and answered there."""

import asyncio

from actors.conversation.messages import Address
from actors.journal.messages import Chore
from actors.runtime.shared import LoopAddress


class Chores:
    """An Address for chores. Only here does the writer's thread answer something that is no actor."""

    def __init__(self, loop: asyncio.AbstractEventLoop, journalist: Address[Chore]) -> None:
        self._loop = loop
        self._journalist = journalist

    def tell(self, chore: Chore) -> None:
        self._journalist.tell(Chore(chore.work, LoopAddress(self._loop, chore.reply_to.tell)))
