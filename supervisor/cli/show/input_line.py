"""The meaning of keys while a conversation is watched, and the text of the foot line. Pure: keys in, commands out.

A word and Enter answer an approval, if they were typed after the person could read it: never a single key, a paste,
or a word that was begun before.
"""

from dataclasses import dataclass, field
from enum import Enum, auto

from actors.vocabulary.visible_text import visible
from supervisor.cli.kit.approval_answers import ApprovalAnswer, is_like_an_answer, parse_answer, possible_words
from supervisor.cli.kit.client import Json
from supervisor.cli.kit.formatting import duration
from supervisor.cli.kit.ids import short_id
from supervisor.cli.kit.terminal import Paint
from supervisor.cli.show import keys

SHOW = "show"
LOOK_S = 0.5  # no person reads an approval faster; an earlier key was meant for the line that was being typed
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
CHANGED_NOTICE = "not answered: the approval appeared while you typed; read it, then type again"
PASTED_NOTICE = "a paste answers no approval; type the word"
HELD_NOTICE = "the daemon is away; Enter sends this when it is back, Ctrl-C leaves"
CLOSED_NOTICE = "that approval is no longer open; nothing was answered, nothing was sent"
PARTLY_NOTICE = "not all of it is on the screen; type show and Enter first"
NO_ANSWER_NOTICE = "that answers nothing: {}; a sentence is a message"
LONG_WORDS = {
    "outside": "outside (the sandbox)",
    "always": "always (in this conversation)",
    "abort": "abort (ends the turn)",
}


class WatchAction(Enum):
    LEAVE = auto()
    GIVE_UP = auto()
    INTERRUPT = auto()
    KILL = auto()
    ANSWER = auto()
    SHOW = auto()
    SAY = auto()
    SUSPEND = auto()


@dataclass(frozen=True, slots=True)
class WatchCommand:
    action: WatchAction
    text: str = ""  # the message
    answer: ApprovalAnswer | None = None


@dataclass(slots=True)
class WatchState:
    """The state of the conversation, as far as keys depend on it."""

    running: bool = False
    approval: str | None = None
    question: Json = field(default_factory=dict)  # the event that asks for it
    is_partly_shown: bool = False  # some lines of the approval were left out
    asked_at: float = 0.0
    began_at: float = 0.0
    away_notice: str = ""  # why nothing can be sent: words for the foot line
    slow_notice: str = ""  # the same while the daemon does not answer


