"""Reading a history page by page, with no more in hand than the reader keeps."""

from collections.abc import Callable, Iterable
from typing import Any

from actors.errors import GreenroomError
from actors.ids import ConversationId
from actors.records import Record
from transports.dialect import Action
from transports.dialects.mcp.call import Call
from transports.requests import HistoryRead, ReadHistory


def read_all(
    call: Call,
    conversation: ConversationId,
    keep: Callable[[Record], None],
    then: Callable[[GreenroomError | None], Iterable[Action]],
) -> Iterable[Action]:
    """`keep` gets every event in order, then `then` the refusal, or None at the end."""

    def page_from(after: int) -> Iterable[Action]:
        return call.ask(lambda token: ReadHistory(token, conversation, after), took)

    def took(answer: Any) -> Iterable[Action]:
        if not isinstance(answer, HistoryRead):
            return then(answer)
        page = answer.page
        for record in page.records:
            keep(record)
        return then(None) if page.complete else page_from(page.records[-1].seq)

    return page_from(0)
