"""What the bridge must know of the lines it moves: the handshake to replay, and the requests open on either side.

Pure; standard library only, and little of that: json is loaded with the first message. A line is entered when its
first byte goes to a daemon, so what was never sent is not in here. Of the daemon's lines only those are parsed that
may be an answer, a request, or the withdrawal of one.
"""

from __future__ import annotations

from transports.lasting import Lasting
from transports.streams import Listeners, Streams

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

NOTIFICATION = b'{"jsonrpc":"2.0","method":'  # how our own encoder begins what has no id, and nothing else
CANCELLED = "notifications/cancelled"
WITHDRAWAL = NOTIFICATION + f'"{CANCELLED}"'.encode()
CONFIGURED = NOTIFICATION + b'"codex/event"'  # the first of a call tells its conversation
HEAD_BYTES = 512  # of such a line, in which its type stands
DISCONNECTED = "notifications/stream_disconnected"
STREAM_END = NOTIFICATION + f'"{DISCONNECTED}"'.encode()
GONE = -31302  # errors.ActorGone, which is too expensive to import here
REPLAYED = "greenroom/replayed-"  # how ids of our own begin: the client may use its old ones again
REPLAY = f"{REPLAYED}initialize"
TRIES = 3  # daemons that may go down over one initialize; a client that hears an error there gives the server up


class Ledger:
    def __init__(self) -> None:
        self._initialize: dict[str, Any] | None = None
        self._initialized: bytes | None = None
        self._greeted = False  # the initialize was answered
        self._tries = 0
        self._lasting = Lasting()
        self._streams = Streams()
        self._listeners = Listeners()
        self._open: dict[str, Any] = {}  # requests of the client, by their id as JSON: 1 and "1" differ
        self._asked: dict[str, Any] = {}  # requests of the daemon
        self._threads: dict[str, str] = {}  # of these requests, the conversation that they are about
        self._withdrawn: set[str] = set()  # of an earlier daemon: an answer to these is for nobody
        self._first_question = 0  # beyond all that daemons have asked under numbers

    @property
    def waiting(self) -> int:
        """Requests of the client that were sent and are not answered."""
        return len(self._open)

    @property
    def handshaking(self) -> bool:
        """An initialize was sent, and is still to be answered by whichever daemon."""
        return self._initialize is not None and not self._greeted

    # --- lines ----------------------------------------------------------------------------------------------------

    def sent(self, line: bytes) -> None:
        """The line begins to leave for the daemon."""
        message = parsed(line)
        method = message.get("method")
        if method == "initialize":
            self._initialize, self._initialized = message, None
            self._greeted, self._tries = False, 1
            self._lasting.forget()
        elif method == "notifications/initialized":
            self._initialized = line
        if is_request(message):
            self._open[_key(message)] = message["id"]
            self._note_thread(_key(message), _named(message))
            self._lasting.asked(_key(message), message)
            self._streams.asked(_key(message), message)
            self._listeners.asked(_key(message), message)
        elif method == CANCELLED:
            self._streams.cancelled(_key_of(message.get("params"), "requestId"))
        elif method is None and "id" in message:
            self._asked.pop(_key(message), None)

    def is_stale(self, line: bytes) -> bool:
        """An answer to a question that went with the daemon that asked it."""
        if not self._withdrawn:
            return False
        message = parsed(line)
        key = _key(message)
        return "method" not in message and key in self._withdrawn and key not in self._asked

    def received(self, line: bytes) -> bool:
        """Whether the client is to see it: the answer to what we replayed is for us."""
        if line.startswith(NOTIFICATION):
            if line.startswith(WITHDRAWAL):  # of a question, which its client does not answer then
                self._asked.pop(_key_of(parsed(line).get("params"), "requestId"), None)
            elif line.startswith(CONFIGURED) and b'"session_configured"' in line[:HEAD_BYTES]:
                meta = _member(_member(parsed(line), "params"), "_meta")
                self._note_thread(_key_of(meta, "requestId"), _member(meta, "threadId"))
            elif line.startswith(STREAM_END):
                self._streams.ended(_member(_member(parsed(line).get("params"), "_meta"), "conversationId"))
            return True
        message = parsed(line)
        number = message.get("id")
        if isinstance(number, str) and number.startswith(REPLAYED):
            return False
        if is_request(message):
            self._asked[_key(message)] = message["id"]
            if isinstance(number, int):
                self._first_question = max(self._first_question, number + 1)
        elif "id" in message:
            self._answered(_key(message), message)
        return True

    def _note_thread(self, key: str, thread: object) -> None:
        if isinstance(thread, str) and key in self._open:
            self._threads[key] = thread

    def _answered(self, key: str, message: dict[str, Any]) -> None:
        self._open.pop(key, None)
        self._threads.pop(key, None)
        self._lasting.answered(key, granted="result" in message)
        self._streams.answered(key, message)
        self._listeners.answered(key, message)
        if self._initialize is not None and key == _key(self._initialize):
            self._greeted = True

    def hello(self, first: bytes) -> bytes:
        """Asks the next daemon to count on: then no answer can be taken for one to another daemon's question."""
        if not self._first_question:
            return first
        said = parsed(first).get("greenroom")
        if not isinstance(said, dict):
            return first
        return _line({"greenroom": {**said, "first_question": self._first_question}})

    # --- daemons come and go --------------------------------------------------------------------------------------

    def lost(self, why: str, code: str = "daemon_restarted") -> list[bytes]:
        """The daemon is gone: what to tell the client. Nothing stays open but an initialize that we say again."""
        if self.handshaking and self._initialize is not None:
            if self._tries < TRIES:
                self._open.pop(_key(self._initialize), None)
            else:
                self._initialize = None
        told = [
            _line({"jsonrpc": "2.0", "id": number, "error": unreachable(why, code, self._threads.get(key))})
            for key, number in self._open.items()
        ]
        told += [_notification(CANCELLED, {"requestId": n, "reason": why}) for n in self._asked.values()]
        told += [
            _notification(DISCONNECTED, {"_meta": {"conversationId": c}, "reason": why}) for c in self._streams.lost()
        ]
        told += [_warning(f"{c} can't be listened to any more: {why}") for c in self._unheard()]
        self._withdrawn.update(self._asked)
        self._open.clear()
        self._threads.clear()
        self._asked.clear()
        self._lasting.lost()
        return told

    def _unheard(self) -> list[str]:
        """The conversations of listeners, which have no way of their own to be told of an end."""
        lost = self._listeners.lost()
        return lost if self._lasting.wants_warnings else []

    def replay(self) -> list[bytes]:
        """What the next daemon has to hear first."""
        if self._initialize is None:
            return []
        if not self._greeted:
            self._tries += 1
            self._open[_key(self._initialize)] = self._initialize["id"]
            return [_line(self._initialize)]
        first = _line({**self._initialize, "id": REPLAY})
        said = [first] if self._initialized is None else [first, self._initialized]
        lasting = enumerate(self._lasting.all())
        return [*said, *(_line({**message, "id": f"{REPLAYED}{place}"}) for place, message in lasting)]

    def forget_handshake(self) -> list[bytes]:
        """No daemon will answer it: the requests that this leaves open, as lines."""
        if not self.handshaking or self._initialize is None:
            return []
        line = _line(self._initialize)
        self._initialize = None
        return [line]


