"""A person's message as the blocks of a prompt. Reads pictures from the disk, so runs in a worker thread."""

from collections.abc import Iterable, Iterator
from typing import Any

from actors.messages.orders import PendingInput
from actors.vocabulary.items import ImageItem, InputItem, LocalImageItem, TextItem
from supervisor.agents.acp.wire import Json
from supervisor.config.bounds import Bounds
from supervisor.disk.ordinary_files import NotReadable
from supervisor.work.files.pictures import NoPicture, picture_in
from supervisor.work.reach.readable import Reach


def blocks_of(inputs: Iterable[PendingInput], reach: Reach, bounds: Bounds) -> list[Json]:
    return [block for entry in inputs for item in entry.items for block in _blocks(item, reach, bounds)]


def _blocks(item: InputItem, reach: Reach, bounds: Bounds) -> Iterator[Json]:
    match item:
        case TextItem():
            yield text(item.text)
        case ImageItem() if item.image_url.startswith("data:"):
            yield _image(item.image_url)
        case ImageItem():
            yield {"type": "resource_link", "uri": item.image_url, "name": "a picture"}
        case LocalImageItem():
            yield _picture(item, reach, bounds)


def _picture(item: LocalImageItem, reach: Reach, bounds: Bounds) -> Json:
    try:
        return _image(picture_in(str(item.path), reach, bounds))
    except NotReadable as error:
        return text(f"[a picture was left out: {error.reason}]")
    except NoPicture as error:
        return text(f"[{error}]")


def _image(address: str) -> Json:
    kind, _, data = address.removeprefix("data:").partition(";base64,")
    return {"type": "image", "mimeType": kind, "data": data}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}
