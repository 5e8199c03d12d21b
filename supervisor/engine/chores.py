"""Work that only the writer of the journal may do, asked for on the loop and answered there."""

import asyncio
from collections.abc import Callable

from actors.messages.conversation import Address
from actors.messages.journal import Chore, ChoreDone
from actors.runtime.shared import LoopAddress
from actors.vocabulary.errors import GreenroomError
from supervisor.loop.awaiting import Awaited


class Chores:
    """An Address for chores. Only here does the writer's thread answer something that is no actor."""

    def __init__(self, loop: asyncio.AbstractEventLoop, journalist: Address[Chore]) -> None:
        self._loop = loop
        self._journalist = journalist

    def tell(self, chore: Chore) -> None:
        self._journalist.tell(Chore(chore.work, LoopAddress(self._loop, chore.reply_to.tell)))

    async def carry_out(self, work: Callable[[], object]) -> None:
        """Do the work between two commits. Raises what it raised, if that is an error of ours."""
        done = Awaited[ChoreDone](self._loop)
        self.tell(Chore(work, done))
        result = (await done.answer()).result
        if isinstance(result, GreenroomError):
            raise result
