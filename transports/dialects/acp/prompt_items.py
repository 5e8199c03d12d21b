"""A prompt's blocks as the items of an input. Pure.

An embedded resource becomes text with its address, in a form that models know; a linked resource is only named, and
the agent reads it.
"""

from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from actors.vocabulary.errors import InvalidInput
from actors.vocabulary.items import ImageItem, InputItem, TextItem, says_nothing
from transports.dialects.acp.params import PromptBlock

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


def items_of(blocks: Sequence[PromptBlock]) -> tuple[InputItem, ...]:
    """The items. Raises InvalidInput for the first unusable block, with its place."""
    items = tuple(_item(f"prompt.{at}", block) for at, block in enumerate(blocks))
    if says_nothing(items):
        raise InvalidInput("prompt: there is no word and no picture in it")
    return items


def _item(place: str, block: PromptBlock) -> InputItem:
    match block:
        case PromptBlock(type="text", text=str(text)):
            return TextItem(text=text)
        case PromptBlock(type="resource_link", uri=str(uri)):
            return TextItem(text=_mention(uri, block.name or ""))
        case PromptBlock(type="resource", resource=resource) if resource is not None and resource.text is not None:
            return TextItem(text=f'<context ref="{resource.uri}">\n{resource.text}\n</context>')
        case PromptBlock(type="resource", resource=resource) if resource is not None and resource.blob is not None:
            return _blob(place, resource.uri, resource.mime_type or "", resource.blob)
        case PromptBlock(type="image", data=str(data), mime_type=str(mime)) if data:
            return _picture(place, mime, data)
        case PromptBlock(type="image", uri=str(uri)) if uri:
            return TextItem(text=_mention(uri, ""))
        case PromptBlock(type="audio"):
            raise InvalidInput(f"{place}: audio is not understood; say it in text")
        case PromptBlock(type="text" | "resource_link" | "resource" | "image"):
            raise InvalidInput(f"{place}: the members of a block of type {block.type} are missing")
        case _:
            raise InvalidInput(f"{place}: a block of type {block.type[:40]!a} is not understood")


def _blob(place: str, uri: str, mime: str, blob: str) -> InputItem:
    """Data that is no text: a picture is shown, a file is named, all else is refused."""
    if mime in PICTURES:
        return _picture(place, mime, blob)
    if urlsplit(uri).scheme == "file":
        return TextItem(text=_mention(uri, ""))
    raise InvalidInput(f"{place}: data of type {mime or 'unknown'} is not understood ({uri[:200]})")


def _picture(place: str, mime: str, data: str) -> InputItem:
    if mime not in PICTURES:
        raise InvalidInput(f"{place}: a picture of type {mime[:40]!a} is not understood; use PNG, JPEG, GIF or WebP")
    return ImageItem(image_url=f"data:{mime};base64,{data}")


def _mention(uri: str, name: str) -> str:
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return f"[{name}]({uri})" if name else uri
    place = f"#{parts.fragment}" if parts.fragment else ""
    return f"@{unquote(parts.path)}{place}"
