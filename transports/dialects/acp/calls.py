"""Work, jobs and questions as the calls that a client shows. Pure; knows no client.

A call is named by its item, which is unique; a model may use a call id again.
"""

import json
from collections.abc import Mapping

from msgspec.structs import replace

from actors.vocabulary import events as ev
from actors.vocabulary.visible_text import visible
from transports.dialects.acp import diffs
from transports.dialects.acp.updates import Content, Location, TextContent, ToolUpdate
from transports.job_words import job_end
from transports.question_text import command_for_history, command_line

TITLE_LENGTH = 300  # characters; a script of a thousand lines is no title
OUTPUT_LENGTH = 64 << 10  # characters of an output sent in one piece; its ends say most
LOOKING = {"reads": "read", "lists": "search", "searches": "search"}  # our own tools, which run no program

Subject = ev.WorkSubject | ev.QuestionSubject | None


def call_of(event: ev.WorkBegan | ev.WorkOutput | ev.WorkEnded | ev.ApprovalRequested | ev.ToolOutput) -> str:
    return event.item_id or event.call_id


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


# --- work and questions ---------------------------------------------------------------------------------------------


def begun_call(event: ev.WorkBegan) -> ToolUpdate:
    call = replace(_describe(call_of(event), event.subject, event.agent_call), status="in_progress")
    match event.subject:
        case ev.CommandSubject() as subject if event.agent_call is None:
            return replace(call, places=_looked_at(subject), raw_input=_command_and_place(subject))
        case _:
            return call


def ended_call(event: ev.WorkEnded) -> ToolUpdate:
    well = event.status == "completed" and not event.exit_code
    code = None if event.exit_code is None else {"exitCode": event.exit_code}
    end = ToolUpdate(call_of(event), status="completed" if well else "failed", raw_output=code)
    known = replace(_describe(end.call, event.subject, event.agent_call), status=end.status, raw_output=code)
    if event.agent_call is not None:
        cancelled = (TextContent("cancelled"),) if event.status == "cancelled" else ()
        return replace(known, content=(*(known.content or ()), *output(event.output), *cancelled))
    match event.kind:
        case "command":
            cut = (TextContent(f"cut short: the turn was {event.cut}"),) if event.cut else ()
            return replace(end, content=(*output(event.output + event.errors), *cut))
        case "files" if well:
            return replace(end, raw_output={"stdout": event.output})
        case "files":
            return replace(end, content=output(event.errors), raw_output={"stderr": event.errors})
        case "tool":
            text = (event.errors if event.result is None else _text_of_result(event.result))[:OUTPUT_LENGTH]
            return replace(known, content=(TextContent(text),) if text else (), raw_output=event.result)
        case _:
            return known


def pending_call(request: ev.ApprovalRequested, text: str) -> ToolUpdate:
    """The call that a question is about. `text`: the whole question."""
    call = _describe(call_of(request), request.subject, request.agent_call)
    return replace(call, status="pending", content=(*(call.content or ()), code_block(text)))


def _describe(call: str, subject: Subject, agent_call: ev.AgentCall | None) -> ToolUpdate:
    """The call's title, kind, places, input and changes."""
    if agent_call is not None:
        return _describe_agent_call(call, subject, agent_call)
    match subject:
        case ev.CommandSubject(command=command, tool=tool):
            name = command_line(command) if tool else command_for_history(command)
            kind = _looking(subject) if tool else "execute"
            return ToolUpdate(call, title=title(name), kind=kind, raw_input={"command": list(command)})
        case ev.FilesSubject(changes=changes):
            verb = {"delete": "Delete", "move": "Move"}.get(kind := diffs.kind(changes), "Edit")
            name = f"{verb} {', '.join(path.rpartition('/')[2] for path in changes)}"
            content, places = diffs.diff_contents(changes), diffs.places(changes)
            return ToolUpdate(call, title=title(name), kind=kind, content=content, places=places)
        case ev.ToolSubject(server=server, tool=tool, arguments=arguments):
            return ToolUpdate(call, title=title(f"{server}: {tool}"), kind="other", raw_input=_arguments(arguments))
        case ev.SearchSubject(query=query):
            name = f"Searched the web: {query}" if query else "Searched the web"
            return ToolUpdate(call, title=title(name), kind="fetch")
        case ev.PictureSubject(path=path):
            where = (Location(str(path)),) if path.is_absolute() else ()
            return ToolUpdate(call, title=title(f"View {path}"), kind="read", places=where)
        case ev.FormSubject(message=message):
            return ToolUpdate(call, title=title(message or "A question"), kind="other")
        case ev.OtherSubject() | None:
            return ToolUpdate(call, title=title(""), kind="other")


