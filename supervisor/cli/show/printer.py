"""Events as a person reads them. Knows how each event looks; the screen decides where its text goes.

No line of a model or a command, even if the window breaks it, begins like an approval: with `? ID` at the margin.

The words of the model go to `said`, everything else to `told`: on a terminal both are one screen; in a pipe the
answer is alone on standard output.
"""

from collections.abc import Callable
from typing import Any

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit import approval_text
from supervisor.cli.kit.client import Json
from supervisor.cli.kit.conversation_rows import cost, tokens
from supervisor.cli.kit.formatting import clean, clean_piece, duration, one_line, plural, setting_change, wrap_text
from supervisor.cli.kit.ids import short_id
from supervisor.cli.kit.terminal import Paint
from supervisor.cli.show.event_lines import NOTES, YELLOW, actor_clause, reason_clause, words_of
from supervisor.cli.show.markdown import paint_markdown
from supervisor.cli.show.screen import Screen
from supervisor.cli.show.tool_printer import ToolPrinter
from transports import question_text as texts

LINES_OF_AN_APPROVAL = 100  # of its command or patch; `show` prints the others
ABORT_WORDS = {
    "interrupted": "interrupted",
    "replaced": "replaced by new input",
    "failed": "failed",
    "lost": "lost",
    "budget": "stopped by a budget",
}
ANSWERS = {
    "approved": "approved",
    "approved_for_session": "approved, also later in this conversation",
    "denied": "denied",
    "abort": "denied, and the turn ends",
    "withdrawn": "withdrawn with its turn",
}


