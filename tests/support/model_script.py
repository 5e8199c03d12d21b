r"""Answers of the test model, written as words in a prompt. Compiles a script to bytes and pauses; no I/O.

A script is a list of directives, one per line or with `;` between them (not inside double quotes). `then` ends a
reply: the next one answers the request that brings the outputs of its tool calls. Past the last reply the model says
`ok`; a prompt without any directive is echoed as `echo: …`. The events are those of the wire that was asked.

    say TEXT                 one message, in one delta
    words TEXT               one message, a delta per word
    stream N [WORD]          one message of N deltas
    reason PART | PART …     reasoning summary, in parts (chat: as reasoning text)
    think TEXT               raw reasoning
    call NAME JSON           a tool call; an array for `shell` is its argv; what isn't JSON goes out as it is
    search QUERY             a search of the web that the provider carried out (responses, messages)
    patch TEXT               an apply_patch call; `\n` in it is a new line
    usage IN OUT [CACHED] [REASONING] [WRITTEN]
    finish [REASON]          the finishing event, here; without it comes at the end (REASON: length, content_filter …)
    raw TEXT                 a data line as it is
    malformed                an event cut in the middle of its JSON
    fail CODE MESSAGE        an error inside the stream
    status CODE [retry-after=S] [type=T] [MESSAGE]   no stream, but this status and an error object
    drop                     close the connection without any answer
    cut [AFTER]              close it here, or AFTER bytes of events
    eof                      end the body properly, but without a finishing event
    stall SECONDS|forever    silence
    hold GATE                silence until the test opens the gate
    slow MS                  a pause after every event from here on
    split N                  the whole reply in HTTP chunks and writes of N bytes
    pack N                   the whole reply in HTTP chunks of N bytes or more; without it an event is a chunk

`times=N` or `times=all` in a directive says for how many attempts at one request it holds; then it is left out. One
is the default for `status`, `drop`, `cut`, `malformed`, `fail` and `eof`, all for the others. So `status 500; say hi`
fails once and then answers. Attempts are counted per history up to the last user message, and per reply.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Literal

from tests.support.messages_wire import MessagesWire
from tests.support.model_reply import Close, End, Hold, Pause, Reply, Shape, Step, canned, shaped
from tests.support.model_wire import Call, ChatWire, ResponsesWire, Tokens, Wire, compact

WireName = Literal["chat", "responses", "messages"]
SPEAKERS: dict[WireName, Callable[[str], Wire]] = {
    "chat": ChatWire,
    "responses": ResponsesWire,
    "messages": MessagesWire,
}


@dataclass(frozen=True, slots=True)
class Directive:
    verb: str
    rest: str
    times: float
    options: dict[str, str] = field(hash=False, default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """The answer asked for: the reply's number within the prompt, the prompt's within the conversation."""

    prompt: int = 1
    reply: int = 0
    attempt: int = 0


ONCE = frozenset({"status", "drop", "cut", "malformed", "fail", "eof"})
_OPTION = re.compile(r"(?:^|\s+)(times|retry-after|type)=(\S+)")


def parse(script: str) -> list[list[Directive]]:
    """The replies of a script; an empty list if it has no directive at all."""
    replies: list[list[Directive]] = [[]]
    found = False
    for line in _split(script):
        verb, _, rest = line.partition(" ")
        if verb not in VERBS:
            continue
        found = True
        if verb == "then":
            replies.append([])
        else:
            replies[-1].append(_directive(verb, rest.strip()))
    return replies if found else []


def _split(script: str) -> Iterator[str]:
    for line in script.splitlines():
        start, quoted, escaped = 0, False, False
        for at, character in enumerate(line):
            if character == ";" and not quoted:
                yield line[start:at].strip()
                start = at + 1
            elif character == '"' and not escaped:
                quoted = not quoted
            escaped = character == "\\" and not escaped
        yield line[start:].strip()


def _directive(verb: str, rest: str) -> Directive:
    options = {} if verb in {"call", "patch", "raw"} else dict(_OPTION.findall(rest))
    times = options.get("times", "1" if verb in ONCE else "all")
    words = _OPTION.sub("", rest).strip() if options else rest
    return Directive(verb, words, float("inf") if times == "all" else int(times), options)


@lru_cache(maxsize=64)  # a benchmark's long answer is built once
def compiled(script: str, wire: WireName, place: Place) -> Reply:
    replies = parse(script)
    if not replies:
        replies = [[Directive("say", f"echo: {script}", float("inf"))]]
    directives = replies[place.reply] if place.reply < len(replies) else [Directive("say", "ok", float("inf"))]
    response_id = f"r{place.prompt}_{place.reply}"
    return _Compiler(SPEAKERS[wire](response_id), place).reply(directives)


class _Compiler:
    def __init__(self, wire: Wire, place: Place) -> None:
        self._wire = wire
        self._place = place
        self._tries = float(place.attempt)  # what is left of it after the directives that took their share
        self._calls: list[Call] = []
        self._called = 0
        self._tokens: Tokens | None = None
        self._finished = False
        self._slow_s = 0.0
        self._shape = Shape()
        self._out: list[bytes | Step] = []

    def reply(self, directives: Sequence[Directive]) -> Reply:
        self._emit(self._wire.begin())
        for directive in directives:
            if self._tries >= directive.times:
                self._tries -= directive.times
                continue
            if directive.verb not in {"call", "patch"}:
                self._end_calls()
            if directive.verb == "status":
                return _refusal(directive)
            if directive.verb == "drop":
                return Reply((Close(),), status=0)
            DOINGS[directive.verb](self, directive.rest)
            if self._out and isinstance(self._out[-1], Close | End):
                return shaped(self._out, self._shape)
        self._end_calls()
        self._finish("")
        return shaped([*self._out, End()], self._shape)

    def _emit(self, events: Iterable[bytes]) -> None:
        for one in events:
            self._out.append(one)
            if self._slow_s:
                self._out.append(Pause(self._slow_s))

    def _stream(self, rest: str) -> None:
        count, _, word = rest.partition(" ")
        self._emit(self._wire.text([word or "word "] * int(count)))

    def _call_tool(self, rest: str) -> None:
        name, _, arguments = rest.partition(" ")
        self._call(name, _arguments(name, arguments.strip()))

    def _count(self, rest: str) -> None:
        self._tokens = Tokens(*map(int, rest.split()))

    def _fail(self, rest: str) -> None:
        code, _, message = rest.partition(" ")
        self._emit(self._wire.failure(code, message))

    def _slow_down(self, rest: str) -> None:
        self._slow_s = float(rest) / 1000

    def _split(self, rest: str) -> None:
        self._shape = replace(self._shape, split=int(rest))

    def _pack(self, rest: str) -> None:
        self._shape = replace(self._shape, pack=int(rest))

    def _cut(self, rest: str) -> None:
        if rest:
            self._shape = replace(self._shape, cut=int(rest))
        else:
            self._out.append(Close())

    def _call(self, name: str, arguments: str) -> None:
        place = self._place
        self._calls.append(Call(f"call_{place.prompt}_{place.reply}_{self._called}", name, arguments))
        self._called += 1

    def _end_calls(self) -> None:
        """Calls that follow each other go out together, so that their pieces can take turns."""
        if self._calls:
            self._emit(self._wire.calls(self._calls))
            self._calls = []

    def _finish(self, reason: str) -> None:
        if not self._finished:
            self._emit(self._wire.finish(reason or ("tool_calls" if self._called else "stop"), self._tokens))
            self._finished = True


DOINGS: dict[str, Callable[[_Compiler, str], None]] = {
    "say": lambda to, rest: to._emit(to._wire.text([rest])),
    "words": lambda to, rest: to._emit(to._wire.text(re.findall(r"\S+\s*", rest))),
    "stream": _Compiler._stream,
    "reason": lambda to, rest: to._emit(to._wire.summary([part.strip() for part in rest.split("|")])),
    "think": lambda to, rest: to._emit(to._wire.thoughts(rest)),
    "call": _Compiler._call_tool,
    "search": lambda to, rest: to._emit(to._wire.search(rest)),
    "patch": lambda to, rest: to._call("apply_patch", compact({"input": rest.replace("\\n", "\n")})),
    "usage": _Compiler._count,
    "finish": _Compiler._finish,
    "raw": lambda to, rest: to._emit([f"data: {rest}\n\n".encode()]),
    "malformed": lambda to, _: to._emit([b'data: {"choices":[{"del\n\n']),
    "fail": _Compiler._fail,
    "stall": lambda to, rest: to._out.append(Pause(None if rest == "forever" else float(rest))),
    "hold": lambda to, rest: to._out.append(Hold(rest)),
    "slow": _Compiler._slow_down,
    "split": _Compiler._split,
    "pack": _Compiler._pack,
    "cut": _Compiler._cut,
    "eof": lambda to, _: to._out.append(End()),
}
VERBS = {*DOINGS, "then", "status", "drop"}


def _refusal(directive: Directive) -> Reply:
    code, _, message = directive.rest.partition(" ")
    body = compact(
        {"error": {"message": message or f"status {code}", "type": directive.options.get("type", "test_error")}}
    ).encode()
    wait = directive.options.get("retry-after")
    return canned(body, status=int(code), headers=(("retry-after", wait),) if wait else ())


def _arguments(name: str, text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return compact({"command": value}) if name == "shell" and isinstance(value, list) else compact(value)
