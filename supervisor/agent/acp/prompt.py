"""A person's message as the blocks of a prompt. Reads pictures from the disk, so it is called in a worker thread."""

import base64
from collections.abc import Iterable, Iterator
from typing import Any

from actors.conversation.orders import PendingInput
from actors.vocabulary.items import ImageItem, InputItem, LocalImageItem, TextItem
from supervisor.agent.acp.wire import Json
from supervisor.agent.bounds import Bounds
from supervisor.agent.pictures import kind_of


def blocks_of(inputs: Iterable[PendingInput], bounds: Bounds) -> list[Json]:
    return [block for one in inputs for item in one.items for block in _blocks(item, bounds)]


def _blocks(item: InputItem, bounds: Bounds) -> Iterator[Json]:
    match item:
        case TextItem():
            yield text(item.text)
        case ImageItem() if item.image_url.startswith("data:"):
            kind, _, data = item.image_url.removeprefix("data:").partition(";base64,")
            yield {"type": "image", "mimeType": kind, "data": data}
        case ImageItem():
            yield {"type": "resource_link", "uri": item.image_url, "name": "a picture"}
        case LocalImageItem():
            yield _picture(item, bounds)


def _picture(item: LocalImageItem, bounds: Bounds) -> Json:
    try:
        with item.path.open("rb") as file:
            raw = file.read(bounds.picture_bytes + 1)
    except OSError as error:
        return text(f"[the picture {item.path} could not be read: {error.strerror}]")
    kind = kind_of(raw)
    if kind is None or len(raw) > bounds.picture_bytes:
        return text(f"[the picture {item.path} is none that can be sent]")
    return {"type": "image", "mimeType": kind, "data": base64.b64encode(raw).decode()}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}
