"""The calls of one session, as its client knows them: which are open, and where their output is shown. Pure.

Output goes into a terminal if the client shows terminals of ours; else its end is sent now and then.
"""

import codecs
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from actors.vocabulary import events as ev
from transports.dialects.acp import calls
from transports.dialects.acp import updates as u
from transports.dialects.acp.shown_texts import ShownTexts
from transports.dialects.kit.bounded import Bounded

TAIL_LENGTH = 4 << 10  # characters of a running command's output, for clients without our terminals

Event = Mapping[str, object]
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

    def delta(self, delta: ev.ExecCommandOutputDelta | ev.ToolUseDelta) -> Updates:
        call = delta.item_id or delta.call_id
        if isinstance(delta, ev.ExecCommandOutputDelta):
            stream = f"{call}/{delta.stream}"
            decoder = self.decoders.setdefault(stream, codecs.getincrementaldecoder("utf-8")("replace"))
            text = self.texts.piece(stream, decoder.decode(delta.chunk))
        else:
            text = self.texts.piece(f"{call}/output", delta.delta)
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

    def take(self, kind: str, event: Event) -> Updates:
        yield from self.HANDLERS[kind](self, event)

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

    def _command_begins(self, event: Event) -> Updates:
        yield from self._begins(calls.command_begins(event), None if event.get("tool") else str(event["cwd"]))

    def _command_ends(self, event: Event) -> Updates:
        yield from self._ends(calls.command_ends(event), cast("int", event["exit_code"]))

    def _patch_begins(self, event: Event) -> Updates:
        yield from self._begins(calls.patch_begins(event))

    def _patch_ends(self, event: Event) -> Updates:
        ending = calls.patch_ends(event)
        yield from self._ends(replace(ending, content=(*self._diffs(ending.call), *(ending.content or ()))))

    def _server_tool_begins(self, event: Event) -> Updates:
        yield from self._begins(calls.server_tool_begins(event))

    def _server_tool_ends(self, event: Event) -> Updates:
        yield from self._ends(calls.server_tool_ends(event))

    def _use_begins(self, event: Event) -> Updates:
        runs = event.get("reads_as") == "command"
        yield from self._begins(calls.use_begins(event), str(event.get("cwd") or "/") if runs else None)

    def _use_ends(self, event: Event) -> Updates:
        code = event.get("exit_code")
        yield from self._ends(calls.use_ends(event), code if isinstance(code, int) else None)

    def _web_search(self, event: Event) -> Updates:
        yield replace(calls.web_search(event), first=True)

    def _view_image(self, event: Event) -> Updates:
        yield replace(calls.image_view(event), first=True)

    def _job_begins(self, event: Event) -> Updates:
        yield replace(calls.job_begins(event), first=True)

    def _job_ends(self, event: Event) -> Updates:
        yield replace(calls.job_ends(event), first=True)

    def _tool_output(self, event: Event) -> Updates:
        """The outcome of a model's call ends a call that no other event has ended, such as a refused one."""
        call, failed = calls.call_of(event), cast("dict[str, str] | None", event.get("failed"))
        if call in self.open:
            content: tuple[u.Content, ...] = (u.TextContent(failed["message"]),) if failed else ()
            came_to = self.finished.get(call, "completed")  # it was not run again
            yield from self._ends(u.ToolUpdate(call, status="failed" if failed else came_to, content=content))
        elif failed and call not in self.finished:
            title = calls.title(failed["message"])
            yield from self._ends(u.ToolUpdate(call, title=title, kind="other", status="failed"))

    def _approval_resolved(self, event: Event) -> Updates:
        """The answer ends a call that was only for the question."""
        call = self.by_approval.pop(str(event["approval_id"]), None)
        if call is not None and call in self.open:
            approved = str(event["decision"]).startswith("approved")
            yield from self._ends(u.ToolUpdate(call, status="completed" if approved else "failed"))

    HANDLERS: ClassVar[Mapping[str, Callable[["ShownCalls", Event], Updates]]] = {
        "exec_command_begin": _command_begins,
        "exec_command_end": _command_ends,
        "patch_apply_begin": _patch_begins,
        "patch_apply_end": _patch_ends,
        "mcp_tool_call_begin": _server_tool_begins,
        "mcp_tool_call_end": _server_tool_ends,
        "tool_use_begin": _use_begins,
        "tool_use_end": _use_ends,
        "tool_output": _tool_output,
        "web_search_end": _web_search,
        "view_image_tool_call": _view_image,
        "job_started": _job_begins,
        "job_ended": _job_ends,
        "approval_resolved": _approval_resolved,
    }