class EventPrinter(ToolPrinter):
    def __init__(
        self, said: Screen, told: Screen, paint: Paint, *, raw: bool = False, markdown: bool = False
    ) -> None:
        super().__init__(said, told, paint, raw=raw)
        self._markdown = markdown
        self._streamed: dict[str, str] = {}  # item → its text that was shown already
        self._began = 0.0
        self.approvals: dict[str, Json] = {}
        self.incomplete_approvals: set[str] = set()  # approvals of which some lines were left out
        self.heights: dict[str, int] = {}  # in lines, of the open approvals
        self.turn: str | None = None
        self.tokens, self.uncounted = 0, 0
        self.usd, self.unpriced = 0.0, 0
        self._error: str | None = None  # shown unless the next event says the same
        self.ending: str | None = None  # how the last turn ended, as the API says it
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
        elif self._raw:
            self._anything(body)

    def _flush_error(self, following: Json) -> None:
        """Show the last error, unless this event repeats it: a lost or failed turn says so in two events."""
        error, self._error = self._error, None
        if error is not None and following.get("message") != error:
            self._note(f"error: {clean(error)}", "red", "bold")

    # --- the turn -------------------------------------------------------------------------------------------------

    def _on_task_started(self, _: Json, envelope: Json) -> None:
        self.turn, self.ending = envelope["turn"], None
        self.tokens, self.uncounted, self.usd, self.unpriced = 0, 0, 0.0, 0
        self._began = envelope["ts"]
        self._streamed.clear()
        self._forget_tools()

    def _on_user_message(self, body: Json, _: Json) -> None:
        if body["kind"] != "plain":
            if self._raw:
                self._note(clean(body["message"]))
            return
        pictures = sum(1 for item in body["items"] if item["type"] != "text")
        more = f" (and {plural(pictures, 'picture')})" if pictures else ""
        self._note(f"> {clean(body['message']) + more}", "bold")

    def _on_settings_changed(self, body: Json, _: Json) -> None:
        changed = "; ".join(map(setting_change, body.get("changed", ())))
        if changed:
            self._note(f"changed{actor_clause(body)}: {changed}")

    def _on_token_count(self, body: Json, _: Json) -> None:
        self.tokens += body["total_tokens"]
        self.usd += body.get("cost_usd") or 0.0
        self.unpriced += body.get("cost_usd") is None
        self.uncounted += not body.get("counted", True)
        if self._raw:
            counted = body.get("counted", True)
            told = (
                f"{body['input_tokens']} read, {body['output_tokens']} written"
                if counted
                else "not told by the server"
            )
            self._note(f"token_count: {told}")

    def _on_task_complete(self, body: Json, envelope: Json) -> None:
        self._count_last(body)
        self.ending = self.ending or "completed"
        word = "done" if self.ending == "completed" else "ended in an error"
        self._end(word, envelope)

    def _on_turn_aborted(self, body: Json, envelope: Json) -> None:
        self._count_last(body)
        by = f" by {visible(', '.join(body['by']))}" if body["by"] else ""
        why = reason_clause(body["message"])
        self.ending = body["reason"]
        self._end(f"{ABORT_WORDS.get(body['reason'], body['reason'])}{by}{why}", envelope)

    def _count_last(self, body: Json) -> None:
        """Count the turn's last answer if the server has not told its tokens: the end of the turn says so."""
        uncounted = body.get("uncounted")
        if uncounted is not None:
            self._on_token_count({"total_tokens": 0, "counted": False, **uncounted}, {})

    def _end(self, word: str, envelope: Json) -> None:
        self.turn = None
        self.approvals.clear()
        self.heights.clear()
        self._note_each(self._output.end_all())
        length = f", {duration(max(0.0, envelope['ts'] - self._began))}" if self._began else ""
        used = {"tokens": self.tokens, "uncounted": self.uncounted, "usd": self.usd, "unpriced": self.unpriced}
        spent = (
            f", {tokens(used, ',')} token{'' if self.tokens == 1 else 's'}" if self.tokens or self.uncounted else ""
        )
        if self.usd:
            spent += f", {cost(used)}"
        style = ("green",) if self.ending == "completed" else ("yellow",)
        self._note(f"-- {word}{length}{spent}", *style)

    def _on_error(self, body: Json, _: Json) -> None:
        self.ending, self._error = "error", body["message"]

    # --- the model's words ----------------------------------------------------------------------------------------

    def _on_agent_message_delta(self, body: Json, _: Json) -> None:
        if body["item_id"] not in self._streamed:
            self._notes_screen.start_line()
        self._stream(body["item_id"], body["delta"], self._answer_screen)

    def _on_agent_message(self, body: Json, _: Json) -> None:
        shown = self._streamed.pop(body["item_id"], None)
        text = clean_piece(body["message"])
        if shown is None:
            self._notes_screen.start_line()
            self._answer_screen.line(self._in_colour(text))
        else:
            self._answer_screen.write(text[len(shown) :] if text.startswith(shown) else "")
            self._answer_screen.start_line()
        if body["partial"]:
            self._note_cut(body)

    def _in_colour(self, text: str) -> str:
        return paint_markdown(text, self._paint) if self._markdown and self._paint.on else text

    def _on_agent_reasoning_delta(self, body: Json, _: Json) -> None:
        if body["item_id"] not in self._streamed:
            self._notes_screen.start_line()
        self._stream(body["item_id"], body["delta"], self._notes_screen, "dim")

    def _on_agent_reasoning(self, body: Json, _: Json) -> None:
        shown = self._streamed.pop(body["item_id"], None)
        if shown is None:
            self._note(clean(body["text"]))
        else:
            self._notes_screen.start_line()
        if body["partial"]:
            self._note_cut(body)

    def _stream(self, item: str, text: str, screen: Screen, *styles: str) -> None:
        text = clean_piece(text)
        self._streamed[item] = self._streamed.get(item, "") + text
        screen.write(self._paint(text, *styles))

    # --- approvals ------------------------------------------------------------------------------------------------

    def ask(self, body: Json, *, whole: bool = False) -> None:
        """Show an approval: a person has to see it in order to answer."""
        columns = self._notes_screen.room or texts.LONGEST
        head = wrap_text(f"? {approval_text.title(body)}", self._notes_screen.room)
        for line in head:
            self._plain(self._paint(line, "yellow", "bold"), asks=True)
        lines, complete = approval_text.body(body, columns, self._paint, None if whole else LINES_OF_AN_APPROVAL)
        for line in lines:
            self._plain(line)
        self.approvals[body["approval_id"]] = body
        self.heights[body["approval_id"]] = len(head) + len(lines)
        (self.incomplete_approvals.discard if complete else self.incomplete_approvals.add)(body["approval_id"])

    def _on_approval_requested(self, body: Json, _: Json) -> None:
        self.ask(body)

    def _on_approval_resolved(self, body: Json, _: Json) -> None:
        asked = self.approvals.pop(body["approval_id"], None)
        if asked is not None and not body["decision"].startswith("approved"):
            self._shown_failures.add(asked["item_id"])
        why = reason_clause(body["reason"]) if body["decision"] != "withdrawn" else ""
        style = "green" if body["decision"].startswith("approved") else "yellow"
        self._note(f"  {ANSWERS.get(body['decision'], body['decision'])}{actor_clause(body)}{why}", style)

    # --- the conversation -----------------------------------------------------------------------------------------

    def _on_input_queued(self, body: Json, _: Json) -> None:
        how = "joins the turn" if body["policy"] == "steer" else "waits"
        self._note(f"+ {how}: {words_of(body)}")

    def _on_conversation_failed(self, body: Json, _: Json) -> None:
        self._note(f"failed: {one_line(body['message'])} (`greenroom restart` lets it run again)", "red", "bold")
        if self._raw and body["traceback"]:
            self._note(clean(body["traceback"]))

    def _on_session_configured(self, body: Json, envelope: Json) -> None:
        settings: dict[str, Any] = body.get("settings") or {}
        self.base = settings.get("cwd", self.base)
        where = f" in {visible(settings['cwd'])}" if settings else ""
        self._note(f"conversation {short_id(envelope['conversation'])}, {visible(body['model'])}{where}")
