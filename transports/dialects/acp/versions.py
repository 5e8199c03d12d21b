"""The versions of ACP, each with the functions that write it."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from transports.dialects.acp import v1, v2
from transports.dialects.acp.introduction import FIRST, SECOND
from transports.dialects.acp.updates import Option, ToolUpdate
from transports.jsonrpc import JsonObject


class Version(Struct, frozen=True):
    """The functions that write one version, and the rules that differ."""

    write_update: Callable[..., list[JsonObject]]
    settings: Callable[[Sequence[Option]], JsonObject]
    config_options: Callable[[Sequence[Option]], list[JsonObject]]
    permission: Callable[[str, ToolUpdate, list[JsonObject]], JsonObject]
    answers_at_the_end: bool = True  # a prompt, at its turn's end; else when its message has its place
    echoes: bool = False  # sends the client its own messages
    describes_first: bool = False  # a resumed session's state precedes the answer


VERSIONS: Mapping[int, Version] = {
    FIRST: Version(v1.write_update, v1.settings, v1.config_options, v1.permission),
    SECOND: Version(
        v2.write_update,
        v2.settings,
        v2.config_options,
        v2.permission,
        answers_at_the_end=False,
        echoes=True,
        describes_first=True,
    ),
}
