"""A reader whose client has stopped listening while a question is still open: it stays until that is settled."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from actors.effects import Slice
from transports.dialect import Action
from transports.dialects.mcp.readers import Reader

if TYPE_CHECKING:
    from transports.dialects.mcp.desk import Desk


@dataclass(slots=True, eq=False)
class Muted:
    desk: "Desk"
    reader: Reader
    answers: bool = True

    def take(self, slice_: Slice) -> Iterable[Action]:
        yield from self.desk.questions.settle(slice_)
        if not self.desk.questions.open_in(self.reader.conversation):
            yield from self.desk.readers.detach(self.reader)

    def lost(self, reason: str) -> Iterable[Action]:
        return self.desk.nobody_reads(self.reader.conversation, reason)
