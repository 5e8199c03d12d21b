"""Lines that tell an agent of the work of another agent. Pure."""

from collections.abc import Mapping

from actors.vocabulary import events as ev

LENGTH = 300  # characters of an action: a line is only a reminder
FILES = 5  # named in a line


def line_of_work(ended: ev.WorkEnded) -> str:
    """Describe the work of a third-party agent."""
    did = line_of_action(ended.subject, ended.agent_call)
    changes = changes_in(ended.subject)
    places = [str(place.path) for place in ended.agent_call.places] if ended.agent_call else []
    named = [*changes, *(place for place in places if place not in changes)]
    about = [name for name in named[:FILES] if name not in did]
    more = f" and {len(named) - FILES} more" if len(named) > FILES else ""
    files = f"({', '.join(about)}{more})" if about else ""
    status = f"exit status {ended.exit_code}" if ended.exit_code else ended.status
    return f"{_in_one_line(did)} {_in_one_line(files)}".rstrip() + f": {status}"


def line_of_action(subject: ev.WorkSubject | ev.FormSubject | None, call: ev.AgentCall | None) -> str:
    """Return the command, or else the agent's own words for the call."""
    command = line_of_command(subject.command) if isinstance(subject, ev.CommandSubject) else ""
    words = call or ev.AgentCall()
    return command or words.title or words.sort


def changes_in(subject: ev.WorkSubject | None) -> Mapping[str, ev.FileChange]:
    """Return the changes of files that the subject shows."""
    return subject.changes if isinstance(subject, ev.CommandSubject | ev.FilesSubject) else {}


def line_of_command(command: tuple[str, ...]) -> str:
    """Write a command as a person types it; for a command in a shell, the script alone."""
    match command:
        case (_, "-c" | "-lc" | "-ic", script):
            return script
        case _:
            return " ".join(command)


def line_of_call(call: ev.ToolCall, output: ev.ToolOutput) -> str:
    """Describe a tool call of our own agent."""
    failed = f"failed, {output.failed.message}" if output.failed is not None else "completed"
    return f"{call.name} {_in_one_line(call.arguments)}: {_in_one_line(failed)}"


def _in_one_line(text: str) -> str:
    line = " ".join(text[: LENGTH + 1].split())
    return line if len(text) <= LENGTH else f"{line[:LENGTH]}…"
