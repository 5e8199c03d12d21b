"""Content of ACP as text: blocks of messages, and the content of tool calls. Pure."""

from collections.abc import Iterator
from typing import Any

from supervisor.agents.acp.json_readers import Shape, shape, shapes, short, text

FENCE = "```"
LONGEST_FIRST_LINE = 40  # of a fence: three backticks and a language


def block_text(block: Shape) -> str:
    """Return a block of a message as a person reads it. A block that is no text is named."""
    match block.get("type"):
        case "text":
            return text(block.get("text"))
        case "resource_link":
            name = short(block.get("title")) or short(block.get("name"))
            address = short(block.get("uri"))
            return f"[{name}]({address})" if name and name != address else address
        case "resource":
            return _resource(shape(block.get("resource")))
        case "image" | "audio" as kind:
            mime = short(block.get("mimeType"))
            address = short(block.get("uri"))
            size = len(block["data"]) * 3 // 4 if isinstance(block.get("data"), str) else 0
            return f"[{kind}{mime and f' {mime}'}{(size and f', {size:,} bytes') or ''}{address and f', {address}'}]"
        case _:
            return ""


def _resource(resource: Shape) -> str:
    address, said = short(resource.get("uri")), text(resource.get("text"))
    if said:
        return f"[{address}]\n{said}\n" if address else said
    return f"[{address or 'a resource'}]"


def content_text(content: Any) -> str:
    """Return the text of a tool call's content."""
    return "\n".join(part for part in map(_text_of, shapes(content)) if part)


def _text_of(part: Shape) -> str:
    return without_fence(block_text(shape(part.get("content")))) if part.get("type") == "content" else ""


def diffs_in(content: Any) -> Iterator[Shape]:
    return (part for part in shapes(content) if part.get("type") == "diff" and isinstance(part.get("path"), str))


def terminals_in(content: Any) -> tuple[str, ...]:
    found = (part.get("terminalId") for part in shapes(content) if part.get("type") == "terminal")
    return tuple(name for name in found if isinstance(name, str))


def without_fence(words: str) -> str:
    """Return an output without the Markdown fences that some agents put round it."""
    if not words.startswith(FENCE):
        return words
    start, end = words.find("\n", 0, LONGEST_FIRST_LINE) + 1, len(words.rstrip())
    if not start or not words.endswith(f"\n{FENCE}", start - 1, end):
        return words
    return words[start : max(start, end - len(FENCE) - 1)]
