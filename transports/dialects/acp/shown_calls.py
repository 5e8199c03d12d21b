"""The calls of one session, as its client knows them: which are open, and where their output is shown. Pure.

Output goes into a terminal if the client shows terminals of ours; else its end is sent now and then.
"""

import codecs
from collections.abc import Iterator

from msgspec import Struct, field
from msgspec.structs import replace

from actors.conversation.fitting_answers import YES
from actors.vocabulary import events as ev
from transports.dialects.acp import calls
from transports.dialects.acp import updates as u
from transports.dialects.acp.shown_texts import ShownTexts
from transports.dialects.kit.bounded import Bounded

TAIL_LENGTH = 4 << 10  # characters of a running command's output, for clients without our terminals

SHOWN: tuple[type[ev.DurableEvent], ...] = (
    *(ev.WorkBegan, ev.WorkEnded, ev.ToolOutput),
    *(ev.JobStarted, ev.JobEnded, ev.ApprovalResolved),
)
CALL_EVENTS = frozenset(map(ev.type_of, SHOWN))
Updates = Iterator[u.Update]


class ShownCalls(Struct, eq=False):
    """`screens`: the client shows terminals that we own. `continues`: it has seen the history before this."""

    texts: ShownTexts
    screens: bool = False
    continues: bool = False
    open: dict[str, u.ToolUpdate] = field(default_factory=dict)  # open calls, as they were sent
    finished: Bounded[str, u.Status] = field(default_factory=Bounded)  # finished calls; a question may run one again
    with_terminal: set[str] = field(default_factory=set)  # calls with a terminal
    tails: dict[str, str] = field(default_factory=dict)  # the ends of the outputs of calls without a terminal
    grown: set[str] = field(default_factory=set)  # calls whose tail was not sent yet
    decoders: dict[str, codecs.IncrementalDecoder] = field(default_factory=dict)
    by_approval: Bounded[str, str] = field(default_factory=Bounded)  # calls that end with their question, by approval

    def running(self) -> Updates:
        """The open calls, for a client that begins to read now."""
        yield from (replace(tool, first=True) for tool in self.open.values())

    def tail_updates(self) -> Updates:
        """The ends of outputs that have grown."""
        for call in sorted(self.grown):
            yield u.ToolUpdate(call, content=(*self._diffs(call), calls.code_block(self.tails[call])))
        self.grown.clear()

    def wait(self, tool: u.ToolUpdate, approval: str | None) -> Updates:
        """Note a call that waits for an answer. `approval`: the call is only for that question, and ends with it."""
        if approval is not None:
            self.by_approval[approval] = tool.call
        if tool.call not in self.open:
            self.open[tool.call] = tool
            yield replace(tool, first=tool.call not in self.finished)

    def delta(self, delta: ev.WorkOutput) -> Updates:
        call = calls.call_of(delta)
        stream = f"{call}/{delta.stream}"
        decoder = self.decoders.setdefault(stream, codecs.getincrementaldecoder("utf-8")("replace"))
        text = self.texts.piece(stream, decoder.decode(delta.chunk))
        if text and call in self.with_terminal:
            yield u.ToolUpdate(call, screen=u.ScreenWrote(text))
        elif text and (call in self.open or self.continues):
            self.tails[call] = (self.tails.get(call, "") + text)[-TAIL_LENGTH:]
            self.grown.add(call)

    def end_all(self) -> Updates:
        """End all calls: none is open after the end of a turn."""
        for call in list(self.open):
            yield from self._ends(u.ToolUpdate(call, status="failed"))
        self.tails.clear()
        self.grown.clear()
        self.decoders.clear()

    # --- events ---------------------------------------------------------------------------------------------------

    def take(self, event: ev.DurableEvent) -> Updates:
        match event:
            case ev.WorkBegan():
                yield from self._begins(calls.begun_call(event), _terminal_place(event.subject))
            case ev.WorkEnded():
                yield from self._work_ends(event)
            case ev.ToolOutput():
                yield from self._tool_output(event)
            case ev.JobStarted():
                yield replace(calls.job_begins(event), first=True)
            case ev.JobEnded():
                yield replace(calls.job_ends(event), first=True)
            case ev.ApprovalResolved():
                yield from self._approval_resolved(event)
            case _:
                pass  # a notice in place of an event that was too long

    def _begins(self, tool: u.ToolUpdate, cwd: str | None = None) -> Updates:
        """Begin a call. `cwd`: it is a command, whose output can be shown in a terminal."""
        first_update = tool
        if cwd is not None and self.screens:
            self.with_terminal.add(tool.call)
            first_update = replace(tool, content=(u.TerminalContent(tool.call),), screen=u.ScreenBegan(cwd))
        first = tool.call not in self.open and tool.call not in self.finished
        self.open[tool.call] = tool
        yield replace(first_update, first=first)

    def _ends(self, tool: u.ToolUpdate, exit_code: int | None = None) -> Updates:
        opened = self.open.pop(tool.call, None)
        self.finished[tool.call] = tool.status or "completed"
        self.tails.pop(tool.call, None)
        self.grown.discard(tool.call)
        if tool.call in self.with_terminal:
            self.with_terminal.discard(tool.call)
            code = exit_code if exit_code is not None else int(tool.status == "failed")
            yield replace(tool, content=None, screen=u.ScreenEnded(code))
        elif opened is not None or self.continues:
            yield replace(tool, content=tool.content or None)
        else:
            yield replace(tool, first=True, title=tool.title or "A call that began earlier")

    def _diffs(self, call: str) -> tuple[u.Content, ...]:
        tool = self.open.get(call)
        return tuple(content for content in tool.content or () if isinstance(content, u.FileDiff)) if tool else ()

    def _work_ends(self, event: ev.WorkEnded) -> Updates:
        end = calls.ended_call(event)
        if event.kind in ev.ONE_EVENT:
            yield replace(end, first=True)
        elif event.kind == "files" and event.agent_call is None:
            yield from self._ends(replace(end, content=(*self._diffs(end.call), *(end.content or ()))))
        else:
            yield from self._ends(end, event.exit_code)

    def _tool_output(self, event: ev.ToolOutput) -> Updates:
        """The outcome of a model's call ends a call that no other event has ended, such as a refused one."""
        call, failed = calls.call_of(event), event.failed
        if call in self.open:
            content: tuple[u.Content, ...] = (u.TextContent(failed.message),) if failed else ()
            came_to = self.finished.get(call, "completed")  # it was not run again
            yield from self._ends(u.ToolUpdate(call, status="failed" if failed else came_to, content=content))
        elif failed and call not in self.finished:
            yield from self._ends(
                u.ToolUpdate(call, title=calls.title(failed.message), kind="other", status="failed")
            )

    def _approval_resolved(self, event: ev.ApprovalResolved) -> Updates:
        """The answer ends a call that was only for the question."""
        call = self.by_approval.pop(event.approval_id, None)
        if call is not None and call in self.open:
            yield from self._ends(u.ToolUpdate(call, status="completed" if event.decision in YES else "failed"))


def _terminal_place(subject: ev.WorkSubject) -> str | None:
    """The directory of a program, whose output can be shown in a terminal; None: no program runs."""
    return str(subject.cwd or "/") if isinstance(subject, ev.CommandSubject) and not subject.tool else None
