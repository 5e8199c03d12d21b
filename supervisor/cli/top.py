"""`greenroom top`: a live view of the conversations, with keys. In a pipe it is printed once."""

import select
import sys
import time
from argparse import Namespace

from supervisor.cli import ids, terminal
from supervisor.cli.approvals import question
from supervisor.cli.attach import attached
from supervisor.cli.client import Control, Json
from supervisor.cli.memory import of_conversations, of_process
from supervisor.cli.rows import COLUMNS, row_of
from supervisor.cli.show import keys
from supervisor.cli.table import Column, Row, drawn, plain
from supervisor.cli.words import age, cut, many, one_line, size, span, wrapped

REFRESH_S = 1.0
SCREEN_ON, SCREEN_OFF = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
HELP = "i interrupt  a approve  enter attach  q quit"
ORDER = ("waiting", "interrupting", "running", "starting", "failed", "idle", "parked", "archived")


def _short(client: str) -> str:
    """Of our own verbs the verb is enough, and all that a narrow table has room for."""
    return client.removeprefix("greenroom ")


TABLE = (
    *COLUMNS[:3],
    Column("AGE", lambda row: age(row["created"]), right=True),
    Column("TOKENS", lambda row: str(row["tokens"]), right=True),
    Column("EV/S", lambda row: f"{row['rate']:.0f}" if row["rate"] else "", right=True),
    Column("MEMORY", lambda row: size(row["memory"]) if row["memory"] else "", right=True),
    Column("WATCHED BY", lambda row: ", ".join(map(_short, row["watched"])), gives=True),
    Column("ABOUT", lambda row: one_line(row["preview"] or ""), gives=True),
)


