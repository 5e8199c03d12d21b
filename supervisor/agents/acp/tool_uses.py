"""Tool calls of a third-party agent as work: each begins once, when it runs, writes output, and ends once. Pure.

A call that waits for a permission does not run. Some agents never report that a call runs: then it counts as running
once it was permitted, has written something, or has waited without a question for a while.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary import events as ev
from actors.vocabulary.ids import CallId, ItemId
from supervisor.agents.acp.json_readers import (
    SHORT,
    Shape,
    content_text,
    exit_code,
    raw_output,
    seconds_taken,
    short,
    terminal_piece,
    terminal_whole,
    terminals_in,
    text,
    was_refused,
)
from supervisor.agents.acp.tool_use import ToolUse
from supervisor.config.bounds import Bounds

MOST_CALLS = 128  # at the same time; each keeps its output. Agents run a handful
MOST_OVER = 4_096  # ids of ended calls that are remembered, whose late updates are ignored
OVERLAP = 256  # characters of the known end by which an output without its beginning is recognised
BEGINS_AFTER_S = 1.0  # a question comes within milliseconds of its call; without one for so long, the call runs

ENDS: Mapping[object, ev.WorkStatus] = {"completed": "completed", "failed": "failed", "cancelled": "cancelled"}
WorkNews = ev.WorkBegan | ev.WorkOutput | ev.WorkEnded


class ShownTerminal(Struct, frozen=True):
    """A terminal of ours that a tool call shows: its output so far, and its command's exit code."""

    text: str
    exit_code: int | None = None


Terminals = Callable[[str], ShownTerminal | None]


