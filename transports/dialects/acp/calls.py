"""Events of commands, patches and tools as the calls that a client shows. Pure; knows no client.

A call is named by its item, which is unique; a model may use a call id again.
"""

import json
from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace

from actors.vocabulary.visible_text import visible
from transports.dialects.acp import diffs
from transports.dialects.acp.updates import Content, Location, TextContent, ToolUpdate
from transports.job_words import job_end
from transports.jsonrpc import JsonObject
from transports.question_text import command_for_history, command_line

Event = Mapping[str, object]

TITLE_LENGTH = 300  # characters; a script of a thousand lines is no title
OUTPUT_LENGTH = 64 << 10  # characters of an output sent in one piece; its ends say most
LOOKING = {"Read": "read", "ListFiles": "search", "Search": "search"}  # our own tools, which run no program


def call_of(event: Event) -> str:
    return str(event.get("item_id") or event["call_id"])


def code_block(text: str) -> TextContent:
    """Output between fences that are longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return TextContent(f"{fence}\n{text.rstrip(chr(10))}\n{fence}")


def output(text: str) -> tuple[Content, ...]:
    """An output; the middle of a long one is left out."""
    if len(text) > OUTPUT_LENGTH:
        left_out, half = len(text) - OUTPUT_LENGTH, OUTPUT_LENGTH // 2
        text = f"{text[:half]}\n[… {left_out:,} characters …]\n{text[-half:]}"
    return (code_block(text),) if text.strip() else ()


def title(text: str) -> str:
    """One line of bounded length, in which nothing is hidden."""
    line = visible(" ".join(text.split())) or "A call without a name"
    return line if len(line) <= TITLE_LENGTH else f"{line[:TITLE_LENGTH]}…"


# --- calls of our own agent -----------------------------------------------------------------------------------------


def command_begins(event: Event) -> ToolUpdate:
    words = _words(event)
    hint = next((dict(cast("JsonObject", parsed)) for parsed in _list(event.get("parsed_cmd"))), {})
    looks = next((LOOKING[name] for name in hint if name in LOOKING), "other")
    return ToolUpdate(
        call_of(event),
        title=title(command_line(words) if event.get("tool") else command_for_history(words)),
        kind=looks if event.get("tool") else "execute",
        status="in_progress",
        places=_looked_at(words, hint, str(event["cwd"])) if event.get("tool") else (),
        raw_input={"command": words, "cwd": event["cwd"]},
    )


def command_ends(event: Event) -> ToolUpdate:
    code = cast("int", event["exit_code"])
    text = f"{event['stdout']}{event['stderr']}"
    cut = (TextContent(f"cut short: the turn was {event['cut']}"),) if event.get("cut") else ()
    return ToolUpdate(
        call_of(event),
        status="failed" if code else "completed",
        content=(*output(text), *cut),
        raw_output={"exitCode": code},
    )


def patch_begins(event: Event) -> ToolUpdate:
    changes = _changes(event)
    return ToolUpdate(
        call_of(event),
        title=title(_patch_title(changes)),
        kind=diffs.kind(changes),
        status="in_progress",
        content=diffs.diff_contents(changes),
        places=diffs.places(changes),
    )


def patch_ends(event: Event) -> ToolUpdate:
    if event["success"]:
        return ToolUpdate(call_of(event), status="completed", raw_output={"stdout": event["stdout"]})
    return ToolUpdate(
        call_of(event), status="failed", content=output(str(event["stderr"])), raw_output={"stderr": event["stderr"]}
    )


def server_tool_begins(event: Event) -> ToolUpdate:
    invocation = cast("JsonObject", event["invocation"])
    name = f"{invocation['server']}: {invocation['tool']}"
    arguments = invocation.get("arguments")
    return ToolUpdate(call_of(event), title=title(name), kind="other", status="in_progress", raw_input=arguments)


def server_tool_ends(event: Event) -> ToolUpdate:
    call = server_tool_begins(event)
    match event["result"]:
        case {"Ok": dict(result)}:
            parts = [part for part in _list(result.get("content")) if isinstance(part, dict)]
            text = "\n".join(str(part["text"]) for part in parts if isinstance(part.get("text"), str))
            failed = bool(result.get("isError") or result.get("is_error"))
            shown_text: Content = TextContent(text[:OUTPUT_LENGTH])
            raw: object = result
        case {"Err": why}:
            failed, text, raw = True, str(why), None
            shown_text = TextContent(text[:OUTPUT_LENGTH])
        case _:
            failed, text, raw, shown_text = False, "", None, TextContent("")
    return ToolUpdate(
        call.call,
        title=call.title,
        kind=call.kind,
        status="failed" if failed else "completed",
        content=(shown_text,) if text else (),
        raw_input=call.raw_input,
        raw_output=raw,
    )


def web_search(event: Event) -> ToolUpdate:
    name = f"Searched the web: {event['query']}" if event.get("query") else "Searched the web"
    return ToolUpdate(call_of(event), title=title(name), kind="fetch", status="completed")


def image_view(event: Event) -> ToolUpdate:
    path = str(event["path"])
    where = (Location(path),) if path.startswith("/") else ()
    return ToolUpdate(call_of(event), title=title(f"View {path}"), kind="read", status="completed", places=where)


def job_begins(event: Event) -> ToolUpdate:
    """The call that starts a job is over at once: the job may outlive its turn."""
    words = _words(event)
    until = "it goes on after the turn" if event.get("keeps") else "until the turn ends"
    return ToolUpdate(
        f"job-{event['job']}",
        title=title(command_for_history(words)),
        kind="execute",
        status="completed",
        content=(TextContent(f"in the background as job {event['job']}, {until}"),),
        raw_input={"command": words, "cwd": event["cwd"]},
    )


def job_ends(event: Event) -> ToolUpdate:
    ending = TextContent(job_end(event))
    well = event["how"] in {"ended", "turn_over"} or event["exit_code"] == 0
    return ToolUpdate(
        f"job-{event['job']}",
        title=title(f"Job {event['job']}"),
        kind="execute",
        status="completed" if well else "failed",
        content=(*output(str(event.get("output") or "")), ending),
        raw_output={"exitCode": event["exit_code"]},
    )


# --- calls of third-party agents ------------------------------------------------------------------------------------


def use_begins(event: Event) -> ToolUpdate:
    return replace(_call_of_use(event), status="in_progress", content=diffs.diff_contents(_changes(event)))


def use_ends(event: Event) -> ToolUpdate:
    code = event.get("exit_code")
    cancelled = (TextContent("cancelled"),) if event["status"] == "cancelled" else ()
    written = output(str(event.get("output") or ""))
    return replace(
        _call_of_use(event),
        status="completed" if event["status"] == "completed" and not code else "failed",
        content=(*diffs.diff_contents(_changes(event)), *written, *cancelled),
        raw_output=None if code is None else {"exitCode": code},
    )


def _call_of_use(event: Event) -> ToolUpdate:
    words = _words(event)
    places = [cast("JsonObject", place) for place in _list(event.get("places"))]
    locations = tuple(
        Location(str(place["path"]), place.get("line") if (place.get("line") or 0) > 0 else None) for place in places
    )
    return ToolUpdate(
        call_of(event),
        title=title(
            command_for_history(words) if words else str(event.get("title") or event.get("kind") or "a tool")
        ),
        kind=str(event.get("kind") or "other"),
        places=locations or diffs.places(_changes(event)),
        raw_input=_arguments(event, words),
    )


def _arguments(event: Event, words: list[str]) -> object:
    text = str(event.get("arguments") or "")
    try:
        arguments = json.loads(text) if text else None
    except (ValueError, RecursionError):  # shortened arguments are not valid JSON
        arguments = text
    return arguments if arguments is not None or not words else {"command": words, "cwd": event.get("cwd")}


# --- questions ------------------------------------------------------------------------------------------------------


def pending_call(event: Event, text: str) -> ToolUpdate:
    """The call that a question is about. `text`: the whole question."""
    content = (*diffs.diff_contents(_changes(event)), code_block(text))
    return replace(_call_of_question(event), status="pending", content=content)


def _call_of_question(event: Event) -> ToolUpdate:
    call, changes, words = call_of(event), _changes(event), _words(event)
    if "places" in event:
        return _call_of_use(event)
    if changes:
        return ToolUpdate(
            call, title=title(_patch_title(changes)), kind=diffs.kind(changes), places=diffs.places(changes)
        )
    if words:
        return ToolUpdate(call, title=title(command_for_history(words)), kind="execute", raw_input={"command": words})
    if "tool" in event:
        name = title(f"{event['server']}: {event['tool']}")
        return ToolUpdate(call, title=name, kind="other", raw_input=_arguments(event, []))
    return ToolUpdate(call, title=title(str(event.get("message") or "A question")), kind="other")


# --- members --------------------------------------------------------------------------------------------------------


def _changes(event: Event) -> Mapping[str, object]:
    changes = event.get("changes")
    return changes if isinstance(changes, Mapping) else {}


def _words(event: Event) -> list[str]:
    return [str(word) for word in _list(event.get("command"))]


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _patch_title(changes: Mapping[str, object]) -> str:
    names = ", ".join(path.rpartition("/")[2] for path in changes)
    return {"delete": "Delete", "move": "Move"}.get(diffs.kind(changes), "Edit") + f" {names}"


def _looked_at(words: list[str], hint: JsonObject, cwd: str) -> tuple[Location, ...]:
    """The file or the directory that one of our tools looks at; for a file that is read, with the line."""
    searched_in = next((value.get("path") for value in hint.values() if isinstance(value, dict)), None)
    reads = "Read" in hint and len(words) > 1
    path = words[1] if reads else searched_in
    if not isinstance(path, str) or not path:
        return ()
    line = int(words[2]) if reads and len(words) > 2 and words[2].isdecimal() else None
    return (Location(path if path.startswith("/") else f"{cwd.rstrip('/')}/{path}", line),)
