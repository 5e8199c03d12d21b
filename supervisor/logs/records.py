"""The redaction of log records, as the last step before they are written.

Secrets are never shown; words of people and models, and contents of files, at debug only. Pure; any thread.
"""

from collections.abc import Mapping
from enum import Enum
from pathlib import PurePath

from structlog.typing import EventDict, WrappedLogger

from supervisor.logs.redaction import REDACTED, names_a_secret, scrub

# Fields with the words of people and models, or the contents of files and commands.
CONTENT = frozenset(
    {
        *("prompt", "text", "content", "contents", "items", "item", "input", "arguments", "message", "messages"),
        *("delta", "body", "output", "stdout", "stderr", "aggregated_output", "patch", "diff", "unified_diff"),
        *("command", "argv", "cmd", "instructions", "base_instructions", "reasoning", "preview", "explanation"),
        *("last_agent_message", "plan", "changes", "payload", "frame", "line", "params", "result", "image_url"),
    }
)
# Of an environment only the names are shown, which explain most failures.
ENVIRONMENTS = frozenset({"env", "environ", "environment"})
_FIRST = ("ts", "level", "event", "logger")  # the fields that a reader looks for
_DEEP = 6
_LONG = 8_192
_MANY = 100
_CONTROL = {code: f"\\x{code:02x}" for code in (*range(32), 127, *range(128, 160)) if code not in (9, 10)}


def redact(_logger: WrappedLogger, level: str, record: EventDict) -> EventDict:
    """Redact a record; a structlog processor. A record from the standard library has its level in itself."""
    open_to_content = str(record.get("level", level)) == "debug"
    ordered = {**{key: record[key] for key in _FIRST if key in record}, **record}
    return {str(key): _field(str(key), value, open_to_content, 0) for key, value in ordered.items()}


def _field(name: str, value: object, content: bool, depth: int) -> object:
    plain = name.lower().replace("-", "_")
    if plain in ENVIRONMENTS:
        return sorted(_text(str(key)) for key in value) if isinstance(value, Mapping) else REDACTED
    if plain == "exception":
        return _text(str(value)[-_LONG:])  # the end of a traceback says the most
    if names_a_secret(name):
        return _redacted_value(value)
    if plain in CONTENT and not content:
        return _size(value)
    return _value(value, content, depth)


def _value(value: object, content: bool, depth: int) -> object:
    match value:
        case None | bool() | float():
            return value
        case int():
            return int(value) if value.bit_length() < 128 else "<large int>"
        case str():
            return _text(value.value if isinstance(value, Enum) else value)
        case bytes() | bytearray() | memoryview():
            return _size(bytes(value))
        case PurePath():
            return _text(str(value))
        case BaseException():
            return _text(f"{type(value).__name__}: {value}")
        case _ if depth >= _DEEP:
            return f"<{type(value).__name__}>"
        case Mapping():
            pairs = list(value.items())[:_MANY]
            return {_text(str(key)): _field(str(key), each, content, depth + 1) for key, each in pairs}
        case list() | tuple() | set() | frozenset():
            return [_value(each, content, depth + 1) for each in list(value)[:_MANY]]
        case _:
            # An event or a message of our own: its repr is content.
            return _text(repr(value)) if content else f"<{type(value).__name__}>"


def _redacted_value(value: object) -> object:
    """The value without its secret. Numbers are kept: `tokens=1200` is a count."""
    match value:
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {
                _text(str(key)): each if isinstance(each, (int, float)) else REDACTED for key, each in value.items()
            }
        case _:
            return REDACTED


def _size(value: object) -> str:
    match value:
        case str():
            return f"<{len(value)} characters>"
        case bytes():
            return f"<{len(value)} bytes>"
        case Mapping() | list() | tuple():
            return f"<{len(value)} items>"
        case _:
            return f"<{type(value).__name__}>"


def _text(text: str) -> str:
    # Cut twice: scrubbing a long text is slow, and a secret that the first cut halves is removed by the second.
    clean = scrub(text[: 2 * _LONG])
    if len(text) > _LONG:
        clean = f"{clean[:_LONG]}… <{len(text)} characters>"
    return clean.translate(_CONTROL)
