"""Readers of an agent's updates: content as text, commands, output and exit codes, in their various forms. Pure."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from supervisor.agents.acp.json_readers import (
    Shape,
    count,
    member_at,
    shape,
    shapes,
    short,
    text,
    texts,
    whole_number,
)

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


SHELL = ("bash", "-c")  # stands for the agent's own shell, which it doesn't name
LONGEST_COMMAND = 512 * 1024  # characters of a command, as `greenroom.limits.command_bytes` has it for models
COMMANDS = ("command", "cmd")
OUTPUTS = ("formatted_output", "aggregated_output", "output")  # of Codex and opencode, the best first
EXIT = re.compile(r"Exit code (\d{1,3})\n?")  # how Claude Code's shell begins the output of a command that failed


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
