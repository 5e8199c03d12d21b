"""The state between a client and its daemons: the handshake, and the requests open on either side.

Pure but for the bridge's own name; standard library only. A line is entered when its first byte goes to a daemon, so
what was never sent is not in here. A client's line is parsed once; a daemon's only if the dialect needs what it says.
"""

from __future__ import annotations

import os

from transports.bridge.messages import identity, is_request, parsed, refusal, unreachable, written

TYPE_CHECKING = False  # loading typing costs more than all of the bridge
if TYPE_CHECKING:
    from transports.bridge.messages import Id, Message
    from transports.bridge.replay import Replay

NOTIFICATION = b'{"jsonrpc":"2.0","method":'  # how our own encoder begins what has no id, and nothing else
PRIVATE = NOTIFICATION + b'"notifications/greenroom/'  # of a daemon to its bridge alone
NUMBERED = b'{"jsonrpc":"2.0","id":'  # … and what has one
HEAD_BYTES = 512  # of a line, in which its id stands
OWN = "greenroom/replayed-"  # how ids of the bridge begin: the client may use its own ones again
KEYED = b'{"greenroom":{"key":"%s/%d"},'  # in place of the first brace of a request that outlives its daemon
DAEMONS = 10  # that may go down in a row without a word, before it is the fault of what they are started for
TRIES = 3  # daemons that may go down over one handshake; a client that hears an error there gives the server up


class Waiting:
    """A line of the client that is to be sent, and what of its message matters from then on."""

    __slots__ = ("answers", "asks", "begins", "introduces", "kept", "lasts", "line")

    def __init__(self, line: bytes, message: Message, replay: Replay) -> None:
        self.line = line
        self.introduces = False  # a handshake that is answered already: the next daemon hears it anyway
        self.lasts = False  # when its daemon goes it stays open, and is said again to the next one
        number = identity(message)
        self.asks = number if "method" in message else None
        self.answers = None if "method" in message else number
        self.begins = self.asks is not None and message["method"] == replay.handshake
        self.kept = message if self.begins else replay.keep(message)


