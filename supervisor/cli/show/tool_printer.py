"""The work of a turn as a person reads it: commands, patches, plans, tools of servers and agents.

Also writes the lines of all events: the printer of all other events inherits from this class.
"""

import base64

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit import approval_text
from supervisor.cli.kit.client import Json
from supervisor.cli.kit.formatting import clean, duration, one_line, wrap_text
from supervisor.cli.kit.terminal import Paint
from supervisor.cli.show.command_output import CommandOutput
from supervisor.cli.show.screen import Screen
from transports import question_text as texts

MCP = "⚒"  # before a tool of an MCP server, as `$` before a command
CUTS = {"lost": "(cut off here when the daemon ended)"}
REFUSAL_PREFIXES = ("patch rejected: ", "exec command rejected: ")  # by policy; a refusal by a person says "by user"
MARKS = {"completed": "[x]", "in_progress": "[>]", "pending": "[ ]"}


class ToolPrinter:
    def __init__(self, said: Screen, told: Screen, paint: Paint, *, raw: bool) -> None:
        self._answer_screen = said
        self._notes_screen = told
        self._paint = paint
        self._raw = raw
        self._output = CommandOutput(raw=raw)
        self._looks: set[str] = set()  # items that no program runs for
        self._shown_failures: set[str] = set()  # items whose failure another event has shown
        self.base = ""  # the conversation's directory, to which file names are relative

    def _forget_tools(self) -> None:
        self._output.clear()
        self._looks.clear()
        self._shown_failures.clear()

    # --- lines ----------------------------------------------------------------------------------------------------

    def _anything(self, body: Json) -> None:
        self._note(f"{body['type']}: {one_line(str({k: v for k, v in body.items() if k != 'type'}))}")

    def _note(self, text: str, *styles: str) -> None:
        self._write_hanging(text, "  ", *styles)

    def _note_each(self, lines: list[str]) -> None:
        for line in lines:
            self._note(f"  {line}")

    def _write_hanging(self, text: str, below: str, *styles: str) -> None:
        for line in wrap_text(text, self._notes_screen.room, below):
            self._plain(self._paint(line, *(styles or ("dim",))))

    def _plain(self, text: str, *, asks: bool = False) -> None:
        if self._answer_screen is not self._notes_screen:
            self._answer_screen.start_line()
        self._notes_screen.line(text, asks=asks)

    def _note_cut(self, body: Json) -> None:
        self._note(CUTS.get(body.get("cut") or "", "(cut off)"))

    # --- work -----------------------------------------------------------------------------------------------------

    def _on_work_began(self, body: Json, _: Json) -> None:
        subject = body["subject"]
        if subject.get("tool") and subject["kind"] == "command":
            self._looks.add(body["item_id"])
            self._note(" ".join(map(visible, subject["command"])), "cyan")
            return
        if subject.get("changes"):
            self._changes(subject["changes"])
        elif subject.get("command"):
            self._note(f"$ {texts.command_for_history(subject['command'])}", "cyan")
        elif subject["kind"] == "tool":
            self._note(f"{MCP} {one_line(texts.tool_call_line(subject))}", "cyan")
        else:
            call = body["agent_call"] or {}
            self._note(f"{MCP} {one_line(call.get('title') or call.get('sort', 'a tool'))}", "cyan")
        self._output.begin(body["item_id"])

    def _on_work_output(self, body: Json, _: Json) -> None:
        if body["kind"] == "command":  # the results of other tools are for the agent
            text = base64.b64decode(body["chunk"]).decode(errors="replace")
            self._note_each(self._output.take(body["item_id"], clean(text)))

    def _on_work_ended(self, body: Json, _: Json) -> None:
        match body["kind"]:
            case "picture":
                self._note(f"view_image {visible(self._relative(body['subject']['path']))}", "cyan")
            case "search":
                self._note(f"searched the web: {one_line(body['subject']['query']) or 'something'}")
            case "command":
                self._command_ended(body)
            case "tool":
                self._server_tool_ended(body)
            case "files" if body["agent_call"] is None:
                self._patch_ended(body)
            case _:
                self._call_ended(body)

    def _command_ended(self, body: Json) -> None:
        item, code = body["item_id"], body["exit_code"] or 0
        of_agent = body["agent_call"] is not None
        if item in self._looks:  # its result is for the model, and a failure is shown with the output
            self._looks.discard(item)
            return
        if not self._output.has_output(item):
            self._note_each(self._output.take_whole(item, clean(body["output"] + body["errors"])))
            if code < 0 and body["errors"]:  # why it was not started, which its failure repeats
                self._shown_failures.add(item)
        self._note_each(self._output.end(item))
        if body.get("cut"):
            self._note_cut(body)
        elif of_agent and body["status"] == "cancelled":
            self._note("  cancelled", "yellow")
        elif code > 0 or (of_agent and (code or body["status"] == "failed")):
            self._note(f"  {f'exit {code}' if code else 'failed'}, {_length(body)}", "red")
        elif code < 0 and any(body["duration"].values()):  # no exit code: it was ended, or not started
            self._note(f"  stopped after {_length(body)}", "red")

    def _patch_ended(self, body: Json) -> None:
        if body["status"] != "completed":
            self._shown_failures.add(body["item_id"])
            self._note(f"the patch failed: {clean(body['errors']).strip()}", "red")

    def _server_tool_ended(self, body: Json) -> None:
        if body["result"] is None:
            self._shown_failures.add(body["item_id"])
            self._note(f"  {one_line(body['errors'])}, {_length(body)}", "red")
        else:
            text = clean("\n".join(part.get("text", "") for part in body["result"].get("content", ())))
            whole = text.rstrip("\n") + "\n" if text else ""
            self._note_each(self._output.take_whole(body["item_id"], whole))
            self._note_each(self._output.end(body["item_id"]))

    def _call_ended(self, body: Json) -> None:
        code = f"exit {body['exit_code']}" if body["exit_code"] else ""
        if body.get("cut"):
            self._note_cut(body)
        elif body["status"] == "cancelled":
            self._note("  cancelled", "yellow")
        elif body["status"] == "failed":
            self._note(f"  failed: {one_line(body['output']) or code or 'it says no more'}", "red")
        elif code:
            self._note(f"  {code}, {_length(body)}", "red")

    def _changes(self, changes: Json) -> None:
        for path, change in sorted(changes.items()):
            for line in texts.change_lines(self._relative(path), change, approval_text.home()):
                for shown in line.fold(self._notes_screen.room or texts.LONGEST):
                    self._plain(self._paint(shown, *approval_text.STYLES.get(line.style, ())))

    def _relative(self, path: str) -> str:
        return path.removeprefix(f"{self.base.rstrip('/')}/") if self.base else path

    # --- jobs and plans -------------------------------------------------------------------------------------------

    def _on_job_started(self, body: Json, _: Json) -> None:
        until = "it goes on after the turn" if body["keeps"] else "until the turn ends"
        self._note(f"$ {texts.command_for_history(body['command'])} &", "cyan")
        self._note(f"  job {body['job']}, {until}")

    def _on_plan_update(self, body: Json, _: Json) -> None:
        if body["explanation"]:
            self._note(clean(body["explanation"]))
        for step in body["plan"]:
            style = {"completed": "dim", "in_progress": "bold"}.get(step["status"], "plain")
            self._write_hanging(f"{MARKS[step['status']]} {one_line(step['step'])}", "    ", style)

    def _on_tool_output(self, body: Json, _: Json) -> None:
        """Show a failure, unless another event has shown it already. Older histories have refusals only."""
        failed = body.get("failed")
        known = body["item_id"] in self._shown_failures
        self._shown_failures.discard(body["item_id"])
        if failed and not known:
            self._note(f"  {one_line(failed['message'])}", "yellow" if failed["kind"] == "refused" else "red")
        elif not failed and body["output"].startswith(REFUSAL_PREFIXES):
            self._note(one_line(body["output"]), "yellow")
        elif self._raw:
            self._anything(body)


def _length(body: Json) -> str:
    return duration(body["duration"]["secs"] + body["duration"]["nanos"] / 1e9)
