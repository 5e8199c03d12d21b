"""The result of a call, made from the server's JSON for the model and for history. Pure; may be slow.

Text is bounded like a command's output; pictures are decoded, recognised and encoded anew, so that no provider is
sent something else under their name.
"""

import base64
import binascii
import json
from collections.abc import Iterator

from msgspec import Struct

from actors.vocabulary.items import ImageItem
from supervisor.agents.own.mcp_client.server_tools import Json
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.config.bounds import Bounds
from supervisor.formats.head_and_tail import head_and_tail
from supervisor.formats.picture_kinds import kind_of

PICTURES = 8  # of one result
PICTURES_BYTES = 4 << 20  # of all of them as text: they are stored in one event, and sent with every later request
NOTHING = "(the tool answered without content)"


class ResultPart(Struct, frozen=True):
    """A part of a result: words, and the picture that they describe, if they do."""

    words: str
    picture: str | None = None


class Result(Struct, frozen=True):
    """A result for the model, and its bounded copy for history."""

    for_model: ToolResult
    for_history: Json


def result_of(answer: Json, what: str, bounds: Bounds) -> Result:
    parts = list(_parts(answer, bounds))
    room = min(PICTURES_BYTES, bounds.event_bytes // 2)  # a longer event loses its middle
    pictures = tuple(_fitting_pictures((part.picture for part in parts if part.picture), room))
    left_out = sum(1 for part in parts if part.picture) - len(pictures)
    words = [part.words for part in parts if part.words]
    if left_out:
        words.append(f"[{left_out} more pictures were left out: at most {PICTURES} and {room} bytes are kept]")
    text = head_and_tail("\n".join(words) or NOTHING, bounds.model_output_bytes, bounds.model_output_lines)
    failed = answer.get("isError") is True
    kept = {"content": [{"type": "text", "text": text}], "isError": failed}
    if failed:
        return Result(failure("tool", text, f"{what}: {text}"), kept)
    return Result(ToolResult(text, pictures=tuple(ImageItem(image_url=picture) for picture in pictures)), kept)


def _parts(answer: Json, bounds: Bounds) -> Iterator[ResultPart]:
    content = [item for item in answer.get("content") or () if isinstance(item, dict)]
    for item in content:
        yield _part(item, bounds)
    structured = answer.get("structuredContent")
    if structured is not None and not any(item.get("type") == "text" for item in content):
        yield ResultPart(
            json.dumps(structured, ensure_ascii=False)
        )  # otherwise the text says the same, by MCP's rule


def _part(item: Json, bounds: Bounds) -> ResultPart:
    match item.get("type"):
        case "text":
            return ResultPart(str(item.get("text", "")))
        case "image":
            return _picture(str(item.get("data", "")), "a picture", bounds)
        case "audio":
            return ResultPart(f"[a sound, {item.get('mimeType', 'of no known type')}: models can't be given sounds]")
        case "resource":
            return _resource(item.get("resource") or {}, bounds)
        case "resource_link":
            about = item.get("description") or item.get("title") or item.get("name") or ""
            return ResultPart(f"[a resource: {item.get('uri', '')} {about}]")
        case other:
            return ResultPart(f"[content of the type {other!r}, which is not known]")


def _resource(resource: Json, bounds: Bounds) -> ResultPart:
    name = f"the resource {resource.get('uri', '')}"
    if "text" in resource:
        return ResultPart(f"[{name}]\n{resource['text']}")
    return _picture(str(resource.get("blob", "")), name, bounds)


def _picture(data: str, name: str, bounds: Bounds) -> ResultPart:
    try:
        raw = base64.b64decode(data, validate=True)
    except (ValueError, binascii.Error):
        return ResultPart(f"[{name}: its data is not base64]")
    kind = kind_of(raw)
    if kind is None:
        return ResultPart(f"[{name}, {len(raw)} bytes: not a PNG, JPEG, GIF or WebP picture]")
    if len(raw) > bounds.picture_bytes:
        return ResultPart(f"[{bounds.describe_excess('picture_bytes', f'{name} is too large')}]")
    return ResultPart(f"[{name}, {kind}, {len(raw)} bytes]", f"data:{kind};base64,{base64.b64encode(raw).decode()}")


def _fitting_pictures(pictures: Iterator[str], room: int) -> Iterator[str]:
    for at, picture in enumerate(pictures):
        room -= len(picture)
        if at < PICTURES and room >= 0:
            yield picture
