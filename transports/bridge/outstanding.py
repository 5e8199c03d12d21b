"""The state between a client and its daemons: the handshake, and the requests open on either side.

Pure but for the bridge's random name; standard library only. A line is entered when its first byte goes to a daemon;
unsent lines are not in here. A client's line is parsed once; a daemon's line only if the dialect needs its contents.
"""

from __future__ import annotations

import os

from transports.bridge.messages import identity, is_request, message_line, parse_message, refusal, unreachable

TYPE_CHECKING = False  # loading typing costs more than the whole bridge
if TYPE_CHECKING:
    from transports.bridge.messages import Id, Message
    from transports.bridge.replay import Replay

NOTIFICATION = b'{"jsonrpc":"2.0","method":'  # our encoder begins notifications with this, and nothing else
PRIVATE = NOTIFICATION + b'"notifications/greenroom/'  # for the bridge alone, not for the client
NUMBERED = b'{"jsonrpc":"2.0","id":'  # our encoder begins requests and answers with this
HEAD_BYTES = 512  # of a line, which contain its id
OWN = "greenroom/replayed-"  # prefix of the bridge's ids, which can't collide with the client's
KEYED = b'{"greenroom":{"key":"%s/%d"},'  # replaces the first brace of a request that outlives its daemon
DAEMONS = 10  # daemons in a row that may go down without sending anything; then the repeated lines are the cause
TRIES = 3  # daemons that may go down during one handshake; a client gives the server up after an error there


class OutgoingLine:
    """A line of the client that is to be sent, with the facts about its message that matter later."""

    __slots__ = ("answers", "asks", "begins", "introduces", "kept", "lasts", "line")

    def __init__(self, line: bytes, message: Message, replay: Replay) -> None:
        self.line = line
        self.introduces = False  # a handshake that is answered already; the next daemon gets it anyway
        self.lasts = False  # stays open when its daemon goes, and is sent again to the next one
        number = identity(message)
        self.asks = number if "method" in message else None
        self.answers = None if "method" in message else number
        self.begins = self.asks is not None and message["method"] == replay.handshake
        self.kept = message if self.begins else replay.keep(message)


