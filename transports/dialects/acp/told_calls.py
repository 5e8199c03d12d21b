"""The calls of one session as a client has been told of them: which are open, and where their output is shown. Pure.

Output goes into a terminal where the client shows terminals of ours; else the end of it is told now and then.
"""

import codecs
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from actors.vocabulary import events as ev
from transports.dialects.acp import calls
from transports.dialects.acp import updates as u
from transports.dialects.acp.told_texts import ToldTexts
from transports.dialects.kit.bounded import Bounded

TAIL_LENGTH = 4 << 10  # characters of a running command's output, for clients that show no terminals of ours

Event = Mapping[str, object]
Told = Iterator[u.Update]


class ToldCalls(Struct, eq=False):
    """`screens`: the client shows terminals that we own. `continues`: it has seen what came before."""

    texts: ToldTexts
    screens: bool = False
    continues: bool = False
    open: dict[str, u.Tool] = field(default_factory=dict)  # those that are not over, as they were told
    over: Bounded[str, u.Status] = field(default_factory=Bounded)  # one may be asked about again: to run once more
    shown: set[str] = field(default_factory=set)  # those that have a terminal
    tails: dict[str, str] = field(default_factory=dict)  # the ends of the output of those that have none
    grown: set[str] = field(default_factory=set)  # those whose end was not told yet
    decoders: dict[str, codecs.IncrementalDecoder] = field(default_factory=dict)
    asked: Bounded[str, str] = field(default_factory=Bounded)  # those that end with their question

    def running(self) -> Told:
        """Those that are not over, for a client that begins to read now."""
        yield from (replace(tool, first=True) for tool in self.open.values())

    def tail_updates(self) -> Told:
        """The ends of outputs that have grown."""
        for call in sorted(self.grown):
            yield u.Tool(call, content=(*self._diffs(call), calls.fenced(self.tails[call])))
        self.grown.clear()

    def wait(self, tool: u.Tool, approval: str | None) -> Told:
        """A call waits for the answer to a question. `approval`: it is about nothing else, and ends with it."""
        if approval is not None:
            self.asked[approval] = tool.call
        if tool.call not in self.open:
            self.open[tool.call] = tool
            yield replace(tool, first=tool.call not in self.over)

    def delta(self, delta: ev.ExecCommandOutputDelta | ev.ToolUseDelta) -> Told:
        call = delta.item_id or delta.call_id
        if isinstance(delta, ev.ExecCommandOutputDelta):
            stream = f"{call}/{delta.stream}"
            decoder = self.decoders.setdefault(stream, codecs.getincrementaldecoder("utf-8")("replace"))
            text = self.texts.piece(stream, decoder.decode(delta.chunk))
        else:
            text = self.texts.piece(f"{call}/output", delta.delta)
        if text and call in self.shown:
            yield u.Tool(call, screen=u.ScreenWrote(text))
        elif text and (call in self.open or self.continues):
            self.tails[call] = (self.tails.get(call, "") + text)[-TAIL_LENGTH:]
            self.grown.add(call)

    def end_all(self) -> Told:
        """Nothing of a turn is open behind its end."""
        for call in list(self.open):
            yield from self._ends(u.Tool(call, status="failed"))
        self.tails.clear()
        self.grown.clear()
        self.decoders.clear()

    # --- events ---------------------------------------------------------------------------------------------------

    def take(self, kind: str, event: Event) -> Told:
        yield from self.TOLD[kind](self, event)

    def _begins(self, tool: u.Tool, cwd: str | None = None) -> Told:
        """A call begins. `cwd`: it is a command, whose output can be shown in a terminal."""
        told = tool
        if cwd is not None and self.screens:
            self.shown.add(tool.call)
            told = replace(tool, content=(u.Screen(tool.call),), screen=u.ScreenBegan(cwd))
        first = tool.call not in self.open and tool.call not in self.over
        self.open[tool.call] = tool
        yield replace(told, first=first)

    def _ends(self, tool: u.Tool, exit_code: int | None = None) -> Told:
        known = self.open.pop(tool.call, None)
        self.over[tool.call] = tool.status or "completed"
        self.tails.pop(tool.call, None)
        self.grown.discard(tool.call)
        if tool.call in self.shown:
            self.shown.discard(tool.call)
            code = exit_code if exit_code is not None else int(tool.status == "failed")
            yield replace(tool, content=None, screen=u.ScreenEnded(code))
        elif known is not None or self.continues:
            yield replace(tool, content=tool.content or None)
        else:
            yield replace(tool, first=True, title=tool.title or "A call that began earlier")

    def _diffs(self, call: str) -> tuple[u.Content, ...]:
        tool = self.open.get(call)
        return tuple(one for one in tool.content or () if isinstance(one, u.FileDiff)) if tool else ()

    def _command_begins(self, event: Event) -> Told:
        yield from self._begins(calls.command_begins(event), None if event.get("tool") else str(event["cwd"]))

    def _command_ends(self, event: Event) -> Told:
        yield from self._ends(calls.command_ends(event), cast("int", event["exit_code"]))

    def _patch_begins(self, event: Event) -> Told:
        yield from self._begins(calls.patch_begins(event))

    def _patch_ends(self, event: Event) -> Told:
        ended = calls.patch_ends(event)
        yield from self._ends(replace(ended, content=(*self._diffs(ended.call), *(ended.content or ()))))

    def _server_tool_begins(self, event: Event) -> Told:
        yield from self._begins(calls.server_tool_begins(event))

    def _server_tool_ends(self, event: Event) -> Told:
        yield from self._ends(calls.server_tool_ends(event))

    def _use_begins(self, event: Event) -> Told:
        runs = event.get("reads_as") == "command"
        yield from self._begins(calls.use_begins(event), str(event.get("cwd") or "/") if runs else None)

    def _use_ends(self, event: Event) -> Told:
        code = event.get("exit_code")
        yield from self._ends(calls.use_ends(event), code if isinstance(code, int) else None)

    def _searched(self, event: Event) -> Told:
        yield replace(calls.searched(event), first=True)

    def _looked(self, event: Event) -> Told:
        yield replace(calls.looked(event), first=True)

    def _job_begins(self, event: Event) -> Told:
        yield replace(calls.job_begins(event), first=True)

    def _job_ends(self, event: Event) -> Told:
        yield replace(calls.job_ends(event), first=True)

    def _put_out(self, event: Event) -> Told:
        """What a model's call came to: it ends a call that nothing else has ended, such as one that was refused."""
        call, failed = calls.call_of(event), cast("dict[str, str] | None", event.get("failed"))
        if call in self.open:
            content: tuple[u.Content, ...] = (u.Text(failed["message"]),) if failed else ()
            came_to = self.over.get(call, "completed")  # it was not run once more
            yield from self._ends(u.Tool(call, status="failed" if failed else came_to, content=content))
        elif failed and call not in self.over:
            said = calls.title(failed["message"])
            yield from self._ends(u.Tool(call, title=said, kind="other", status="failed"))

    def _resolved(self, event: Event) -> Told:
        """A question that is about nothing else is over with its answer."""
        call = self.asked.pop(str(event["approval_id"]), None)
        if call is not None and call in self.open:
            yes = str(event["decision"]).startswith("approved")
            yield from self._ends(u.Tool(call, status="completed" if yes else "failed"))

    TOLD: ClassVar[Mapping[str, Callable[["ToldCalls", Event], Told]]] = {
        "exec_command_begin": _command_begins,
        "exec_command_end": _command_ends,
        "patch_apply_begin": _patch_begins,
        "patch_apply_end": _patch_ends,
        "mcp_tool_call_begin": _server_tool_begins,
        "mcp_tool_call_end": _server_tool_ends,
        "tool_use_begin": _use_begins,
        "tool_use_end": _use_ends,
        "tool_output": _put_out,
        "web_search_end": _searched,
        "view_image_tool_call": _looked,
        "job_started": _job_begins,
        "job_ended": _job_ends,
        "approval_resolved": _resolved,
    }
