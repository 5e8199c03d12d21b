"""Events of commands, patches and tools as the calls that a client shows. Pure; knows no client.

A call is named by its item, which no other has; call ids of models come again.
"""

import json
from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace

from actors.vocabulary.visible import visible
from transports.dialects.acp import diffs
from transports.dialects.acp.updates import Content, Location, Text, Tool
from transports.job_words import job_end
from transports.jsonrpc import JsonObject
from transports.question import command_line, typed

Event = Mapping[str, object]

TITLE_LENGTH = 300  # characters; a script of a thousand lines is no title
OUTPUT_LENGTH = 64 << 10  # characters of an output that is told in one piece; its ends say most
LOOKING = {"Read": "read", "ListFiles": "search", "Search": "search"}  # what a tool without a program does


def call_of(event: Event) -> str:
    return str(event.get("item_id") or event["call_id"])


def fenced(text: str) -> Text:
    """Output as it was written, between fences that are longer than any inside."""
    fence = "```"
    while fence in text:
        fence += "`"
    return Text(f"{fence}\n{text.rstrip(chr(10))}\n{fence}")


def output(text: str) -> tuple[Content, ...]:
    """An output, the middle of a long one left out."""
    if len(text) > OUTPUT_LENGTH:
        left_out, half = len(text) - OUTPUT_LENGTH, OUTPUT_LENGTH // 2
        text = f"{text[:half]}\n[… {left_out:,} characters …]\n{text[-half:]}"
    return (fenced(text),) if text.strip() else ()


def title(text: str) -> str:
    """One line of bounded length, in which nothing is hidden."""
    line = visible(" ".join(text.split())) or "A call without a name"
    return line if len(line) <= TITLE_LENGTH else f"{line[:TITLE_LENGTH]}…"


# --- our own agent's ------------------------------------------------------------------------------------------------


def command_begins(event: Event) -> Tool:
    words = _words(event)
    hint = next((dict(cast("JsonObject", one)) for one in _list(event.get("parsed_cmd"))), {})
    looks = next((LOOKING[name] for name in hint if name in LOOKING), "other")
    return Tool(
        call_of(event),
        title=title(command_line(words) if event.get("tool") else typed(words)),
        kind=looks if event.get("tool") else "execute",
        status="in_progress",
        places=_looked_at(words, hint, str(event["cwd"])) if event.get("tool") else (),
        raw_input={"command": words, "cwd": event["cwd"]},
    )


def command_ends(event: Event) -> Tool:
    code = cast("int", event["exit_code"])
    text = f"{event['stdout']}{event['stderr']}"
    cut = (Text(f"cut short: the turn was {event['cut']}"),) if event.get("cut") else ()
    return Tool(
        call_of(event),
        status="failed" if code else "completed",
        content=(*output(text), *cut),
        raw_output={"exitCode": code},
    )


def patch_begins(event: Event) -> Tool:
    changes = _changes(event)
    return Tool(
        call_of(event),
        title=title(_patched(changes)),
        kind=diffs.kind(changes),
        status="in_progress",
        content=diffs.shown(changes),
        places=diffs.places(changes),
    )


def patch_ends(event: Event) -> Tool:
    if event["success"]:
        return Tool(call_of(event), status="completed", raw_output={"stdout": event["stdout"]})
    return Tool(
        call_of(event), status="failed", content=output(str(event["stderr"])), raw_output={"stderr": event["stderr"]}
    )


def server_tool_begins(event: Event) -> Tool:
    invocation = cast("JsonObject", event["invocation"])
    name = f"{invocation['server']}: {invocation['tool']}"
    given = invocation.get("arguments")
    return Tool(call_of(event), title=title(name), kind="other", status="in_progress", raw_input=given)


def server_tool_ends(event: Event) -> Tool:
    begun = server_tool_begins(event)
    match event["result"]:
        case {"Ok": dict(result)}:
            parts = [one for one in _list(result.get("content")) if isinstance(one, dict)]
            text = "\n".join(str(one["text"]) for one in parts if isinstance(one.get("text"), str))
            failed = bool(result.get("isError") or result.get("is_error"))
            told: Content = Text(text[:OUTPUT_LENGTH])
            raw: object = result
        case {"Err": why}:
            failed, text, raw = True, str(why), None
            told = Text(text[:OUTPUT_LENGTH])
        case _:
            failed, text, raw, told = False, "", None, Text("")
    return Tool(
        begun.call,
        title=begun.title,
        kind=begun.kind,
        status="failed" if failed else "completed",
        content=(told,) if text else (),
        raw_input=begun.raw_input,
        raw_output=raw,
    )


def searched(event: Event) -> Tool:
    words = f"Searched the web: {event['query']}" if event.get("query") else "Searched the web"
    return Tool(call_of(event), title=title(words), kind="fetch", status="completed")


