"""Events as a person reads them. Knows how each looks; the screen decides where it goes.

No line of a model or a command, even if the window breaks it, begins like an approval: with `? ID` at the margin.

The words of the model go to `said`, everything else to `told`: on a terminal both are one screen; in a pipe the
answer is alone on standard output.
"""

import base64
from collections.abc import Callable
from typing import Any

from actors.vocabulary.visible import visible
from supervisor.cli import approval_text
from supervisor.cli.client import Json
from supervisor.cli.ids import short
from supervisor.cli.show.markdown import painted
from supervisor.cli.show.screen import Screen
from supervisor.cli.terminal import Paint
from supervisor.cli.words import clean, hung, many, one_line, took
from transports import question as texts

HEAD = 8  # lines of a command's output before it is folded
TAIL = 2
LINES_OF_AN_APPROVAL = 100  # of its command or patch; `show` prints the others
ABORTED = {"interrupted": "interrupted", "replaced": "replaced by new input", "failed": "failed", "lost": "lost"}
ANSWERS = {
    "approved": "approved",
    "approved_for_session": "approved, also for the same command later",
    "denied": "denied",
    "abort": "denied, and the turn ends",
    "withdrawn": "withdrawn with its turn",
}
REFUSED = ("patch rejected: ", "exec command rejected: ")  # by policy; what a person refuses says "by user"
MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


QUEUED = ("queued message waits", "queued messages wait")
NOTES: dict[str, Callable[[Json], str]] = {  # events that one line tells
    "stream_error": lambda body: one_line(body["message"]),
    "background_event": lambda body: one_line(body["message"]),
    "input_withdrawn": lambda body: f"a waiting message was withdrawn{_because(body['reason'])}",
    "queue_paused": lambda body: f"{many(body['queued'], *QUEUED)} for the next `send`",
    "conversation_restarted": lambda body: f"restarted{' by ' + visible(body['by']) if body['by'] else ''}",
    "conversation_renamed": lambda body: f"renamed to {visible(body['name'])}" if body["name"] else "name removed",
    "conversation_archived": lambda body: "archived" if body["archived"] else "unarchived",
}
YELLOW = {"stream_error", "queue_paused"}


def _because(reason: str) -> str:
    return f": {one_line(reason)}" if reason else ""


