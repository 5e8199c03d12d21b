"""Work for the one writer of the journal, requested on the loop and answered there."""

import asyncio
from collections.abc import Callable

from actors.messages.conversation import Address
from actors.messages.journal import Chore, ChoreDone
from actors.runtime.shared import LoopAddress
from actors.vocabulary.errors import GreenroomError
from supervisor.loop.awaiting import Awaited


class Chores:
    """An Address for chores whose senders are not actors: the writer's answers are brought to the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, journalist: Address[Chore]) -> None:
        self._loop = loop
        self._journalist = journalist

    def tell(self, chore: Chore) -> None:
        self._journalist.tell(Chore(chore.work, LoopAddress(self._loop, chore.reply_to.tell)))

    async def carry_out(self, work: Callable[[], object]) -> None:
        """Have the work done between two commits. A GreenroomError of the work is raised here."""
        done = Awaited[ChoreDone](self._loop)
        self.tell(Chore(work, done))
        result = (await done.answer()).result
        if isinstance(result, GreenroomError):
            raise result
