"""`greenroom top`: a live view of the conversations, with keys. In a pipe it is printed once."""

import select
import sys
import time
from argparse import Namespace
from contextlib import suppress
from io import StringIO
from typing import NamedTuple

from actors.vocabulary.visible_text import visible
from supervisor.cli.attach import watch_conversation
from supervisor.cli.kit import ids, terminal
from supervisor.cli.kit.approval_answers import ApprovalAnswer, parse_answer, possible_words
from supervisor.cli.kit.approval_text import body, title
from supervisor.cli.kit.client import Control, DaemonLost, Json, Onlooker, RequestRefused
from supervisor.cli.kit.conversation_rows import FIRST_COLUMNS, LAST_COLUMNS, SPENDING_COLUMNS, row_of
from supervisor.cli.kit.formatting import cut_to_width, plural, size, span, wrap_text
from supervisor.cli.kit.memory import conversation_memory, process_memory
from supervisor.cli.kit.reconnecting import AWAY_NOTICE, SLOW_NOTICE, SLOW_S, Absence
from supervisor.cli.kit.table import WIDE, Column, Row, draw_table, plain_table
from supervisor.cli.show import keys
from supervisor.cli.show.attention import Attention
from supervisor.cli.verbs.options import BAD_ENDINGS

REFRESH_S = 1.0
MOST_SHOWN = 500  # conversations, those used last; and all that ask
SCREEN_ON, SCREEN_OFF = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
HELP = "i interrupt  a answer  enter attach  q quit"
WAYS_OUT = ("q", keys.CTRL_C, keys.CTRL_D, keys.CTRL_BACKSLASH)
ORDER = ("waiting", "interrupting", "running", "starting", *BAD_ENDINGS, "idle", "parked", "archived")


def _short(client: str) -> str:
    """The name of a client, without `greenroom`: a narrow table has room for the verb only."""
    return client.removeprefix("greenroom ")


TABLE = (
    *FIRST_COLUMNS,
    *SPENDING_COLUMNS,
    Column("EV/S", lambda row: f"{row['rate']:.0f}" if row["rate"] else "", right=True, wide=True),
    Column("MEMORY", lambda row: size(row["memory"]) if row["memory"] else "", right=True, wide=True),
    Column("WATCHED BY", lambda row: ", ".join(map(_short, row["watched"])), shrinks=True, wide=True),
    *LAST_COLUMNS,
)


