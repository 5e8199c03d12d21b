"""Lines for an agent about the tools that another one used. Pure."""

from actors.vocabulary import events as ev

LENGTH = 300  # characters of what it did; a line is a reminder, not the thing
FILES = 5  # named in a line


def line_of_use(use: ev.ToolUseEnd) -> str:
    """A tool of an agent that is a program of others."""
    did = line_of_command(use.command) or use.title or use.kind
    named = [*use.changes, *(str(place.path) for place in use.places if str(place.path) not in use.changes)]
    about = [name for name in named[:FILES] if name not in did]
    more = f" and {len(named) - FILES} more" if len(named) > FILES else ""
    files = f"({', '.join(about)}{more})" if about else ""
    status = f"exit status {use.exit_code}" if use.exit_code else use.status
    return f"{_in_one_line(did)} {_in_one_line(files)}".rstrip() + f": {status}"


def line_of_command(command: tuple[str, ...]) -> str:
    """Write a command as a person types it; of one in a shell, what the shell is given."""
    match command:
        case (_, "-c" | "-lc" | "-ic", script):
            return script
        case _:
            return " ".join(command)


def line_of_call(call: ev.ToolCall, output: ev.ToolOutput) -> str:
    """A tool of our own agent."""
    failed = f"failed, {output.failed.message}" if output.failed is not None else "completed"
    return f"{call.name} {_in_one_line(call.arguments)}: {_in_one_line(failed)}"


def _in_one_line(text: str) -> str:
    line = " ".join(text[: LENGTH + 1].split())
    return line if len(text) <= LENGTH else f"{line[:LENGTH]}…"
