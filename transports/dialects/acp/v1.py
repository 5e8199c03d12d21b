"""Updates, settings and sessions as version 1 of ACP writes them. Pure."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import assert_never

from transports.dialects.acp import updates as u
from transports.jsonrpc import JsonObject

VOICES = {"user": "user_message_chunk", "agent": "agent_message_chunk", "thought": "agent_thought_chunk"}


def written(update: u.Update, *, notices: bool = False) -> list[JsonObject]:
    """Write an update, which may take several or none. `notices`: the client shows notices; others get a message."""
    match update:
        case u.Said(voice, item, text):
            return [_chunk(voice, item, u.Text(text))]
        case u.Message(voice, item, blocks):
            return [_chunk(voice, item, one) for one in blocks]
        case u.Remark(severity, text, item):
            if notices:
                return [{"sessionUpdate": "notice", "severity": severity, "title": text}]
            return [_chunk("agent", item, u.Text(text))]
        case u.Tool():
            kind = "tool_call" if update.first else "tool_call_update"
            return [{"sessionUpdate": kind, **tool(update)}]
        case u.Plan(steps):
            entries = [{"content": one.text, "priority": "medium", "status": one.status} for one in steps]
            return [{"sessionUpdate": "plan", "entries": entries}]
        case u.Used(used, size, usd):
            cost = {} if usd is None else {"cost": {"amount": usd, "currency": "USD"}}
            return [{"sessionUpdate": "usage_update", "used": used, "size": size, **cost}]
        case u.Named(title, updated):
            return [{"sessionUpdate": "session_info_update", "title": title, "updatedAt": moment(updated)}]
        case u.Commands(commands):
            listed = [_command(one) for one in commands]
            return [{"sessionUpdate": "available_commands_update", "availableCommands": listed}]
        case u.Options(options):
            return [{"sessionUpdate": "config_option_update", "configOptions": config_options(options)}]
        case u.Mode(mode):
            return [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]
        case u.Working():
            return []
        case _:
            assert_never(update)


def _chunk(voice: u.Voice, item: str, said: u.Block) -> JsonObject:
    return {"sessionUpdate": VOICES[voice], "content": block(said), "messageId": item}


def tool(told: u.Tool) -> JsonObject:
    """Write a call without saying whether it is new: a question has it, too."""
    given: JsonObject = {
        "title": told.title,
        "kind": told.kind,
        "status": told.status,
        "content": None if told.content is None else [part for one in told.content for part in content(one)],
        "locations": None if told.places is None else list(map(_location, told.places)),
        "rawInput": told.raw_input,
        "rawOutput": told.raw_output,
        "_meta": None if told.screen is None else _screen(told.call, told.screen),
    }
    return {"toolCallId": told.call, **{name: value for name, value in given.items() if value is not None}}


def block(said: u.Block) -> JsonObject:
    match said:
        case u.Text(text):
            return {"type": "text", "text": text}
        case u.Picture(mime, data):
            return {"type": "image", "mimeType": mime, "data": data}
        case u.Link(name, uri):
            return {"type": "resource_link", "name": name, "uri": uri}
        case _:
            assert_never(said)


def config_options(options: Sequence[u.Option]) -> list[JsonObject]:
    return [
        {
            "id": one.id,
            "name": one.name,
            **({"description": one.description} if one.description else {}),
            **({"category": one.category} if one.category else {}),
            "type": "select",
            "currentValue": one.value,
            "options": [{"value": each.value, **_named(each)} for each in one.choices],
        }
        for one in options
    ]


def modes(options: Sequence[u.Option]) -> JsonObject | None:
    """The option of the mode as clients know it that have no options."""
    mode = next((one for one in options if one.category == "mode"), None)
    if mode is None:
        return None
    available = [{"id": each.value, **_named(each)} for each in mode.choices]
    return {"currentModeId": mode.value, "availableModes": available}


def settings(options: Sequence[u.Option]) -> JsonObject:
    return {"modes": modes(options), "configOptions": config_options(options)}


def permission(session: str, told: u.Tool, options: list[JsonObject]) -> JsonObject:
    """Params of `session/request_permission`."""
    return {"sessionId": session, "toolCall": tool(told), "options": options}


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _named(one: u.Choice) -> JsonObject:
    return {"name": one.name, **({"description": one.description} if one.description else {})}


def _command(one: u.Command) -> JsonObject:
    hint = {"input": {"hint": one.hint}} if one.hint else {}
    return {"name": one.name, "description": one.description, **hint}


def content(one: u.Content) -> list[JsonObject]:
    match one:
        case u.Text():
            return [{"type": "content", "content": block(one)}]
        case u.FileDiff(path, old, new):
            return [{"type": "diff", "path": path, "oldText": old, "newText": new}]
        case u.Screen(terminal):
            return [{"type": "terminal", "terminalId": terminal}]
        case _:
            assert_never(one)


def _location(one: u.Location) -> JsonObject:
    return {"path": one.path} if one.line is None else {"path": one.path, "line": one.line}


def _screen(terminal: str, news: u.ScreenNews) -> JsonObject:
    """Write the news of a terminal as Zed's own adapters do for clients that say `_meta.terminal_output`."""
    match news:
        case u.ScreenBegan(cwd):
            return {"terminal_info": {"terminal_id": terminal, "cwd": cwd}}
        case u.ScreenWrote(text):
            return {"terminal_output": {"terminal_id": terminal, "data": text}}
        case u.ScreenEnded(exit_code):
            return {"terminal_exit": {"terminal_id": terminal, "exit_code": exit_code, "signal": None}}
        case _:
            assert_never(news)