class Sample:
    """The state of the daemon, and the rates since the last look."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._before: dict[str, int] = {}
        self._then = time.monotonic()
        self.daemon: Json = {}
        self.rows: list[Row] = []
        self.total = 0
        self.approvals: list[Json] = []

    def take(self) -> None:
        control, now = self._control, time.monotonic()
        self.daemon = vars(control.status())
        found = control.conversations(limit=MOST_SHOWN)
        self.total = found.total
        clients = control.clients()
        self.approvals = control.call("approvals/list")["approvals"]
        there = {conversation.conversation for conversation in found}
        asking = {approval["conversation"] for approval in self.approvals} - there
        rows = [row_of(conversation) for conversation in (*found, *control.conversations_by_id(sorted(asking)))]
        memory, passed_s = conversation_memory(), max(0.001, now - self._then)
        for row in rows:
            row["rate"] = max(0, row["seq"] - self._before.get(row["id"], row["seq"])) / passed_s
            row["memory"] = memory.get(row["id"], 0)
            row["watched"] = [
                visible(client.name)
                for client in clients
                if any(reader["conversation"] == row["id"] for reader in client.attached)
            ]
        self._before, self._then = {row["id"]: row["seq"] for row in rows}, now
        self.rows = sorted(rows, key=lambda row: (ORDER.index(row["state"]), -row["updated"]))

    def head(self) -> str:
        daemon, memory = self.daemon, process_memory(self.daemon["pid"])
        parts = [
            f"greenroom {daemon['version']} up {span(daemon['uptime_s'])}",
            plural(self.total, "conversation"),
            plural(daemon["agents"]["turns"], "turn"),
            plural(len(self.approvals), "approval"),
            plural(daemon["clients"], "client"),
            *([size(memory)] if memory else []),
        ]
        return ", ".join(parts)


def run(chosen: Namespace) -> int:
    with Control("top", environment=True) as control:
        sample = Sample(control)
        sample.take()
        if not keys.has_keyboard():
            print(sample.head())
            print("\n".join(plain_table(TABLE, sample.rows)))
            return 0
        Top(control, sample, chosen).run()
    return 0


class Top(Onlooker):
    """The screen, the selected row, and the work of keys."""

    def __init__(self, control: Control, sample: Sample, chosen: Namespace) -> None:
        self._control = control
        self._sample = sample
        self._chosen = chosen
        self._selected: str | None = None
        self._note = ""
        self._asking: Prompt | None = None
        self._typed = ""
        self._over = False
        self._keyboard = keys.Keyboard()
        self._attention = Attention(self._keyboard, "top", time.time())
        self._absence: Absence | None = None
        self._slow = False
        self._early: list[str] = []  # keys that were pressed while an answer was waited for

    def run(self) -> None:
        self._control.onlooker = self
        sys.stdout.write(SCREEN_ON)
        try:
            with self._keyboard, self._attention, suppress(_PersonLeft):
                while not self._over:
                    self._draw()
                    self._turn()
        finally:
            sys.stdout.write(SCREEN_OFF)
            sys.stdout.flush()

    def _turn(self) -> None:
        if not self._early and select.select([self._keyboard.fd], [], [], REFRESH_S)[0]:
            self._early = self._keyboard.read()
        pressed, self._early = self._early, []
        back = self._absence is not None and self._absence.look()
        self._absence = None if back else self._absence
        if pressed:
            self._attention.note_key(time.time())
        try:
            for at, key in enumerate(pressed, 1):
                self._press(key, more=at < len(pressed))
            if not pressed and self._absence is None:
                self._sample.take()
                self._attention.show_open_approvals(
                    (approval["approval_id"] for approval in self._sample.approvals), time.time()
                )
                self._note = self._note if self._asking else ""
        except DaemonLost as lost:
            self._asking = None
            self._absence = Absence(lost, self._control, patient=True)

    # --- while the daemon does not answer ---------------------------------------------------------------------------

    def note_wait(self, waited_s: float) -> None:
        self._early += self._keyboard.pending()
        if {*WAYS_OUT} & {*self._early}:
            raise _PersonLeft
        if waited_s >= SLOW_S and not self._slow:
            self._slow = True
            self._draw()

    def note_answer(self) -> None:
        self._slow = False

    # --- drawing --------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        columns, rows = terminal.size()
        paint = terminal.Paint()
        feet = self._feet(columns - 1, rows - 1)
        room = max(1, rows - 3 - len(feet))
        at = self._place()
        first = max(0, min(at - room + 1, len(self._sample.rows) - room))
        shown = self._sample.rows[first : first + room]
        room_across, long = columns - 3, self._chosen.long or columns >= WIDE  # without the mark and the last cell
        lines = ["no conversations; `greenroom run` starts one"]
        if shown:
            lines = draw_table(TABLE, shown, room_across, paint, long=long, most=room_across)
        marked = [f"{'>' if first + place == at + 1 else ' '} {line}" for place, line in enumerate(lines)]
        screen = [cut_to_width(self._sample.head(), columns - 1), "", *marked, *[""] * (room + 1 - len(marked)), ""]
        screen = [*screen[: max(0, rows - len(feet))], *(paint(foot, "bold") for foot in feet)]
        sys.stdout.write("\x1b[H" + "\x1b[K\n".join(screen) + "\x1b[J")
        sys.stdout.flush()

    def _feet(self, columns: int, rows: int) -> list[str]:
        """The lines at the bottom. An approval that does not fit can't be answered here."""
        trouble = AWAY_NOTICE if self._absence is not None else SLOW_NOTICE if self._slow else ""
        if trouble or self._asking is None:
            return [cut_to_width(trouble or self._note or HELP, columns)]
        lines = self._asking.lines(columns)
        if len(lines) < rows:
            words = ", ".join(self._asking.words)
            return [*lines, cut_to_width(f"{words} + Enter: {self._typed}_", columns)]
        self._asking, self._note = None, "the approval is too long for this window; press enter to attach and read it"
        return self._feet(columns, rows)

    def _place(self) -> int:
        places = [place for place, row in enumerate(self._sample.rows) if row["id"] == self._selected]
        return places[0] if places else 0

    @property
    def _row(self) -> Row | None:
        return self._sample.rows[self._place()] if self._sample.rows else None

    # --- keys -----------------------------------------------------------------------------------------------------

    def _press(self, key: str, *, more: bool) -> None:
        """Act on a key. A paste is ignored, and no single key does a thing that can't be undone."""
        if isinstance(key, keys.PastedText):
            self._asking, self._note = None, "a paste does nothing here"
            return
        if self._asking is not None:
            self._type(key, self._asking, more=more)
            return
        self._note = ""
        if key in WAYS_OUT:
            self._over = True
        elif key in {keys.UP, "k", keys.DOWN, "j"}:
            self._move(-1 if key in {keys.UP, "k"} else 1)
        elif self._row is not None and self._absence is None:
            self._act(key, self._row)

    def _move(self, by: int) -> None:
        if self._sample.rows:
            at = min(max(0, self._place() + by), len(self._sample.rows) - 1)
            self._selected = self._sample.rows[at]["id"]

    def _act(self, key: str, row: Row) -> None:
        self._selected = row["id"]
        if key == "i":
            self._ask(Prompt(row["id"], f"interrupt the turn of {ids.short_id(row['id'])}?"))
        elif key == "a":
            self._ask_about(row)
        elif key == keys.ENTER:
            self._attach(row)

    def _ask_about(self, row: Row) -> None:
        mine = [approval for approval in self._sample.approvals if approval["conversation"] == row["id"]]
        if mine:
            self._ask(Prompt(mine[0]["approval_id"], title(mine[0]), mine[0]))
        else:
            self._note = f"{ids.short_id(row['id'])} has no open approval"

    def _ask(self, asking: "Prompt") -> None:
        self._asking, self._typed = asking, ""

    def _type(self, key: str, asking: "Prompt", *, more: bool) -> None:
        if key in {keys.CTRL_C, keys.CTRL_D, keys.CTRL_BACKSLASH, keys.ESCAPE}:
            self._asking = None
        elif key == keys.ENTER:
            self._asking = None
            self._answer(asking, None if more else parse_answer(self._typed, asking.approval or {}))
        elif key in {keys.BACKSPACE, "\x08"}:
            self._typed = self._typed[:-1]
        elif key.isprintable():
            self._typed += key

    def _answer(self, asking: "Prompt", answer: ApprovalAnswer | None) -> None:
        if answer is None:
            self._note = f"nothing was answered: {', '.join(asking.words)}"
        elif asking.approval is not None:
            self._note = self._answer_approval(asking.id, answer)
        elif answer.approves:
            self._control.begin("conversation/interrupt", conversation=asking.id)
            self._note = f"{ids.short_id(asking.id)}: interrupt sent"
        else:
            self._note = "the turn goes on"

    def _answer_approval(self, approval: str, answer: ApprovalAnswer) -> str:
        """Answer the approval, and say if somebody else was quicker."""
        try:
            result = self._control.answer(approval, **answer.members)
        except RequestRefused as refusal:
            return visible(refusal.message)
        return f"answered: {result.decision}{', outside the sandbox' if result.outside else ''}"

    def _attach(self, row: Row) -> None:
        """Watch the conversation on the ordinary screen, over a connection of its own; then come back."""
        sys.stdout.write(SCREEN_OFF)
        sys.stdout.flush()
        self._keyboard.give_back()
        try:
            chosen = Namespace(**{**vars(self._chosen), "since": None, "ro": False, "json": False})
            with Control("attach", environment=True) as control:
                watch_conversation(control, row["id"], chosen)
        finally:
            self._keyboard.take()
            sys.stdout.write(SCREEN_ON)
            self._sample.take()


class _PersonLeft(Exception):
    """The person left while the daemon did not answer."""


class Prompt(NamedTuple):
    """The prompt below the table, until the person types a word and Enter."""

    id: str
    title: str
    approval: Json | None = None

    @property
    def words(self) -> tuple[str, ...]:
        return ("yes", "no") if self.approval is None else tuple(possible_words(self.approval))

    def lines(self, columns: int) -> list[str]:
        """The lines of the prompt, without colours, because they are counted and cut as text."""
        below = body(self.approval, columns, terminal.Paint(StringIO()))[0] if self.approval is not None else []
        return [*wrap_text(f"? {self.title}", columns), *below]