class Outstanding:
    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._handshaking: Message | None = None  # the handshake that was sent and not answered yet
        self._handshake: Message | None = None  # the handshake that was answered
        self._tries = 0
        self._requests: dict[Id, Message] = {}  # open requests of the client, each as kept by the dialect
        self._lasting: dict[Id, bytes] = {}  # the lines of requests that outlive a daemon, with their follow-ups
        self._own: dict[Id, Message] = {}  # the bridge's own requests to this daemon
        self._name = os.urandom(8).hex().encode()
        self._keys = 0
        self._silent = 0  # daemons in a row that went down without sending anything
        self._questions: dict[Id, None] = {}  # open requests of the daemon
        self._withdrawn: set[Id] = set()  # questions of earlier daemons: answers to them are dropped
        self._first_question = 0  # above all numbers of questions so far

    @property
    def requests(self) -> int:
        """The number of the client's requests that were sent and not answered."""
        return len(self._requests)

    @property
    def handshaking(self) -> bool:
        """True if a handshake was sent and not answered by any daemon yet."""
        return self._handshaking is not None

    @property
    def awaits_daemon(self) -> bool:
        """True if the client waits for something from the next daemon, unless too many went down in a row."""
        return bool(self._lasting) or (self._silent <= DAEMONS and self._replay.awaits_end())

    # --- lines ----------------------------------------------------------------------------------------------------

    def outgoing_line(self, line: bytes, message: Message) -> OutgoingLine:
        """A line to be sent. A request that outlives its daemon gets a key, by which the next one recognises it."""
        outgoing = OutgoingLine(line, message, self._replay)
        if outgoing.asks is not None and self._replay.outlives(message) and "greenroom" not in message:
            self._keys += 1
            outgoing.lasts, outgoing.line = True, KEYED % (self._name, self._keys) + line.lstrip()[1:]
        return outgoing

    def note_answered_handshake(self, handshake: Message) -> OutgoingLine:
        """Enter a handshake that is answered already; returns the line that tells a connected daemon of it."""
        self._handshaking, self._handshake = None, handshake
        self._replay.note_sent(handshake, self._requests)
        outgoing = OutgoingLine(message_line({**handshake, "id": f"{OWN}{self._replay.handshake}"}), {}, self._replay)
        outgoing.introduces = True
        return outgoing

    def note_sent(self, outgoing: OutgoingLine) -> None:
        """Enter a line that begins to leave for the daemon."""
        if outgoing.begins:
            self._handshaking, self._handshake, self._tries = outgoing.kept, None, 1
        if outgoing.asks is not None:
            self._requests[outgoing.asks] = outgoing.kept or {}
            if outgoing.lasts:
                self._lasting[outgoing.asks] = outgoing.line
        elif outgoing.answers is not None:
            self._questions.pop(outgoing.answers, None)
        if outgoing.kept is not None:
            self._replay.note_sent(outgoing.kept, self._requests)
            for number in self._replay.follows(outgoing.kept, self._requests) if self._lasting else ():
                if number in self._lasting:
                    self._lasting[number] += outgoing.line

    def is_stale(self, message: Message) -> bool:
        """True for an answer to a question of an earlier daemon."""
        number = identity(message)
        return "method" not in message and number in self._withdrawn and number not in self._questions

    def note_received(self, line: bytes) -> bool:
        """Enter a line of the daemon; False if it is not for the client, such as an answer to a replayed request."""
        message = {} if line.startswith(NOTIFICATION) else self._plain_answer(line) or parse_message(line)
        number = identity(message)
        if isinstance(number, str) and number.startswith(OWN):
            if number in self._own:
                self._replay.note_answer(self._own.pop(number), message)
            return False
        self._silent = 0
        if number is None:
            taken_back = self._replay.read_notification(line, self._requests)
            if taken_back is not None:
                self._questions.pop(taken_back, None)
            return not line.startswith(PRIVATE)
        if "method" in message:
            self._questions[number] = None
            if isinstance(number, int):
                self._first_question = max(self._first_question, number + 1)
        else:
            self._note_answer(number, message)
        return True

    def _plain_answer(self, line: bytes) -> Message:
        """The bare id of an answer that the dialect does not need: the rest may be 16 MiB."""
        head, _, rest = line[:HEAD_BYTES].partition(b',"')[2].partition(b',"')
        if not line.startswith(NUMBERED) or not rest.startswith((b'result":', b'error":')):
            return {}
        answer = parse_message(b'{"' + head + b"}")
        number = identity(answer)
        return answer if number is not None and not (self._requests.get(number) or number in self._own) else {}

    def _note_answer(self, number: Id, answer: Message) -> None:
        self._lasting.pop(number, None)
        kept = self._requests.pop(number, None)
        if kept:
            self._replay.note_answer(kept, answer)
        if self._handshaking is not None and number == self._handshaking["id"]:
            self._handshaking, self._handshake = None, self._handshaking

    def hello(self, first: bytes) -> bytes:
        """Ask the next daemon to continue the numbering, so that no answer reaches another daemon's question."""
        members = parse_message(first).get("greenroom") if self._first_question else None
        if not isinstance(members, dict):
            return first
        return message_line({"greenroom": {**members, "first_question": self._first_question}})

    # --- changes of daemon ------------------------------------------------------------------------------------------

    def lose_daemon(self, why: str, code: str = "daemon_restarted", *, for_good: bool = False) -> list[bytes]:
        """Close everything but the requests that are sent again; returns lines for the client.

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
        messages = [
            refusal(number, self._replay.explain_loss(kept, unreachable(why, code)))
            for number, kept in self._requests.items()
            if number not in self._lasting
        ]
        messages += self._replay.loss_messages(self._questions, why)
        self._withdrawn.update(self._questions)
        self._requests = {number: kept for number, kept in self._requests.items() if number in self._lasting}
        self._questions.clear()
        self._own.clear()
        return [message_line(message) for message in messages]

    def replayed_lines(self) -> list[bytes]:
        """The lines to send to the next daemon first."""
        if self._handshaking is not None:
            self._tries += 1
            self._requests[self._handshaking["id"]] = self._handshaking
            return [message_line(self._handshaking)]
        if self._handshake is None:
            return []
        messages = [{**self._handshake, "id": f"{OWN}{self._replay.handshake}"}]
        for place, message in enumerate(self._replay.replayed_messages()):
            messages.append({**message, "id": f"{OWN}{place}"} if is_request(message) else message)
            if is_request(message):
                self._own[f"{OWN}{place}"] = message
        return [*(message_line(message) for message in messages), *self._lasting.values()]

    def give_up(self) -> list[Id]:
        """Forget the lines for the next daemon; returns the requests that will not be answered."""
        given_up, self._handshaking = self._handshaking, None
        numbers = [*self._lasting] if given_up is None else [given_up["id"], *self._lasting]
        self._lasting.clear()
        self._requests.clear()
        return numbers
