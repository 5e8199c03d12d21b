"""Readers of JSON from third-party programs: a value of an unexpected type counts as missing. Pure.

No reader raises, and none returns more than its bound: agents are as foreign as models. After the general ones come
those of content, commands, output and exit codes, each in the forms of various agents.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from math import isfinite
from pathlib import Path
from typing import Any

Shape = Mapping[str, Any]

MOST_LISTED = 1_000  # members of any list; agents list dozens
SHORT = 2_000  # characters of a title, a name, a description, which a person reads in passing
NOTHING: Shape = {}
FENCE = "```"
LONGEST_FIRST_LINE = 40  # of a fence: three backticks and a language
SHELL = ("bash", "-c")  # stands for the agent's own shell, which it doesn't name
LONGEST_COMMAND = 512 * 1024  # characters of a command, as `greenroom.limits.command_bytes` has it for models
COMMANDS = ("command", "cmd")
OUTPUTS = ("formatted_output", "aggregated_output", "output")  # of Codex and opencode, the best first
EXIT = re.compile(r"Exit code (\d{1,3})\n?")  # how Claude Code's shell begins the output of a command that failed


def text(value: Any) -> str:
    """Return a text that can be stored: halves of surrogate pairs are replaced."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def short(value: Any, most: int = SHORT) -> str:
    """Return a text of bounded length; one that is cut ends with an ellipsis."""
    read = text(value[: most + 1] if isinstance(value, str) else value)
    return read if len(read) <= most else f"{read[: most - 1]}…"


def shape(value: Any) -> Shape:
    return value if isinstance(value, Mapping) else NOTHING


def member_at(value: Any, *names: str) -> Any:
    """Return the member of a member; None if any of them is missing."""
    for name in names:
        value = shape(value).get(name)
    return value


def shapes(value: Any, most: int = MOST_LISTED) -> Iterator[Shape]:
    """Yield the objects of a list."""
    return (item for item in islice(_list_or_empty(value), most) if isinstance(item, Mapping))


def texts(value: Any, most: int = MOST_LISTED) -> tuple[str, ...]:
    """Return the texts of a list; nothing if it has other values too."""
    listed = _list_or_empty(value)
    return tuple(map(text, listed)) if len(listed) <= most and all(isinstance(item, str) for item in listed) else ()


def whole_number(value: Any) -> int | None:
    """Return a whole number."""
    if isinstance(value, float) and isfinite(value) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: Any) -> int | None:
    number = whole_number(value)
    return number if number is not None and number >= 0 else None


def amount(value: Any) -> float | None:
    """Return a sum of money, which is never negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if isfinite(number) and number >= 0 else None


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# --- content: blocks of messages, and of tool calls -----------------------------------------------------------------


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


# --- a tool call's raw input and output -----------------------------------------------------------------------------


def command_of(arguments: Any, title: str) -> tuple[str, ...]:
    """Return the words of the command, as a last resort from a title that is nothing but code; empty if unknown."""
    given = shape(arguments)
    for name in COMMANDS:
        words = texts(given.get(name))
        if words and sum(map(len, words)) <= LONGEST_COMMAND:
            return words
        script = text(given.get(name))
        if script:
            return (*SHELL, short(script, LONGEST_COMMAND))
    is_code = title.startswith("`") and title.endswith("`") and title.count("`") == 2
    return (*SHELL, title[1:-1]) if is_code and len(title) > len("``") else ()


def cwd_of(arguments: Any, meta: Any) -> Path | None:
    found = text(shape(arguments).get("cwd")) or text(member_at(meta, "terminal_info", "cwd"))
    return Path(short(found)) if found else None


def raw_output(update: Shape) -> str:
    """Return the tool's own output, which may differ from the shown content; empty if the agent doesn't send it."""
    return next((found for found in _raw_outputs(update) if found), "")


def _raw_outputs(update: Shape) -> Iterator[str]:
    raw = update.get("rawOutput")
    yield without_fence(text(raw))
    yield from (text(shape(raw).get(name)) for name in OUTPUTS)
    yield _both_streams(shape(raw))
    yield _both_streams(shape(member_at(update, "_meta", "claudeCode", "toolResponse")))


def _both_streams(result: Shape) -> str:
    streams = [text(result.get(name)) for name in ("stdout", "stderr")]
    return "\n".join(stream.removesuffix("\n") for stream in streams if stream)


def terminal_piece(update: Shape) -> str:
    """Return the new piece of output in a terminal of the agent's own."""
    return text(member_at(update, "_meta", "terminal_output_delta", "data"))


def terminal_whole(update: Shape) -> str:
    return text(member_at(update, "_meta", "terminal_output", "data"))


def exit_code(update: Shape, output: str) -> int | None:
    raw = shape(update.get("rawOutput"))
    metadata = shape(raw.get("metadata"))
    codes: tuple[Any, ...] = (
        member_at(update, "_meta", "terminal_exit", "exit_code"),
        raw.get("exit_code"),
        raw.get("exitCode"),
        metadata.get("exit"),
    )
    known = next((code for code in map(whole_number, codes) if code is not None), None)
    if known is not None or update.get("status") != "failed":
        return known
    match = EXIT.match(output)
    return int(match[1]) if match else None


def seconds_taken(update: Shape) -> float | None:
    took = shape(member_at(update, "rawOutput", "duration"))
    secs, nanos = count(took.get("secs")), count(took.get("nanos"))
    return None if secs is None else secs + (nanos or 0) / 1e9


def was_refused(update: Shape) -> bool:
    """Tell whether the agent reports that a person or a rule refused the call."""
    return isinstance(member_at(update, "_meta", "claudeCode", "nonExecutionKind"), str)