class OutputSoFar:
    """Keeps the head and the tail of a tool's output, and finds the new part of each report. Bounded.

    Some agents send the whole output again with every piece of it: the known part is compared and skipped. Others
    keep only the end, so that their whole output has another beginning each time.
    """

    def __init__(self, most: int) -> None:
        self._half = max(1, most // 2)
        self._head = ""
        self._tail: list[str] = []
        self._kept = 0  # characters in the tail
        self._length = 0  # characters of the whole output
        self._rewritten = 0  # characters of outputs that replaced the earlier one

    def __bool__(self) -> bool:
        return bool(self._length)

    def add(self, text: str) -> str:
        """Add a piece, and return it: all of it is new."""
        room = self._half - len(self._head)
        if room > 0:
            self._head += text[:room]
        beyond = text[room:] if room > 0 else text
        if beyond:
            self._tail.append(beyond)
            self._kept += len(beyond)
            self._trim()
        self._length += len(text)
        return text

    def take_whole(self, text: str) -> str:
        """Take the whole output as it is now, and return its new part."""
        if self.goes_on(text):
            return self.add(text[self._length :])
        if self._head.startswith(text) and len(text) <= len(self._head):
            return ""  # an older report, or its beginning alone
        new = self._after_overlap(text)
        if new is not None:
            return self.add(new)
        return self._start_over(text)

    @property
    def text(self) -> str:
        """The head and the tail, with a note between them of how much was left out."""
        tail = "".join(self._tail)
        left_out = self._length - len(self._head) - len(tail)
        return f"{self._head}\n[… {left_out:,} characters left out …]\n{tail}" if left_out else self._head + tail

    def _trim(self) -> None:
        """Cut the tail to its size once it is twice as long, so that no character is copied more than a few times."""
        if self._kept > 2 * self._half:
            kept = "".join(self._tail)[-self._half :]
            self._tail, self._kept = [kept], len(kept)

    def goes_on(self, text: str) -> bool:
        """Tell whether a text begins with the known output."""
        tail = "".join(self._tail)
        self._tail = [tail] if tail else []
        return (
            len(text) >= self._length
            and text.startswith(self._head)
            and text.startswith(tail, self._length - len(tail))
        )

    def _after_overlap(self, text: str) -> str | None:
        end = ("".join(self._tail) or self._head)[-OVERLAP:]
        at = text.rfind(end) if len(end) == OVERLAP else -1
        return text[at + OVERLAP :] if at >= 0 else None

    def _start_over(self, text: str) -> str:
        """Begin again with another text. It counts as new, until all such texts are longer than the kept output."""
        fits = self._rewritten + len(text) <= 2 * self._half
        self._rewritten += len(text)
        self._head, self._tail, self._kept, self._length = "", [], 0, 0
        self.add(text)
        return text if fits else ""


class OpenToolUse:
    """An unfinished call."""

    def __init__(self, use: ToolUse, written: OutputSoFar, now: float) -> None:
        self.use = use
        self.written = written
        self.since = now  # while it waits, the time of its last update; then that of its beginning
        self.runs = False
        self.asked = False  # its question is open
        self.said = ""  # its first content, which describes it and is no output
        self.terminals: tuple[str, ...] = ()
        self.unread = ""  # output of the terminals from before the call showed them
        self.exit_code: int | None = None
        self.kind: ev.WorkKind = "other"  # fixed at its beginning, so that its end has the same


class ToolUses:
    def __init__(
        self, bounds: Bounds, now: Callable[[], float], terminals: Terminals = lambda _: None, cwd: Path | None = None
    ) -> None:
        self._bounds = bounds
        self._now = now
        self.terminals = terminals
        self._cwd = cwd
        self._calls: dict[CallId, OpenToolUse] = {}
        self._over: dict[CallId, None] = {}
        self.ignored = 0  # updates that were dropped: of calls beyond the bound, or without an id

    @property
    def open(self) -> tuple[ToolUse, ...]:
        """The calls that run."""
        return tuple(call.use for call in self._calls.values() if call.runs)

    @property
    def unfinished(self) -> tuple[ToolUse, ...]:
        return tuple(call.use for call in self._calls.values())

    def is_late(self, update: Shape) -> bool:
        """Tell whether an update belongs to an ended call."""
        return text(update.get("toolCallId")) in self._over

    def knows(self, update: Shape) -> bool:
        return text(update.get("toolCallId")) in self._calls

    def take(self, update: Shape, new_item: Callable[[], ItemId]) -> Iterator[WorkNews]:
        if self.is_late(update) and update.get("sessionUpdate") != "tool_call":
            return
        call = self._call_of(update, new_item)
        if call is None:
            self.ignored += 1
            return
        status = text(update.get("status"))
        yield from self._take_output(call, update, status)
        if status == "in_progress" and not call.asked:
            yield from self._begin(call)
        if status in ENDS:
            yield from self._end(call, update, ENDS[status])

    # --- questions ------------------------------------------------------------------------------------------------

    def ask(self, update: Shape, new_item: Callable[[], ItemId]) -> ToolUse:
        """Take a request for permission, and return its call. The call waits then, whatever earlier updates said."""
        call = self._call_of(update, new_item)
        words = content_text(update.get("content")) or (call.said if call is not None else "")
        if call is None:
            use = ToolUse(CallId(short(update.get("toolCallId"))), new_item())
            return replace(use.after_update(update, self._cwd, self._bounds), words=words)
        call.asked = True
        return replace(call.use, words=words)

    def allow(self, call_id: str) -> Iterator[WorkNews]:
        call = self._calls.get(CallId(call_id))
        if call is not None:
            call.asked = False
            yield from self._begin(call)

    def refuse(self, call_id: str) -> Iterator[WorkNews]:
        """End a refused call: it never runs, and its later updates are ignored."""
        call = self._calls.get(CallId(call_id))
        if call is not None:
            yield from self._close(call, "cancelled", begin=False)

    def begin_waiting(self) -> Iterator[WorkNews]:
        """Begin the calls that have waited without a question for a while."""
        until = self._now() - BEGINS_AFTER_S
        for call in list(self._calls.values()):
            if not (call.runs or call.asked) and call.since <= until:
                yield from self._begin(call)

    def terminal_wrote(self, terminal: str, piece: str) -> Iterator[WorkNews]:
        """Take new output of a terminal of ours, for the call that shows it."""
        for call in self._calls.values():
            if terminal in call.terminals:
                yield from self._write(call, call.written.add(piece))
                return

    def forget(self) -> None:
        """Forget all open calls: the turn is over, and its end has ended them."""
        for call_id in list(self._calls):
            self._mark_ended(call_id)

    # --- one call -------------------------------------------------------------------------------------------------

    def _call_of(self, update: Shape, new_item: Callable[[], ItemId]) -> OpenToolUse | None:
        """Return the call of an update, a new one if need be; None if it has no id or there are too many calls."""
        call_id = CallId(text(update.get("toolCallId")))
        call = self._calls.get(call_id)
        if call is None:
            if not call_id or len(call_id) > SHORT or len(self._calls) >= MOST_CALLS:
                return None
            self._over.pop(call_id, None)
            written = OutputSoFar(self._bounds.command_output_bytes)
            call = self._calls[call_id] = OpenToolUse(ToolUse(call_id, new_item()), written, self._now())
            call.said = content_text(update.get("content")) if text(update.get("status")) not in ENDS else ""
        call.use = call.use.after_update(update, self._cwd, self._bounds)
        shown = terminals_in(update.get("content")) or call.terminals
        found = (self.terminals(name) for name in shown if name not in call.terminals)
        call.unread += "".join(terminal.text for terminal in found if terminal is not None)
        call.terminals = shown
        if not call.runs:
            call.since = self._now()
        return call

    def _take_output(self, call: OpenToolUse, update: Shape, status: str) -> Iterator[WorkNews]:
        """Take the output in an update."""
        call.exit_code = exit_code(update, "") if call.exit_code is None else call.exit_code
        unread, call.unread = call.unread, ""
        yield from self._write(call, call.written.add(unread))
        piece = terminal_piece(update)
        whole = terminal_whole(update)
        if whole and status in ENDS:
            piece += call.written.take_whole(whole)
        elif piece or whole:
            piece = call.written.add(piece + whole)
        if status in ENDS:
            yield from self._write(call, piece)
            return
        words = content_text(update.get("content"))
        if not call.runs:
            call.said = words or call.said
        elif words and words != call.said:
            piece += call.written.take_whole(words)
        yield from self._write(call, piece)

    def _write(self, call: OpenToolUse, new: str) -> Iterator[WorkNews]:
        if new:
            yield from self._begin(call)
            yield ev.WorkOutput(
                call_id=call.use.call_id,
                item_id=call.use.item_id,
                kind=call.kind,
                chunk=new.encode(errors="replace"),
            )

    def _begin(self, call: OpenToolUse) -> Iterator[WorkNews]:
        if not call.runs:
            call.runs, call.since = True, self._now()
            use, subject = call.use, call.use.subject
            call.kind = subject.kind
            yield ev.WorkBegan(call_id=use.call_id, item_id=use.item_id, subject=subject, agent_call=use.agent_call)

    def _end(self, call: OpenToolUse, update: Shape, status: ev.WorkStatus) -> Iterator[WorkNews]:
        words = content_text(update.get("content"))
        words = (words if words != call.said else "") or raw_output(update) or self._terminal_output(call)
        if words and call.written.goes_on(words):
            yield from self._write(call, call.written.take_whole(words))
        elif words:
            call.written.take_whole(words)
        if call.exit_code is None:
            call.exit_code = exit_code(update, call.written.text[:SHORT])
        yield from self._close(call, "cancelled" if was_refused(update) else status, seconds_taken(update))

    def _terminal_output(self, call: OpenToolUse) -> str:
        shown = [terminal for terminal in map(self.terminals, call.terminals) if terminal is not None]
        call.exit_code = next(
            (terminal.exit_code for terminal in shown if terminal.exit_code is not None), call.exit_code
        )
        return "\n".join(terminal.text for terminal in shown)

    def _close(
        self, call: OpenToolUse, status: ev.WorkStatus, took: float | None = None, *, begin: bool = True
    ) -> Iterator[WorkNews]:
        began = call.since if call.runs else self._now()
        if begin:
            yield from self._begin(call)
        self._mark_ended(call.use.call_id)
        if call.runs:
            use = replace(call.use, arguments="")  # said at the beginning
            yield ev.WorkEnded(
                call_id=use.call_id,
                item_id=use.item_id,
                kind=call.kind,
                subject=use.subject,
                agent_call=use.agent_call,
                status=status,
                output=call.written.text,
                exit_code=call.exit_code,
                duration=ev.Duration.from_seconds(took if took is not None else max(0.0, self._now() - began)),
            )

    def _mark_ended(self, call_id: CallId) -> None:
        self._calls.pop(call_id, None)
        self._over[call_id] = None
        if len(self._over) > MOST_OVER:
            del self._over[next(iter(self._over))]
