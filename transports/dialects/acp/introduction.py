"""The answer to `initialize`: the version, our abilities, the ways to log in. Pure.

Standard library alone, since the bridge gives this answer before there is a daemon; the daemon's has the same bytes.
"""

from __future__ import annotations

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from transports.bridge.messages import Message

FIRST, SECOND = 1, 2
LATEST_STABLE = FIRST
LARGEST = (1 << 16) - 1  # the largest version number that the schema allows
LOGIN = "greenroom-login"  # the id of our only method to authenticate
METHODS_TO_AUTHENTICATE = ("authenticate", "auth/login")  # in version 1 and in version 2
NAME = "Set up a model or an agent"
ASKS = "Asks for a provider's key, or starts an agent's own login, in a terminal."
ELSEWHERE = "Run `greenroom login` in a terminal, for a provider's key or an agent's own login."
META = {"steering": {"supported": True}, "greenroom": {"cursor": True, "ifBusy": ["steer", "enqueue", "reject"]}}


def agreed_version(params: Message, *, v2: bool) -> int | None:
    """The client's version if we speak it, else our latest; None if the client names none. `v2`: speak it, too."""
    wanted = params.get("protocolVersion")
    if not isinstance(wanted, int) or isinstance(wanted, bool) or not 0 <= wanted <= LARGEST:
        return None
    latest = SECOND if v2 else LATEST_STABLE
    return wanted if FIRST <= wanted <= latest else latest


def introduction(params: Message, program: str, *, v2: bool) -> Message | None:
    """The result of `initialize`; None if the params are invalid. `program`: our program's version."""
    version = agreed_version(params, v2=v2)
    if version is None:
        return None
    info = {"name": "greenroom", "title": "Greenroom", "version": program}
    if version == FIRST:
        return {
            "protocolVersion": version,
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
            "agentInfo": info,
            "authMethods": [_login(params, "id", "clientCapabilities")],
            "_meta": META,
        }
    return {
        "protocolVersion": version,
        "info": info,
        "capabilities": {
            "session": {
                "prompt": {"image": {}, "embeddedContext": {}},
                "mcp": {"stdio": {}, "http": {}},
                "delete": {},
                "fork": {},
                "additionalDirectories": {},
            },
        },
        "authMethods": [_login(params, "methodId", "capabilities")],
        "_meta": META,
    }


def authentication_result(params: Message) -> Message | None:
    """The result of authenticating, which does nothing, as we have no accounts. None: an unknown method."""
    return {} if LOGIN in (params.get("methodId"), params.get("id")) else None


def _login(params: Message, identity: str, capabilities: str) -> Message:
    """The way to log in. Only some clients start us in a terminal; the others show what to start there."""
    members = params.get(capabilities)
    auth = members.get("auth") if isinstance(members, dict) else None
    terminal = auth.get("terminal") if isinstance(auth, dict) else None
    if terminal is True or isinstance(terminal, dict):
        return {"type": "terminal", identity: LOGIN, "name": NAME, "description": ASKS, "args": ["login"]}
    return {"type": "agent", identity: LOGIN, "name": NAME, "description": ELSEWHERE}