class Outstanding:
    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._handshaking: Message | None = None  # the handshake that was sent and is not answered
        self._handshake: Message | None = None  # the handshake that was answered
        self._tries = 0
        self._requests: dict[Id, Message] = {}  # of the client, and what was kept of each
        self._lasting: dict[Id, bytes] = {}  # the lines of those that outlive a daemon, and of what followed on them
        self._own: dict[Id, Message] = {}  # the bridge's own requests to this daemon
        self._name = os.urandom(8).hex().encode()
        self._keys = 0
        self._silent = 0  # daemons in a row that went down over those lines
        self._questions: dict[Id, None] = {}  # requests of the daemon
        self._withdrawn: set[Id] = set()  # of an earlier daemon: an answer to these is for nobody
        self._first_question = 0  # beyond all that daemons have asked under numbers

    @property
    def requests(self) -> int:
        """Requests of the client that were sent and are not answered."""
        return len(self._requests)

    @property
    def handshaking(self) -> bool:
        """True if a handshake was sent and not answered by any daemon yet."""
        return self._handshaking is not None

    @property
    def unfinished(self) -> bool:
        """True if the client waits for what the next daemon can tell it, and daemons did not go down over it."""
        return bool(self._lasting) or (self._silent <= DAEMONS and self._replay.unfinished())

    # --- lines ----------------------------------------------------------------------------------------------------

    def waiting(self, line: bytes, message: Message) -> Waiting:
        """A line to be sent. A request that outlives its daemon gets a key, by which the next one knows it again."""
        waiting = Waiting(line, message, self._replay)
        if waiting.asks is not None and self._replay.outlives(message) and "greenroom" not in message:
            self._keys += 1
            waiting.lasts, waiting.line = True, KEYED % (self._name, self._keys) + line.lstrip()[1:]
        return waiting

    def introduced(self, handshake: Message) -> Waiting:
        """Enter a handshake that is answered already; returns how a daemon that is there hears of it."""
        self._handshaking, self._handshake = None, handshake
        self._replay.said(handshake, self._requests)
        waiting = Waiting(written({**handshake, "id": f"{OWN}{self._replay.handshake}"}), {}, self._replay)
        waiting.introduces = True
        return waiting

    def sent(self, waiting: Waiting) -> None:
        """Enter a line that begins to leave for the daemon."""
        if waiting.begins:
            self._handshaking, self._handshake, self._tries = waiting.kept, None, 1
        if waiting.asks is not None:
            self._requests[waiting.asks] = waiting.kept or {}
            if waiting.lasts:
                self._lasting[waiting.asks] = waiting.line
        elif waiting.answers is not None:
            self._questions.pop(waiting.answers, None)
        if waiting.kept is not None:
            self._replay.said(waiting.kept, self._requests)
            for number in self._replay.follows(waiting.kept, self._requests) if self._lasting else ():
                if number in self._lasting:
                    self._lasting[number] += waiting.line

    def is_stale(self, message: Message) -> bool:
        """True for an answer to a question of an earlier daemon."""
        number = identity(message)
        return "method" not in message and number in self._withdrawn and number not in self._questions

    def received(self, line: bytes) -> bool:
        """Enter a line of the daemon; False if it is not for the client, as the answers to replayed requests."""
        message = {} if line.startswith(NOTIFICATION) else self._plain_answer(line) or parsed(line)
        number = identity(message)
        if isinstance(number, str) and number.startswith(OWN):
            if number in self._own:
                self._replay.answered(self._own.pop(number), message)
            return False
        self._silent = 0
        if number is None:
            taken_back = self._replay.heard(line, self._requests)
            if taken_back is not None:
                self._questions.pop(taken_back, None)
            return not line.startswith(PRIVATE)
        if "method" in message:
            self._questions[number] = None
            if isinstance(number, int):
                self._first_question = max(self._first_question, number + 1)
        else:
            self._answered(number, message)
        return True

    def _plain_answer(self, line: bytes) -> Message:
        """The id alone of an answer that the dialect does not wait for: what follows may be 16 MiB."""
        head, _, rest = line[:HEAD_BYTES].partition(b',"')[2].partition(b',"')
        if not line.startswith(NUMBERED) or not rest.startswith((b'result":', b'error":')):
            return {}
        answer = parsed(b'{"' + head + b"}")
        number = identity(answer)
        return answer if number is not None and not (self._requests.get(number) or number in self._own) else {}

    def _answered(self, number: Id, answer: Message) -> None:
        self._lasting.pop(number, None)
        kept = self._requests.pop(number, None)
        if kept:
            self._replay.answered(kept, answer)
        if self._handshaking is not None and number == self._handshaking["id"]:
            self._handshaking, self._handshake = None, self._handshaking

    def hello(self, first: bytes) -> bytes:
        """Ask the next daemon to count on: then no answer can be taken for one to another daemon's question."""
        said = parsed(first).get("greenroom") if self._first_question else None
        if not isinstance(said, dict):
            return first
        return written({"greenroom": {**said, "first_question": self._first_question}})

    # --- daemons come and go --------------------------------------------------------------------------------------

    def lost(self, why: str, code: str = "daemon_restarted", *, for_good: bool = False) -> list[bytes]:
        """The daemon is gone; returns lines for the client. Nothing stays open but what is said again.

        `for_good`: there is no next daemon.
        """
        self._silent += 1
        if for_good or self._silent > DAEMONS:
            self._lasting.clear()
        if self._handshaking is not None:
            if self._tries < TRIES:
                self._requests.pop(self._handshaking["id"], None)
            else:
                self._handshaking = None
        told = [
            refusal(number, self._replay.explained(kept, unreachable(why, code)))
            for number, kept in self._requests.items()
            if number not in self._lasting
        ]
        told += self._replay.lost(self._questions, why)
        self._withdrawn.update(self._questions)
        self._requests = {number: kept for number, kept in self._requests.items() if number in self._lasting}
        self._questions.clear()
        self._own.clear()
        return [written(message) for message in told]

    def again(self) -> list[bytes]:
        """The lines that the next daemon has to hear first."""
        if self._handshaking is not None:
            self._tries += 1
            self._requests[self._handshaking["id"]] = self._handshaking
            return [written(self._handshaking)]
        if self._handshake is None:
            return []
        said = [{**self._handshake, "id": f"{OWN}{self._replay.handshake}"}]
        for place, message in enumerate(self._replay.again()):
            said.append({**message, "id": f"{OWN}{place}"} if is_request(message) else message)
            if is_request(message):
                self._own[f"{OWN}{place}"] = message
        return [*(written(message) for message in said), *self._lasting.values()]

    def give_up(self) -> list[Id]:
        """Forget what was to be said again to the next daemon; returns the requests that nobody will answer."""
        given_up, self._handshaking = self._handshaking, None
        numbers = [*self._lasting] if given_up is None else [given_up["id"], *self._lasting]
        self._lasting.clear()
        self._requests.clear()
        return numbers
