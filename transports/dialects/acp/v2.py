"""Updates, settings and questions as version 2 of ACP writes them, which is a draft. Pure.

Calls are told by one kind of update, a message that is whole replaces what there is of it, terminals are the agent's,
and the state of a session is told where version 1 answers a prompt.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import assert_never

from transports import jsonrpc
from transports.dialects.acp import updates as u
from transports.dialects.acp import v1
from transports.jsonrpc import JsonObject

VOICES = {"user": "user_message", "agent": "agent_message", "thought": "agent_thought"}
PLAN = "plan"  # the name of the only plan that a session has


def written(update: u.Update, *, notices: bool = False) -> list[JsonObject]:
    match update:
        case u.Message(voice, item, blocks):
            content = [v1.block(one) for one in blocks]
            return [{"sessionUpdate": VOICES[voice], "messageId": item, "content": content}]
        case u.Remark(_, text, item) if not notices:
            return written(u.Message("agent", item, (u.Text(text),)))
        case u.Tool():
            members = tool(update)
            changed = [{"sessionUpdate": "tool_call_update", **members}] if len(members) > 1 else []
            return [*_screen(update), *changed]
        case u.Plan():
            (told,) = v1.written(update)
            plan = {"type": "items", "planId": PLAN, "entries": told["entries"]}
            return [{"sessionUpdate": "plan_update", "plan": plan}]
        case u.Commands():
            (told,) = v1.written(update)
            return [{**told, "availableCommands": [_command(one) for one in told["availableCommands"]]}]
        case u.Options(options):
            return [{"sessionUpdate": "config_option_update", "configOptions": config_options(options)}]
        case u.Mode():
            return []
        case u.Working(state, reason, failed):
            stopped = {} if reason is None else {"stopReason": reason}
            why = {} if failed is None else {"error": {"code": jsonrpc.INTERNAL_ERROR, "message": failed}}
            return [{"sessionUpdate": "state_update", "state": state, **stopped, **why}]
        case u.Said() | u.Remark() | u.Used() | u.Named():
            return v1.written(update, notices=notices)
        case _:
            assert_never(update)


def tool(told: u.Tool) -> JsonObject:
    written_ = v1.tool(told)
    written_.pop("_meta", None)
    if told.content is not None:
        written_["content"] = [part for one in told.content for part in _content(one)]
    return written_


def config_options(options: Sequence[u.Option]) -> list[JsonObject]:
    return [{"configId": one.pop("id"), **one} for one in v1.config_options(options)]


def settings(options: Sequence[u.Option]) -> JsonObject:
    return {"configOptions": config_options(options)}


def permission(session: str, told: u.Tool, options: list[JsonObject]) -> JsonObject:
    """Params of `session/request_permission`."""
    subject = {"type": "tool_call", "toolCall": tool(told)}
    return {"sessionId": session, "title": told.title or "A question", "subject": subject, "options": options}


def _command(one: JsonObject) -> JsonObject:
    hint = {"input": {"type": "text", **one["input"]}} if "input" in one else {}
    return {"type": "command", **one, **hint}


def _content(one: u.Content) -> Iterator[JsonObject]:
    if not isinstance(one, u.FileDiff):
        yield from v1.content(one)
        return
    operation = "add" if one.old is None else "modify"
    yield {"type": "diff", "changes": [{"operation": operation, "path": one.path}], "patch": _patch(one)}


def _patch(one: u.FileDiff) -> JsonObject:
    """A patch of the piece alone: where it is in the file is not known here."""
    old, new = _marked("-", one.old or ""), _marked("+", one.new)
    name = one.path.lstrip("/")
    source = "/dev/null" if one.old is None else f"a/{name}"
    head = f"diff --git a/{name} b/{name}\n" + ("new file mode 100644\n" if one.old is None else "")
    hunk = f"@@ -{1 if old else 0},{len(old)} +{1 if new else 0},{len(new)} @@\n"
    return {"format": "git_patch", "text": f"{head}--- {source}\n+++ b/{name}\n{hunk}{''.join((*old, *new))}"}


def _marked(mark: str, text: str) -> list[str]:
    lines = text.split("\n")
    whole = [f"{mark}{line}\n" for line in lines[:-1]]
    return [*whole, f"{mark}{lines[-1]}\n\\ No newline at end of file\n"] if lines[-1] else whole


def _screen(told: u.Tool) -> Iterator[JsonObject]:
    """Write the news of a terminal, before the call that shows it."""
    match told.screen:
        case None:
            pass
        case u.ScreenBegan(cwd):
            yield {"sessionUpdate": "terminal_update", "terminalId": told.call, "command": told.title, "cwd": cwd}
        case u.ScreenWrote(text):
            data = b64encode(text.encode(errors="replace")).decode()
            yield {"sessionUpdate": "terminal_output_chunk", "terminalId": told.call, "data": data}
        case u.ScreenEnded(exit_code):
            ended = {"exitCode": max(0, exit_code), "signal": None}
            yield {"sessionUpdate": "terminal_update", "terminalId": told.call, "exitStatus": ended}
        case _:
            assert_never(told.screen)
