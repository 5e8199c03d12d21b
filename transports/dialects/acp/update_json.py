"""Updates, settings and permission requests as ACP writes them. Pure."""

from collections.abc import Sequence
from typing import assert_never

from transports.dialects.acp import updates as u
from transports.dialects.kit.moments import moment
from transports.jsonrpc import JsonObject

VOICES = {"user": "user_message_chunk", "agent": "agent_message_chunk", "thought": "agent_thought_chunk"}


def write_update(update: u.Update, *, notices: bool = False) -> list[JsonObject]:
    """Write an update, a user's message as one for each of its blocks.

    `notices`: the client shows notices; others get a message.
    """
    match update:
        case u.MessagePiece(voice, item, text):
            return [_chunk(voice, item, u.TextContent(text))]
        case u.UserMessage(item, blocks):
            return [_chunk("user", item, message_block) for message_block in blocks]
        case u.Remark(severity, text, item):
            if notices:
                return [{"sessionUpdate": "notice", "severity": severity, "title": text}]
            return [_chunk("agent", item, u.TextContent(text))]
        case u.ToolUpdate():
            kind = "tool_call" if update.first else "tool_call_update"
            return [{"sessionUpdate": kind, **tool(update)}]
        case u.PlanEntries(steps):
            entries = [{"content": step.text, "priority": "medium", "status": step.status} for step in steps]
            return [{"sessionUpdate": "plan", "entries": entries}]
        case u.ContextUse(used, size, usd):
            cost = {} if usd is None else {"cost": {"amount": usd, "currency": "USD"}}
            return [{"sessionUpdate": "usage_update", "used": used, "size": size, **cost}]
        case u.SessionTitle(title, updated):
            return [{"sessionUpdate": "session_info_update", "title": title, "updatedAt": moment(updated)}]
        case u.Commands(commands):
            command_list = [_command(command) for command in commands]
            return [{"sessionUpdate": "available_commands_update", "availableCommands": command_list}]
        case u.Options(options):
            return [{"sessionUpdate": "config_option_update", "configOptions": config_options(options)}]
        case u.Mode(mode):
            return [{"sessionUpdate": "current_mode_update", "currentModeId": mode}]
        case _:
            assert_never(update)


def _chunk(voice: u.Voice, item: str, message_block: u.Block) -> JsonObject:
    return {"sessionUpdate": VOICES[voice], "content": block(message_block), "messageId": item}


def tool(update: u.ToolUpdate) -> JsonObject:
    """The members of a call, without its kind of update: a question has them, too."""
    members: JsonObject = {
        "title": update.title,
        "kind": update.kind,
        "status": update.status,
        "content": None if update.content is None else [item for part in update.content for item in content(part)],
        "locations": None if update.places is None else list(map(_location, update.places)),
        "rawInput": update.raw_input,
        "rawOutput": update.raw_output,
        "_meta": None if update.screen is None else _screen(update.call, update.screen),
    }
    return {"toolCallId": update.call, **{name: value for name, value in members.items() if value is not None}}


def block(message_block: u.Block) -> JsonObject:
    match message_block:
        case u.TextContent(text):
            return {"type": "text", "text": text}
        case u.Picture(mime, data):
            return {"type": "image", "mimeType": mime, "data": data}
        case u.ResourceLink(name, uri):
            return {"type": "resource_link", "name": name, "uri": uri}
        case _:
            assert_never(message_block)


def config_options(options: Sequence[u.Option]) -> list[JsonObject]:
    return [
        {
            "id": option.id,
            "name": option.name,
            **({"description": option.description} if option.description else {}),
            **({"category": option.category} if option.category else {}),
            "type": "select",
            "currentValue": option.value,
            "options": [{"value": choice.value, **_name_members(choice)} for choice in option.choices],
        }
        for option in options
    ]


def modes(options: Sequence[u.Option]) -> JsonObject | None:
    """The mode's option, for clients that show modes but no options."""
    mode = next((option for option in options if option.category == "mode"), None)
    if mode is None:
        return None
    available = [{"id": choice.value, **_name_members(choice)} for choice in mode.choices]
    return {"currentModeId": mode.value, "availableModes": available}


def settings(options: Sequence[u.Option]) -> JsonObject:
    return {"modes": modes(options), "configOptions": config_options(options)}


def permission(session: str, update: u.ToolUpdate, options: list[JsonObject]) -> JsonObject:
    """Params of `session/request_permission`."""
    return {"sessionId": session, "toolCall": tool(update), "options": options}


def _name_members(choice: u.OptionValue) -> JsonObject:
    return {"name": choice.name, **({"description": choice.description} if choice.description else {})}


def _command(command: u.SlashCommand) -> JsonObject:
    hint = {"input": {"hint": command.hint}} if command.hint else {}
    return {"name": command.name, "description": command.description, **hint}


def content(part: u.Content) -> list[JsonObject]:
    match part:
        case u.TextContent():
            return [{"type": "content", "content": block(part)}]
        case u.FileDiff(path, old, new):
            return [{"type": "diff", "path": path, "oldText": old, "newText": new}]
        case u.TerminalContent(terminal):
            return [{"type": "terminal", "terminalId": terminal}]
        case _:
            assert_never(part)


def _location(location: u.Location) -> JsonObject:
    return {"path": location.path} if location.line is None else {"path": location.path, "line": location.line}


def _screen(terminal: str, news: u.ScreenNews) -> JsonObject:
    """The news of a terminal, as Zed's own adapters write them for clients with `_meta.terminal_output`."""
    match news:
        case u.ScreenBegan(cwd):
            return {"terminal_info": {"terminal_id": terminal, "cwd": cwd}}
        case u.ScreenWrote(text):
            return {"terminal_output": {"terminal_id": terminal, "data": text}}
        case u.ScreenEnded(exit_code):
            return {"terminal_exit": {"terminal_id": terminal, "exit_code": exit_code, "signal": None}}
        case _:
            assert_never(news)