# --- messages -------------------------------------------------------------------------------------------------------


def refusals(lines: Iterable[bytes], error: dict[str, Any]) -> list[bytes]:
    """The same error for every request among these lines, which no daemon will see."""
    return [
        _line({"jsonrpc": "2.0", "id": message["id"], "error": error})
        for message in map(parsed, lines)
        if is_request(message)
    ]


def unreachable(why: str, code: str = "daemon_unreachable", thread: str | None = None) -> dict[str, Any]:
    """`thread`: what was asked for has begun, and would begin anew if it were asked for again."""
    data: dict[str, Any] = {"code": code, "retryable": True}
    if thread is not None:
        why = f"{why}; this call's conversation is {thread}: continue it with codex-reply instead"
        data["threadId"] = thread
    return {"code": GONE, "message": why, "data": data}


def _named(message: dict[str, Any]) -> object:
    """The conversation that a call names by itself."""
    params = message.get("params")
    arguments = _member(params, "arguments")
    if message.get("method") != "tools/call" or _member(params, "name") != "codex-reply":
        return None
    names = ("sessionId", "threadId", "conversationId")
    return next((_member(arguments, name) for name in names if _member(arguments, name)), None)


def is_request(message: dict[str, Any]) -> bool:
    """One that will be answered under its own id."""
    number = message.get("id")
    return "method" in message and isinstance(number, int | str) and not isinstance(number, bool)


def parsed(line: bytes) -> dict[str, Any]:
    import json

    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}  # the daemon will say what is wrong with it
    return value if isinstance(value, dict) else {}


def result(number: object, value: dict[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "id": number, "result": value})


def _key(message: dict[str, Any]) -> str:
    return _key_of(message, "id")


def _key_of(value: Any, name: str) -> str:
    import json

    return json.dumps(_member(value, name))


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _warning(text: str) -> bytes:
    return _notification("notifications/message", {"level": "warning", "logger": "greenroom", "data": text})


def _notification(method: str, params: dict[str, Any]) -> bytes:
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def _line(value: dict[str, Any]) -> bytes:
    import json

    return json.dumps(value, separators=(",", ":")).encode() + b"\n"