def _describe_agent_call(call: str, subject: Subject, agent_call: ev.AgentCall) -> ToolUpdate:
    command = subject.command if isinstance(subject, ev.CommandSubject) else ()
    changes = subject.changes if isinstance(subject, ev.CommandSubject | ev.FilesSubject) else {}
    places = tuple(
        Location(str(place.path), place.line if (place.line or 0) > 0 else None) for place in agent_call.places
    )
    given = _arguments(agent_call.arguments)
    if given is None and isinstance(subject, ev.CommandSubject) and command:
        given = _command_and_place(subject)
    return ToolUpdate(
        call,
        title=title(command_for_history(command) if command else agent_call.title or agent_call.sort),
        kind=agent_call.sort,
        content=diffs.diff_contents(changes),
        places=places or diffs.places(changes),
        raw_input=given,
    )


def _arguments(given: object) -> object:
    """The arguments; those of a question and of a third-party agent are JSON text."""
    try:
        return (json.loads(given) if given else None) if isinstance(given, str) else given
    except (ValueError, RecursionError):  # shortened arguments are not valid JSON
        return given


def _text_of_result(result: Mapping[str, object]) -> str:
    content = result.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def _looking(subject: ev.CommandSubject) -> str:
    return LOOKING.get(subject.hints[0].purpose, "other") if subject.hints else "other"


def _looked_at(subject: ev.CommandSubject) -> tuple[Location, ...]:
    """The file or the directory that one of our tools looks at; for a file that is read, with the line."""
    if not (subject.tool and subject.hints):
        return ()
    words, hint = subject.command, subject.hints[0]
    reads = hint.purpose == "reads" and len(words) > 1
    path = words[1] if reads else hint.path
    if not path:
        return ()
    line = int(words[2]) if reads and len(words) > 2 and words[2].isdecimal() else None
    return (Location(path if path.startswith("/") else f"{str(subject.cwd or '').rstrip('/')}/{path}", line),)


def _command_and_place(subject: ev.CommandSubject) -> dict[str, object]:
    return {"command": list(subject.command), "cwd": None if subject.cwd is None else str(subject.cwd)}


# --- jobs -----------------------------------------------------------------------------------------------------------


def job_begins(event: ev.JobStarted) -> ToolUpdate:
    """The call that starts a job is over at once: the job may outlive its turn."""
    until = "it goes on after the turn" if event.keeps else "until the turn ends"
    return ToolUpdate(
        f"job-{event.job}",
        title=title(command_for_history(event.command)),
        kind="execute",
        status="completed",
        content=(TextContent(f"in the background as job {event.job}, {until}"),),
        raw_input={"command": list(event.command), "cwd": str(event.cwd)},
    )


def job_ends(event: ev.JobEnded) -> ToolUpdate:
    ending = TextContent(job_end(event.model_dump(mode="json")))
    well = event.how in {"ended", "turn_over"} or event.exit_code == 0
    return ToolUpdate(
        f"job-{event.job}",
        title=title(f"Job {event.job}"),
        kind="execute",
        status="completed" if well else "failed",
        content=(*output(event.output), ending),
        raw_output={"exitCode": event.exit_code},
    )
