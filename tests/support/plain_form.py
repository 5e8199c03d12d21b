"""A form of a history that a test can read back: each item as a pickle, and nothing between them."""

import io
import pickle
from collections.abc import Iterable

from supervisor.agents.own.model.history_pieces import Form
from supervisor.agents.own.model.request import HistoryItem, HistoryPiece
from supervisor.agents.own.transcript.transcript import ModelTranscript

PLAIN = Form(lambda item: HistoryPiece("item", "item", pickle.dumps(item)), lambda _end, _begin: b"")


def items_of(transcript: ModelTranscript) -> list[HistoryItem]:
    return plain(transcript.items)


def plain(items: Iterable[HistoryItem | HistoryPiece]) -> list[HistoryItem]:
    found: list[HistoryItem] = []
    for item in items:
        if isinstance(item, HistoryPiece):
            data = io.BytesIO(item.data)
            found += (pickle.load(data) for _ in range(item.weight))
        else:
            found.append(item)
    return found
