"""Updates, settings and questions as version 2 of ACP, a draft, writes them. Pure.

One kind of update serves new and changed calls, a whole message replaces its pieces, terminals are the agent's, and a
session's state is sent where version 1 answers a prompt.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import assert_never

from transports import jsonrpc
from transports.dialects.acp import updates as u
from transports.dialects.acp import v1
from transports.jsonrpc import JsonObject

VOICES = {"user": "user_message", "agent": "agent_message", "thought": "agent_thought"}
PLAN = "plan"  # the id of a session's only plan


def write_update(update: u.Update, *, notices: bool = False) -> list[JsonObject]:
    match update:
        case u.Message(voice, item, blocks):
            content = [v1.block(message_block) for message_block in blocks]
            return [{"sessionUpdate": VOICES[voice], "messageId": item, "content": content}]
        case u.Remark(_, text, item) if not notices:
            return write_update(u.Message("agent", item, (u.TextContent(text),)))
        case u.ToolUpdate():
            members = tool(update)
            changed = [{"sessionUpdate": "tool_call_update", **members}] if len(members) > 1 else []
            return [*_screen(update), *changed]
        case u.PlanEntries():
            (as_v1,) = v1.write_update(update)
            plan = {"type": "items", "planId": PLAN, "entries": as_v1["entries"]}
            return [{"sessionUpdate": "plan_update", "plan": plan}]
        case u.Commands():
            (as_v1,) = v1.write_update(update)
            return [{**as_v1, "availableCommands": [_command(command) for command in as_v1["availableCommands"]]}]
        case u.Options(options):
            return [{"sessionUpdate": "config_option_update", "configOptions": config_options(options)}]
        case u.Mode():
            return []
        case u.TurnState(state, reason, failed):
            stopped = {} if reason is None else {"stopReason": reason}
            why = {} if failed is None else {"error": {"code": jsonrpc.INTERNAL_ERROR, "message": failed}}
            return [{"sessionUpdate": "state_update", "state": state, **stopped, **why}]
        case u.MessagePiece() | u.Remark() | u.ContextUse() | u.SessionTitle():
            return v1.write_update(update, notices=notices)
        case _:
            assert_never(update)


def tool(update: u.ToolUpdate) -> JsonObject:
    members = v1.tool(update)
    members.pop("_meta", None)
    if update.content is not None:
        members["content"] = [item for part in update.content for item in _content(part)]
    return members


def config_options(options: Sequence[u.Option]) -> list[JsonObject]:
    return [{"configId": option.pop("id"), **option} for option in v1.config_options(options)]


def settings(options: Sequence[u.Option]) -> JsonObject:
    return {"configOptions": config_options(options)}


def permission(session: str, update: u.ToolUpdate, options: list[JsonObject]) -> JsonObject:
    """Params of `session/request_permission`."""
    subject = {"type": "tool_call", "toolCall": tool(update)}
    return {"sessionId": session, "title": update.title or "A question", "subject": subject, "options": options}


def _command(command: JsonObject) -> JsonObject:
    hint = {"input": {"type": "text", **command["input"]}} if "input" in command else {}
    return {"type": "command", **command, **hint}


def _content(part: u.Content) -> Iterator[JsonObject]:
    if not isinstance(part, u.FileDiff):
        yield from v1.content(part)
        return
    operation = "add" if part.old is None else "modify"
    yield {"type": "diff", "changes": [{"operation": operation, "path": part.path}], "patch": _patch(part)}


def _patch(diff: u.FileDiff) -> JsonObject:
    """A patch of the piece alone: its place in the file is unknown here."""
    old, new = _mark_lines("-", diff.old or ""), _mark_lines("+", diff.new)
    name = diff.path.lstrip("/")
    source = "/dev/null" if diff.old is None else f"a/{name}"
    head = f"diff --git a/{name} b/{name}\n" + ("new file mode 100644\n" if diff.old is None else "")
    hunk = f"@@ -{1 if old else 0},{len(old)} +{1 if new else 0},{len(new)} @@\n"
    return {"format": "git_patch", "text": f"{head}--- {source}\n+++ b/{name}\n{hunk}{''.join((*old, *new))}"}


def _mark_lines(mark: str, text: str) -> list[str]:
    lines = text.split("\n")
    whole = [f"{mark}{line}\n" for line in lines[:-1]]
    return [*whole, f"{mark}{lines[-1]}\n\\ No newline at end of file\n"] if lines[-1] else whole


def _screen(update: u.ToolUpdate) -> Iterator[JsonObject]:
    """The news of a terminal, before the call that shows it."""
    match update.screen:
        case None:
            pass
        case u.ScreenBegan(cwd):
            yield {"sessionUpdate": "terminal_update", "terminalId": update.call, "command": update.title, "cwd": cwd}
        case u.ScreenWrote(text):
            data = b64encode(text.encode(errors="replace")).decode()
            yield {"sessionUpdate": "terminal_output_chunk", "terminalId": update.call, "data": data}
        case u.ScreenEnded(exit_code):
            status = {"exitCode": max(0, exit_code), "signal": None}
            yield {"sessionUpdate": "terminal_update", "terminalId": update.call, "exitStatus": status}
        case _:
            assert_never(update.screen)
