"""The versions of ACP that are spoken, and what writes each."""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from transports.dialects.acp import v1, v2
from transports.dialects.acp.introduction import FIRST, SECOND
from transports.dialects.acp.updates import Option, Tool
from transports.jsonrpc import JsonObject


class Version(Struct, frozen=True):
    """`written`: an update, as several or none. `settings`: those of a session that is opened."""

    written: Callable[..., list[JsonObject]]
    settings: Callable[[Sequence[Option]], JsonObject]
    config_options: Callable[[Sequence[Option]], list[JsonObject]]
    permission: Callable[[str, Tool, list[JsonObject]], JsonObject]
    answers_at_the_end: bool = True  # a prompt; else when its message has its place in the session
    echoes: bool = False  # the client's own words
    describes_first: bool = False  # the state of a session that is resumed stands before the answer


VERSIONS: Mapping[int, Version] = {
    FIRST: Version(v1.written, v1.settings, v1.config_options, v1.permission),
    SECOND: Version(
        v2.written,
        v2.settings,
        v2.config_options,
        v2.permission,
        answers_at_the_end=False,
        echoes=True,
        describes_first=True,
    ),
}
