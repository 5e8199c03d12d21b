"""The settings of this dialect: from the config, and from the hello of the bridge. A leaf."""

import secrets
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from transports.dialects.mcp.protocol.introduction import LISTED_TOOLS
from transports.supervisor_requests import Person

NOTHING_SET = Person()
Twins = Literal["auto"] | bool


class McpOptions(Struct, frozen=True):
    version: str = "0.0.0"  # of our program, for serverInfo
    tools: tuple[str, ...] = LISTED_TOOLS
    twin_notifications: Twins = False
    answer_cancelled: bool = True
    stream_meta: bool = False
    gone_s: float | None = None  # how long a caller may be gone before its turn is ended; None: for ever
    progress_seconds: float = 10.0
    requests_in_flight: int = 64
    subscriptions: int = 256  # conversations that one connection may read
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32))  # seals the state that clients keep for us
    bridge: str = ""  # the unique name of the bridge's process
    first_question: int = 0  # the id of our first request to the client; Codex's clients expect 0
    person: Person = NOTHING_SET  # the bridge's own arguments


def with_hello(options: McpOptions, said: Mapping[str, object]) -> McpOptions:
    """The options with the hello's `defaults`, `bridge` and `first_question`; values of a wrong type are ignored."""
    bridge = said.get("bridge")
    if isinstance(bridge, str):
        options = replace(options, bridge=bridge)
    first = said.get("first_question")
    if isinstance(first, int) and first > 0:
        options = replace(options, first_question=first)
    defaults = said.get("defaults")
    if not isinstance(defaults, Mapping):
        return options
    names = ("agent", "model", "profile", "cwd", "approval_policy", "sandbox")
    texts = {name: defaults[name] for name in names if isinstance(defaults.get(name), str)}
    config = defaults.get("config")
    return replace(options, person=Person(**texts, config=config if isinstance(config, Mapping) else {}))
