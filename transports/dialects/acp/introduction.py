"""The answer to `initialize`: the version, our abilities, the ways to log in. Pure.

Standard library alone, since the bridge gives this answer before there is a daemon; the daemon's has the same bytes.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from transports.bridge.messages import Message

VERSION = 1
LARGEST = (1 << 16) - 1  # the largest version number that the schema allows
LOGIN = "greenroom-login"  # the id of our only method to authenticate
NAME = "Set up a model or an agent"
ASKS = "Asks for a provider's key, or starts an agent's own login, in a terminal."
ELSEWHERE = "Run `greenroom login` in a terminal, for a provider's key or an agent's own login."
META = {"steering": {"supported": True}, "greenroom": {"cursor": True, "ifBusy": ["steer", "enqueue", "reject"]}}


def introduction(params: Message, program: str) -> Message | None:
    """The result of `initialize`; None if the params are invalid. `program`: our program's version."""
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= LARGEST:
        return None
    return {
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "embeddedContext": True},
            "mcpCapabilities": {"http": True},
            "sessionCapabilities": {
                "list": {},
                "resume": {},
                "fork": {},
                "delete": {},
                "additionalDirectories": {},
            },
        },
        "agentInfo": {"name": "greenroom", "title": "Greenroom", "version": program},
        "authMethods": [_login(params)],
        "_meta": META,
    }


def authentication_result(params: Message) -> Message | None:
    """The result of authenticating, which does nothing, as we have no accounts. None: an unknown method."""
    return {} if params.get("methodId") == LOGIN else None


def _login(params: Message) -> Message:
    """The way to log in. Only some clients start us in a terminal; the others show what to start there."""
    members = params.get("clientCapabilities")
    auth = members.get("auth") if isinstance(members, dict) else None
    terminal = auth.get("terminal") if isinstance(auth, dict) else None
    if terminal is True:
        return {"type": "terminal", "id": LOGIN, "name": NAME, "description": ASKS, "args": ["login"]}
    return {"type": "agent", "id": LOGIN, "name": NAME, "description": ELSEWHERE}
