"""Lines that tell an agent of the tools that another agent used. Pure."""

from actors.vocabulary import events as ev

LENGTH = 300  # characters of an action: a line is only a reminder
FILES = 5  # named in a line


def line_of_use(use: ev.ToolUseEnd) -> str:
    """Describe a tool use of a third-party agent."""
    did = line_of_command(use.command) or use.title or use.kind
    named = [*use.changes, *(str(place.path) for place in use.places if str(place.path) not in use.changes)]
    about = [name for name in named[:FILES] if name not in did]
    more = f" and {len(named) - FILES} more" if len(named) > FILES else ""
    files = f"({', '.join(about)}{more})" if about else ""
    status = f"exit status {use.exit_code}" if use.exit_code else use.status
    return f"{_in_one_line(did)} {_in_one_line(files)}".rstrip() + f": {status}"


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