class EventPrinter:
    def __init__(
        self, said: Screen, told: Screen, paint: Paint, *, raw: bool = False, markdown: bool = False
    ) -> None:
        self._said = said
        self._told = told
        self._paint = paint
        self._raw = raw
        self._markdown = markdown
        self._streamed: dict[str, str] = {}  # item → its text that was shown already
        self._output: dict[str, list[str]] = {}  # item → lines of output so far
        self._began = 0.0
        self.base = ""  # the conversation's directory, to which file names are relative
        self.approvals: dict[str, Json] = {}
        self.partly: set[str] = set()  # approvals of which some lines were left out
        self.heights: dict[str, int] = {}  # in lines, of the open approvals
        self.turn: str | None = None
        self.tokens = 0
        self._error: str | None = None  # shown unless the next event says the same
        self.ended: str | None = None  # how the last turn ended, as the API says it
        self._table: dict[str, Callable[[Json, Json], None]] = {
            name.removeprefix("_on_"): getattr(self, name) for name in dir(self) if name.startswith("_on_")
        }

    def take(self, envelope: Json) -> None:
        body = envelope["event"]
        self._flush_error(body)
        show = self._table.get(body["type"])
        if show is not None:
            show(body, envelope)
        elif body["type"] in NOTES:
            self._note(NOTES[body["type"]](body), "yellow" if body["type"] in YELLOW else "dim")
        elif approval_text.asks(body):
            self.ask(body)
        elif self._raw:
            self._anything(body)

    def _flush_error(self, following: Json) -> None:
        """Show the last error, unless this event repeats it: a lost or failed turn says so in two events."""
        error, self._error = self._error, None
        if error is not None and following.get("message") != error:
            self._note(f"error: {clean(error)}", "red", "bold")

    def _anything(self, body: Json) -> None:
        self._note(f"{body['type']}: {one_line(str({k: v for k, v in body.items() if k != 'type'}))}")

    def _note(self, text: str, *styles: str) -> None:
        self._hung(text, "  ", *styles)

    def _hung(self, text: str, below: str, *styles: str) -> None:
        for line in hung(text, self._told.room, below):
            self._plain(self._paint(line, *(styles or ("dim",))))

    # --- the turn -------------------------------------------------------------------------------------------------

    def _on_task_started(self, _: Json, envelope: Json) -> None:
        self.turn, self.tokens, self.ended = envelope["turn"], 0, None
        self._began = envelope["ts"]
        self._streamed.clear()
        self._output.clear()

    def _on_user_message(self, body: Json, _: Json) -> None:
        if body["kind"] != "plain":
            if self._raw:
                self._note(clean(body["message"]))
            return
        pictures = sum(1 for item in body["items"] if item["type"] != "text")
        more = f" (and {many(pictures, 'picture')})" if pictures else ""
        self._note(f"> {clean(body['message']) + more}", "bold")

    def _on_token_count(self, body: Json, _: Json) -> None:
        self.tokens += body["total_tokens"]
        if self._raw:
            self._note(f"token_count: {body['input_tokens']} read, {body['output_tokens']} written")

    def _on_task_complete(self, _: Json, envelope: Json) -> None:
        self.ended = self.ended or "completed"
        word = "done" if self.ended == "completed" else "ended in an error"
        self._end(word, envelope)

    def _on_turn_aborted(self, body: Json, envelope: Json) -> None:
        by = f" by {visible(', '.join(body['by']))}" if body["by"] else ""
        why = _because(body["message"])
        self.ended = body["reason"]
        self._end(f"{ABORTED.get(body['reason'], body['reason'])}{by}{why}", envelope)

    def _end(self, word: str, envelope: Json) -> None:
        self.turn = None
        self.approvals.clear()
        self.heights.clear()
        for output in list(self._output):
            self._fold(output)
        length = f", {took(max(0.0, envelope['ts'] - self._began))}" if self._began else ""
        tokens = f", {many(self.tokens, 'token')}" if self.tokens else ""
        style = ("green",) if self.ended == "completed" else ("yellow",)
        self._note(f"-- {word}{length}{tokens}", *style)

    def _on_error(self, body: Json, _: Json) -> None:
        self.ended, self._error = "error", body["message"]

    # --- what the model says --------------------------------------------------------------------------------------

    def _on_agent_message_delta(self, body: Json, _: Json) -> None:
        if body["item_id"] not in self._streamed:
            self._told.fresh()
        self._stream(body["item_id"], body["delta"], self._said)

    def _on_agent_message(self, body: Json, _: Json) -> None:
        shown = self._streamed.pop(body["item_id"], None)
        text = clean(body["message"])
        if shown is None:
            self._told.fresh()
            self._said.line(self._whole(text))
        else:
            self._said.write(text[len(shown) :] if text.startswith(shown) else "")
            self._said.fresh()
        if body["partial"]:
            self._note("(cut off)")

    def _whole(self, text: str) -> str:
        return painted(text, self._paint) if self._markdown and self._paint.on else text

    def _on_agent_reasoning_delta(self, body: Json, _: Json) -> None:
        if body["item_id"] not in self._streamed:
            self._told.fresh()
        self._stream(body["item_id"], body["delta"], self._told, "dim")

    def _on_agent_reasoning(self, body: Json, _: Json) -> None:
        shown = self._streamed.pop(body["item_id"], None)
        if shown is None:
            self._note(clean(body["text"]))
        else:
            self._told.fresh()

    def _stream(self, item: str, text: str, screen: Screen, *styles: str) -> None:
        text = clean(text)
        self._streamed[item] = self._streamed.get(item, "") + text
        screen.write(self._paint(text, *styles))

    # --- commands, patches, plans ---------------------------------------------------------------------------------

    def _on_exec_command_begin(self, body: Json, _: Json) -> None:
        self._note(f"$ {texts.typed(body['command'])}", "cyan")
        self._output[body["item_id"]] = []

    def _on_exec_command_output_delta(self, body: Json, _: Json) -> None:
        text = base64.b64decode(body["chunk"]).decode(errors="replace")
        lines = self._output.setdefault(body["item_id"], [])
        before = len(lines)
        first, *rest = clean(text).split("\n")
        if lines:
            lines[-1] += first
        else:
            lines.append(first)
        lines += rest
        # The last line may be incomplete: it is shown when the next begins, or at the end.
        for line in lines[max(0, before - 1) : -1][: max(0, self._limit - max(0, before - 1))]:
            self._note(f"  {line}")

    @property
    def _limit(self) -> int:
        return 1 << 30 if self._raw else HEAD

    def _on_exec_command_end(self, body: Json, _: Json) -> None:
        item = body["item_id"]
        if not self._output.get(item):
            whole = clean(body["stdout"] + body["stderr"])
            self._output[item] = [*whole.split("\n")] if whole else []
            for line in self._output[item][:-1][: self._limit]:
                self._note(f"  {line}")
        self._fold(item)
        duration_s = body["duration"]["secs"] + body["duration"]["nanos"] / 1e9
        if body["exit_code"] != 0:
            self._note(f"  exit {body['exit_code']}, {took(duration_s)}", "red")

    def _fold(self, item: str) -> None:
        """Show the end of the output, and how many lines were left out."""
        lines = self._output.pop(item, [])
        complete = lines[:-1] if lines and not lines[-1] else lines
        unseen = complete[min(self._limit, max(0, len(lines) - 1)) :]
        if len(unseen) > TAIL + 1:
            self._note(f"  … {len(unseen) - TAIL} more lines (`greenroom logs --raw` shows them)")
            unseen = unseen[-TAIL:]
        for line in unseen:
            self._note(f"  {line}")

    def _on_patch_apply_begin(self, body: Json, _: Json) -> None:
        for path, change in sorted(body["changes"].items()):
            name = path.removeprefix(f"{self.base.rstrip('/')}/") if self.base else path
            for line in texts.changed(name, change, approval_text.home()):
                for shown in line.folded(self._told.room or texts.LONGEST):
                    self._plain(self._paint(shown, *approval_text.STYLES.get(line.style, ())))

    def _on_patch_apply_end(self, body: Json, _: Json) -> None:
        if not body["success"]:
            self._note(f"the patch failed: {clean(body['stderr']).strip()}", "red")

    def _on_tool_output(self, body: Json, _: Json) -> None:
        """Show a call that was refused by policy: no other event tells of it."""
        if body["output"].startswith(REFUSED):
            self._note(one_line(body["output"]), "yellow")
        elif self._raw:
            self._anything(body)

    def _on_plan_update(self, body: Json, _: Json) -> None:
        if body["explanation"]:
            self._note(clean(body["explanation"]))
        for step in body["plan"]:
            style = {"completed": "dim", "in_progress": "bold"}.get(step["status"], "plain")
            self._hung(f"{MARKS[step['status']]} {one_line(step['step'])}", "    ", style)

    def _plain(self, text: str, *, asks: bool = False) -> None:
        if self._said is not self._told:
            self._said.fresh()
        self._told.line(text, asks=asks)

    # --- approvals ------------------------------------------------------------------------------------------------

    def ask(self, body: Json, *, whole: bool = False) -> None:
        """Show an approval: a person has to see it in order to answer."""
        columns = self._told.room or texts.LONGEST
        head = hung(f"? {approval_text.title(body)}", self._told.room)
        for line in head:
            self._plain(self._paint(line, "yellow", "bold"), asks=True)
        lines, complete = approval_text.body(body, columns, self._paint, None if whole else LINES_OF_AN_APPROVAL)
        for line in lines:
            self._plain(line)
        self.approvals[body["approval_id"]] = body
        self.heights[body["approval_id"]] = len(head) + len(lines)
        (self.partly.discard if complete else self.partly.add)(body["approval_id"])

    def _on_approval_resolved(self, body: Json, _: Json) -> None:
        self.approvals.pop(body["approval_id"], None)
        by = f" by {visible(body['by'])}" if body["by"] else ""
        why = _because(body["reason"]) if body["decision"] != "withdrawn" else ""
        style = "green" if body["decision"].startswith("approved") else "yellow"
        self._note(f"  {ANSWERS.get(body['decision'], body['decision'])}{by}{why}", style)

    # --- the conversation -----------------------------------------------------------------------------------------

    def _on_input_queued(self, body: Json, _: Json) -> None:
        text = one_line(" ".join(item.get("text", "") for item in body["items"]))
        how = "joins the turn" if body["policy"] == "steer" else "waits"
        self._note(f"+ {how}: {text}")

    def _on_conversation_failed(self, body: Json, _: Json) -> None:
        self._note(f"failed: {one_line(body['message'])} (`greenroom restart` lets it run again)", "red", "bold")
        if self._raw and body["traceback"]:
            self._note(clean(body["traceback"]))

    def _on_session_configured(self, body: Json, envelope: Json) -> None:
        settings: dict[str, Any] = body.get("settings") or {}
        self.base = settings.get("cwd", self.base)
        where = f" in {visible(settings['cwd'])}" if settings else ""
        self._note(f"conversation {short(envelope['conversation'])}, {visible(body['model'])}{where}")