def looked(event: Event) -> Tool:
    path = str(event["path"])
    where = (Location(path),) if path.startswith("/") else ()
    return Tool(call_of(event), title=title(f"View {path}"), kind="read", status="completed", places=where)


def job_begins(event: Event) -> Tool:
    """The call that starts a job is over with it: the job may outlive its turn."""
    words = _words(event)
    until = "it goes on after the turn" if event.get("keeps") else "until the turn ends"
    return Tool(
        f"job-{event['job']}",
        title=title(typed(words)),
        kind="execute",
        status="completed",
        content=(Text(f"in the background as job {event['job']}, {until}"),),
        raw_input={"command": words, "cwd": event["cwd"]},
    )


def job_ends(event: Event) -> Tool:
    ended = Text(job_end(event))
    well = event["how"] in {"ended", "turn_over"} or event["exit_code"] == 0
    return Tool(
        f"job-{event['job']}",
        title=title(f"Job {event['job']}"),
        kind="execute",
        status="completed" if well else "failed",
        content=(*output(str(event.get("output") or "")), ended),
        raw_output={"exitCode": event["exit_code"]},
    )


# --- those of agents of others --------------------------------------------------------------------------------------


def use_begins(event: Event) -> Tool:
    return replace(_used(event), status="in_progress", content=diffs.shown(_changes(event)))


def use_ends(event: Event) -> Tool:
    code = event.get("exit_code")
    cancelled = (Text("cancelled"),) if event["status"] == "cancelled" else ()
    written = output(str(event.get("output") or ""))
    return replace(
        _used(event),
        status="completed" if event["status"] == "completed" and not code else "failed",
        content=(*diffs.shown(_changes(event)), *written, *cancelled),
        raw_output=None if code is None else {"exitCode": code},
    )


def _used(event: Event) -> Tool:
    words = _words(event)
    places = [cast("JsonObject", one) for one in _list(event.get("places"))]
    shown = tuple(Location(str(one["path"]), one.get("line")) for one in places)
    return Tool(
        call_of(event),
        title=title(typed(words) if words else str(event.get("title") or event.get("kind") or "a tool")),
        kind=str(event.get("kind") or "other"),
        places=shown or diffs.places(_changes(event)),
        raw_input=_arguments(event, words),
    )


def _arguments(event: Event, words: list[str]) -> object:
    text = str(event.get("arguments") or "")
    try:
        given = json.loads(text) if text else None
    except (ValueError, RecursionError):  # the middle of a long one is left out
        given = text
    return given if given is not None or not words else {"command": words, "cwd": event.get("cwd")}


# --- questions ------------------------------------------------------------------------------------------------------


def asked(event: Event, text: str) -> Tool:
    """The call that a question is about. `text`: all that there is to know of it."""
    content = (*diffs.shown(_changes(event)), fenced(text))
    return replace(_questioned(event), status="pending", content=content)


def _questioned(event: Event) -> Tool:
    call, changes, words = call_of(event), _changes(event), _words(event)
    if "places" in event:
        return _used(event)
    if changes:
        return Tool(call, title=title(_patched(changes)), kind=diffs.kind(changes), places=diffs.places(changes))
    if words:
        return Tool(call, title=title(typed(words)), kind="execute", raw_input={"command": words})
    if "tool" in event:
        named = title(f"{event['server']}: {event['tool']}")
        return Tool(call, title=named, kind="other", raw_input=_arguments(event, []))
    return Tool(call, title=title(str(event.get("message") or "A question")), kind="other")


# --- members --------------------------------------------------------------------------------------------------------


def _changes(event: Event) -> Mapping[str, object]:
    changes = event.get("changes")
    return changes if isinstance(changes, Mapping) else {}


def _words(event: Event) -> list[str]:
    return [str(one) for one in _list(event.get("command"))]


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple) else []


def _patched(changes: Mapping[str, object]) -> str:
    names = ", ".join(path.rpartition("/")[2] for path in changes)
    return {"delete": "Delete", "move": "Move"}.get(diffs.kind(changes), "Edit") + f" {names}"


def _looked_at(words: list[str], hint: JsonObject, cwd: str) -> tuple[Location, ...]:
    """The file or the directory that one of our tools looks at; of a file that is read, with the line."""
    searched_in = next((one.get("path") for one in hint.values() if isinstance(one, dict)), None)
    read = "Read" in hint and len(words) > 1
    path = words[1] if read else searched_in
    if not isinstance(path, str) or not path:
        return ()
    line = int(words[2]) if read and len(words) > 2 and words[2].isdecimal() else None
    return (Location(path if path.startswith("/") else f"{cwd.rstrip('/')}/{path}", line),)