class Sample:
    """What the daemon says now, beside what it said before."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self._before: dict[str, int] = {}
        self._then = time.monotonic()
        self.daemon: Json = {}
        self.rows: list[Row] = []
        self.questions: list[Row] = []

    def take(self) -> None:
        control, now = self._control, time.monotonic()
        self.daemon = control.call("daemon/status")
        rows = [row_of(one) for one in ids.everything(control, archived=False)]
        clients = control.call("clients/list")["clients"]
        self.questions = [question(one) for one in control.call("approvals/list")["approvals"]]
        memory, passed_s = of_conversations(), max(0.001, now - self._then)
        for row in rows:
            row["rate"] = max(0, row["seq"] - self._before.get(row["id"], row["seq"])) / passed_s
            row["memory"] = memory.get(row["id"], 0)
            row["watched"] = [
                one_line(one["name"])
                for one in clients
                if any(r["conversation"] == row["id"] for r in one["attached"])
            ]
        self._before, self._then = {row["id"]: row["seq"] for row in rows}, now
        self.rows = sorted(rows, key=lambda row: (ORDER.index(row["state"]), -row["updated"]))

    def head(self) -> str:
        daemon, memory = self.daemon, of_process(self.daemon["pid"])
        parts = [
            f"greenroom {daemon['version']} up {span(daemon['uptime_s'])}",
            many(len(self.rows), "conversation"),
            many(daemon["agents"]["turns"], "turn"),
            many(len(self.questions), "question"),
            many(daemon["clients"], "client"),
            *([size(memory)] if memory else []),
        ]
        return ", ".join(parts)


def run(chosen: Namespace) -> int:
    with Control("top", environment=True) as control:
        sample = Sample(control)
        sample.take()
        if not keys.there_are():
            print(sample.head())
            print("\n".join(plain(TABLE, sample.rows)))
            return 0
        Top(control, sample, chosen).run()
    return 0


class Top:
    """The screen, the selected row, and what keys do to it."""

    def __init__(self, control: Control, sample: Sample, chosen: Namespace) -> None:
        self._control = control
        self._sample = sample
        self._chosen = chosen
        self._selected: str | None = None
        self._note = ""
        self._asking: str | None = None  # the question that y or n answers
        self._over = False

    def run(self) -> None:
        keyboard = keys.Keyboard()
        sys.stdout.write(SCREEN_ON)
        try:
            with keyboard:
                while not self._over:
                    self._draw()
                    if select.select([keyboard.fd], [], [], REFRESH_S)[0]:
                        for key in keyboard.read():
                            self._press(key, keyboard)
                    else:
                        self._sample.take()
                        self._note = self._note if self._asking else ""
        finally:
            sys.stdout.write(SCREEN_OFF)
            sys.stdout.flush()

    # --- drawing --------------------------------------------------------------------------------------------------

    def _draw(self) -> None:
        columns, rows = terminal.size()
        paint = terminal.Paint()
        feet = self._feet(columns - 1, rows - 1)
        room = max(1, rows - 3 - len(feet))
        at = self._place()
        first = max(0, min(at - room + 1, len(self._sample.rows) - room))
        shown = self._sample.rows[first : first + room]
        lines = drawn(TABLE, shown, columns - 3, paint) if shown else ["no conversations; `greenroom run` starts one"]
        marked = [f"{'>' if first + place == at + 1 else ' '} {line}" for place, line in enumerate(lines)]
        screen = [cut(self._sample.head(), columns - 1), "", *marked, *[""] * (room + 1 - len(marked)), ""]
        screen = [*screen[: max(0, rows - len(feet))], *(paint(foot, "bold") for foot in feet)]
        sys.stdout.write("\x1b[H" + "\x1b[K\n".join(screen) + "\x1b[J")
        sys.stdout.flush()

    def _feet(self, columns: int, rows: int) -> list[str]:
        """The lines at the bottom. What is asked is shown whole or is not answered here."""
        if self._asking is None:
            return [cut(self._note or HELP, columns)]
        lines = wrapped(self._note, columns)
        if len(lines) <= rows:
            return lines
        self._asking, self._note = None, "the question is too long for this window; enter shows it"
        return self._feet(columns, rows)

    def _place(self) -> int:
        places = [place for place, row in enumerate(self._sample.rows) if row["id"] == self._selected]
        return places[0] if places else 0

    @property
    def _row(self) -> Row | None:
        return self._sample.rows[self._place()] if self._sample.rows else None

    # --- keys -----------------------------------------------------------------------------------------------------

    def _press(self, key: str, keyboard: keys.Keyboard) -> None:
        if self._asking is not None:
            self._answer(key)
            return
        self._note = ""
        if key in {"q", keys.CTRL_C, keys.CTRL_D, keys.CTRL_BACKSLASH}:
            self._over = True
        elif key in {keys.UP, "k", keys.DOWN, "j"}:
            self._move(-1 if key in {keys.UP, "k"} else 1)
        elif self._row is not None:
            self._act(key, self._row, keyboard)

    def _move(self, by: int) -> None:
        if self._sample.rows:
            at = min(max(0, self._place() + by), len(self._sample.rows) - 1)
            self._selected = self._sample.rows[at]["id"]

    def _act(self, key: str, row: Row, keyboard: keys.Keyboard) -> None:
        self._selected = row["id"]
        if key == "i":
            self._control.send("conversation/interrupt", conversation=row["id"])
            self._note = f"{ids.short(row['id'])}: asked to stop"
        elif key == "a":
            self._ask(row)
        elif key == keys.ENTER:
            self._attach(row, keyboard)

    def _ask(self, row: Row) -> None:
        mine = [one for one in self._sample.questions if one["conversation"] == row["id"]]
        if not mine:
            self._note = f"{ids.short(row['id'])} asks nothing"
            return
        self._asking = mine[0]["id"]
        self._note = f"y approve  n deny  other keys: later?  {one_line(mine[0]['what'])}"

    def _answer(self, key: str) -> None:
        asked, self._asking, self._note = self._asking, None, ""
        decision = {"y": "approved", "n": "denied"}.get(key)  # not a, which asked: it is easily pressed twice
        if decision is not None:
            self._control.send("approvals/answer", approval=asked, decision=decision)
            self._note = f"answered: {decision}"

    def _attach(self, row: Row, keyboard: keys.Keyboard) -> None:
        """On the ordinary screen, with a connection of its own; afterwards we are back here."""
        sys.stdout.write(SCREEN_OFF)
        sys.stdout.flush()
        keyboard.give_back()
        try:
            chosen = Namespace(**{**vars(self._chosen), "since": None, "ro": False, "json": False})
            with Control("attach", environment=True) as control:
                attached(control, row["id"], chosen)
        finally:
            keyboard.take()
            sys.stdout.write(SCREEN_ON)
            self._sample.take()
