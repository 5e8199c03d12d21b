"""ACP's side of the bridge: the answer to `initialize`, the client's open sessions, and its place in each.

A prompt outlives its daemon. The next daemon is told to read each session on from its place, so that the client sees
nothing but a pause. Pure; imports only the bridge and the table of the introduction.
"""

from __future__ import annotations

from transports.bridge.messages import identity, notification, parse_message
from transports.bridge.outstanding import NOTIFICATION
from transports.dialects.acp.introduction import authentication_result, introduction

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from collections.abc import Iterable

    from transports.bridge.messages import Id, Message

CANCEL = "$/cancel_request"
CANCELLED = NOTIFICATION + f'"{CANCEL}"'.encode()
UPDATE = NOTIFICATION + b'"session/update","params":{"sessionId":"'
MESSAGES_OF_AGENTS = (b'"agent_message_chunk"', b'"agent_thought_chunk"')
KIND_BYTES = 64  # the first bytes of an update, which contain its kind
META = b',"_meta":'  # the last of the params
META_BYTES = 256
ENDS = b"}}\n"  # of the params and the message
PROMPT = "session/prompt"
ATTACH = "_greenroom/attach"
MESSAGES = 64  # messages of a session with a known length; far more than can be unfinished at a time


class ReadingPosition:
    """A client's place in a session: the last event it has, and how much it has of each message.

    `running`: a turn runs, by the client's knowledge.
    """

    __slots__ = ("after", "running", "shown")

    def __init__(self) -> None:
        self.after = 0
        self.running = False
        self.shown: dict[str, int] = {}

    def add(self, message: str, characters: int) -> None:
        self.shown[message] = self.shown.pop(message, 0) + characters
        if len(self.shown) > MESSAGES:
            del self.shown[next(iter(self.shown))]


class AcpReplay:
    server = "ACP agent"
    handshake = "initialize"

    def __init__(self, program: str) -> None:
        """`program`: our version."""
        self._program = program
        self._open: dict[str, list[object]] = {}  # sessions, with the client's MCP servers for each
        self._places: dict[str, ReadingPosition] = {}

    # --- the client's messages ------------------------------------------------------------------------------------

    def answer_at_once(self, request: Message) -> Message | None:
        params = request.get("params")
        if request.get("jsonrpc", "2.0") != "2.0" or not isinstance(params, dict):
            return None
        method, result = request["method"], None
        if method == self.handshake:
            result = introduction(params, self._program)
        elif method == "authenticate":
            result = authentication_result(params)
        return None if result is None else {"result": result}

    def answer_alone(self, _: Message) -> Message | None:
        return None

    def outlives(self, request: Message) -> bool:
        return bool(request["method"] == PROMPT)

    def keep(self, message: Message) -> Message | None:
        match message:
            case {
                "method": "session/new" | "session/load" | "session/resume" | "session/fork" as method,
                "params": dict(params),
            }:
                servers = params.get("mcpServers")
                listed = servers if isinstance(servers, list) else []
                return {"method": method, "session": params.get("sessionId"), "servers": listed}
            case {
                "method": "session/prompt" | "session/cancel" | "session/delete" | "session/close" as method,
                "params": {"sessionId": str(session)},
            }:
                return {"method": method, "session": session}
            case {"method": "$/cancel_request", "params": params}:
                return {"method": CANCEL, "request": identity(params, "requestId")}
            case _:
                return None

    def note_sent(self, kept: Message, requests: dict[Id, Message]) -> None:  # noqa: ARG002  # a protocol
        match kept:
            case {"method": "initialize"}:  # a client that introduces itself again has nothing open
                self._open.clear()
                self._places.clear()
            case {"method": "session/load", "session": str(session)}:  # its history is sent from the beginning
                kept["place"] = self._places.pop(session, None)
            case _:
                pass

    def follows(self, kept: Message, requests: dict[Id, Message]) -> list[Id]:
        match kept:
            case {"method": "session/cancel", "session": session}:
                prompts = (
                    (number, request) for number, request in requests.items() if request.get("method") == PROMPT
                )
                return [number for number, request in prompts if request["session"] == session]
            case {"method": "$/cancel_request", "request": number}:
                return [number]
            case _:
                return []

    # --- the daemon's messages ------------------------------------------------------------------------------------

    def note_answer(self, kept: Message, answer: Message) -> None:
        match kept, answer:
            case {"method": "session/new" | "session/fork"}, {"result": {"sessionId": str(session)}}:
                self._open[session] = kept["servers"]
            case {"method": "session/load" | "session/resume", "session": str(session)}, {"result": _}:
                self._open[session] = kept["servers"]
            case {"method": "session/load", "session": str(session), "place": ReadingPosition() as before}, _:
                self._places.setdefault(session, before)
            case {"method": "session/delete" | "session/close", "session": session}, {"result": _}:
                self._forget(session)
            case {"method": "_greenroom/attach"}, {"error": {"code": -32002}}:  # the session does not exist any more
                self._forget(kept["params"]["sessionId"])
            case _:
                pass

    def _forget(self, session: str) -> None:
        self._open.pop(session, None)
        self._places.pop(session, None)

    def read_notification(self, line: bytes, requests: dict[Id, Message]) -> Id | None:  # noqa: ARG002  # a protocol
        if line.startswith(UPDATE):
            self._follow(line)
        elif line.startswith(CANCELLED):
            return identity(parse_message(line).get("params"), "requestId")
        return None

    def _follow(self, line: bytes) -> None:
        """Note how far an update takes its reader. Only messages are parsed wholly, others at their end."""
        session, _, update = line[len(UPDATE) : len(UPDATE) + KIND_BYTES * 3].partition(b'"')
        place = self._places.get(session.decode())
        if place is None:
            place = self._places[session.decode()] = ReadingPosition()
        match _meta(line):
            case {"greenroom": {"seq": int(seq), **more}}:
                place.after, place.running = seq, more.get("running") is True
            case _:
                pass
        if any(kind in update[:KIND_BYTES] for kind in MESSAGES_OF_AGENTS):
            match parse_message(line):
                case {"params": {"update": {"messageId": str(message), "content": {"text": str(text)}}}}:
                    place.add(message, len(text))
                case _:
                    pass

    # --- changes of daemon ------------------------------------------------------------------------------------------

    def awaits_end(self) -> bool:
        """True if a turn runs whose end the client expects, no matter which client began it."""
        return any(place.running for session, place in self._places.items() if session in self._open)

    def explain_loss(self, _: Message, error: Message) -> Message:
        return error

    def loss_messages(self, questions: Iterable[Id], _: str) -> list[Message]:
        return [notification(CANCEL, {"requestId": number}) for number in questions]

    def replayed_messages(self) -> list[Message]:
        return [
            {"jsonrpc": "2.0", "id": 0, "method": ATTACH, "params": self._attachment(session, servers)}
            for session, servers in self._open.items()
        ]

    def _attachment(self, session: str, servers: list[object]) -> Message:
        place = self._places.get(session) or ReadingPosition()
        return {"sessionId": session, "after": place.after, "shown": place.shown, "mcpServers": servers}


def _meta(line: bytes) -> object:
    """The `_meta` of the params, which our own encoder puts last; any other line is parsed wholly."""
    at = line.rfind(META, max(0, len(line) - META_BYTES))
    if at >= 0 and line.endswith(ENDS):
        meta = parse_message(line[at + len(META) : -len(ENDS)])
        if meta:  # a deeper `_meta` has more brackets after it, and can't be parsed alone
            return meta
    params = parse_message(line).get("params")
    return params.get("_meta") if isinstance(params, dict) else None