class InputLine:
    """The line that is being typed, and whether an interrupt is to be confirmed."""

    def __init__(self, paint: Paint, *, read_only: bool = False) -> None:
        self._paint = paint
        self._read_only = read_only
        self._typed = ""
        self._typed_at = 0.0
        self._pasted = False  # at least in part
        self._seen: str | None = None  # the approval that was shown when the line was begun
        self._said = ""  # why nothing was answered
        self._asking = False
        self._interrupting = False
        self._held = False  # Enter was pressed while the daemon was away

    def press(self, key: str, scene: WatchState, now: float, *, more: bool = False) -> WatchCommand | None:
        """Act on a key. `more`: other keys came at the same moment, so it was not typed by hand."""
        if key in {keys.CTRL_BACKSLASH, keys.CTRL_D}:
            return WatchCommand(WatchAction.LEAVE)
        if key == keys.CTRL_Z:
            return WatchCommand(WatchAction.SUSPEND)
        if scene.away_notice and key == keys.CTRL_C:
            return WatchCommand(WatchAction.GIVE_UP)
        if self._read_only:
            return WatchCommand(WatchAction.LEAVE) if key in {keys.CTRL_C, "q"} else None
        if key == keys.CTRL_C:
            return self._ctrl_c(scene)
        if self._asking:
            self._asking = False
            return None
        self._begin(scene, now)
        return self._type(key, scene, more=more)

    def _begin(self, scene: WatchState, now: float) -> None:
        self._held = False
        if not self._typed:
            known = scene.approval is not None and self._seen == scene.approval and not self._pasted
            self._pasted, self._said = False, ""
            self._seen = scene.approval if known or self._may_answer(scene, now) else None
        self._typed_at = now

    def _may_answer(self, scene: WatchState, now: float) -> bool:
        return scene.approval is not None and now - max(scene.asked_at, self._typed_at) >= LOOK_S

    def _ctrl_c(self, scene: WatchState) -> WatchCommand | None:
        if self._typed:
            self._typed = ""
            return None
        if not scene.running:
            self._asking = False
            return WatchCommand(WatchAction.LEAVE)
        if self._asking or self._interrupting:
            return self._interrupt(scene)
        self._asking = True
        return None

    def _interrupt(self, scene: WatchState) -> WatchCommand | None:
        self._asking = False
        if not scene.running:
            return None
        action = WatchAction.KILL if self._interrupting else WatchAction.INTERRUPT
        self._interrupting = True
        return WatchCommand(action)

    def _type(self, key: str, scene: WatchState, *, more: bool) -> WatchCommand | None:
        if isinstance(key, keys.PastedText):
            self._typed += key
            self._pasted = True
        elif key == keys.ENTER and scene.away_notice:
            self._held = True
        elif key == keys.ENTER:
            said, self._typed = self._typed.strip(), ""
            self._pasted = self._pasted or more
            wanted = self._enter(said, scene) if said else None
            self._seen = None  # but not if the line was only erased
            return wanted
        elif key in {keys.BACKSPACE, "\x08"}:
            self._typed = self._typed[:-1]
        elif key == keys.CTRL_U:
            self._typed = ""
        elif key.isprintable():
            self._typed += key
        return None

    def _enter(self, said: str, scene: WatchState) -> WatchCommand | None:
        if scene.approval is None:
            if self._seen is None or not is_like_an_answer(said):
                return WatchCommand(WatchAction.SAY, said)
            self._said = CLOSED_NOTICE
            return None
        shows = said.lower() == SHOW
        if shows and not self._pasted:
            return WatchCommand(WatchAction.SHOW)
        answer = parse_answer(said, scene.question)
        if answer is None and not is_like_an_answer(said):
            return WatchCommand(WatchAction.SAY, said)
        self._said = self._why_not(scene, answer)
        return None if self._said else WatchCommand(WatchAction.ANSWER, answer=answer)

    def _why_not(self, scene: WatchState, answer: ApprovalAnswer | None) -> str:
        if self._pasted:
            return PASTED_NOTICE
        if self._seen != scene.approval:
            return CHANGED_NOTICE
        if answer is None:
            return NO_ANSWER_NOTICE.format(", ".join(possible_words(scene.question)))
        return PARTLY_NOTICE if scene.is_partly_shown and answer.approves else ""

    @property
    def draft(self) -> str:
        """The line that was not sent."""
        return self._typed.strip()

    def keep(self, pressed: list[str]) -> None:
        """Add keys to the line, which is not sent any more."""
        for key in pressed:
            if key == keys.ENTER:
                self._typed += "\n"
            elif key.isprintable() or isinstance(key, keys.PastedText):
                self._typed += key

    def turn_ended(self) -> None:
        self._asking = self._interrupting = False

    def foot(self, scene: WatchState, now: float, columns: int) -> str:
        """The text of the foot line: the most urgent notice or hint."""
        if self._asking:
            return self._paint("Interrupt the turn? Ctrl-C again: yes, any other key: no", "yellow", "bold")
        if self._held and scene.away_notice:
            return self._paint(HELD_NOTICE, "yellow", "bold")
        if self._typed:
            return f"> {visible(self._typed.replace(chr(10), '⏎')[-columns:])[-(columns - 5) :]}_"
        if self._said:
            return self._paint(self._said, "yellow", "bold")
        if scene.away_notice or scene.slow_notice:
            return self._paint(scene.away_notice or scene.slow_notice, "yellow", "bold")
        if self._interrupting:
            return f"{self._paint('interrupting', 'yellow')}  {self._paint('Ctrl-C again: kill at once', 'dim')}"
        if not self._read_only and scene.approval is not None and self._may_answer(scene, now):
            return self._paint(self._words(scene.approval, scene, columns), "yellow", "bold")
        if scene.running:
            turning = SPINNER[int(now * 10) % len(SPINNER)]
            hint = "Ctrl-D leaves" if self._read_only else "Ctrl-C interrupts, Ctrl-D leaves, type to join in"
            passed = duration(max(0.0, now - scene.began_at))
            return f"{self._paint(turning, 'cyan')} {passed}  {self._paint(hint, 'dim')}"
        leave = self._paint("Ctrl-D leaves", "dim")
        return leave if self._read_only else self._paint("> type a message; Ctrl-D leaves", "dim")

    def _words(self, approval: str, scene: WatchState, columns: int) -> str:
        if scene.is_partly_shown:
            return f"{short_id(approval)}: show (all of it), no, abort + Enter"
        words, known = list(possible_words(scene.question)), short_id(approval)
        long, plain = (", ".join(choices) for choices in ([LONG_WORDS.get(word, word) for word in words], words))
        texts = (f"{known}: {long}", f"{known}: {plain}", f"{known}: {'/'.join(words)}", "/".join(words))
        return next((line for line in (f"{text} + Enter" for text in texts) if len(line) < columns), texts[-1])
