"""What keys mean while a conversation is watched, and what the foot line says. Pure: keys in, wishes out."""

from dataclasses import dataclass
from enum import Enum, auto

from supervisor.cli.show import keys
from supervisor.cli.terminal import Paint
from supervisor.cli.words import took

ANSWERS = {"y": "approved", "n": "denied", "a": "approved_for_session", "q": "abort"}
LOOK_S = 0.5  # nobody has read a question sooner; such a key was meant for the line that was being typed
SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Wish(Enum):
    LEAVE = auto()
    INTERRUPT = auto()
    KILL = auto()
    ANSWER = auto()
    SAY = auto()
    SUSPEND = auto()


@dataclass(frozen=True, slots=True)
class Wanted:
    wish: Wish
    text: str = ""  # what to say, or the decision


@dataclass(slots=True)
class Scene:
    """What goes on in the conversation, as far as keys depend on it."""

    running: bool = False
    question: str | None = None
    asked: float = 0.0
    began: float = 0.0


class Talk:
    """A line being typed, and whether we have just asked about an interrupt."""

    def __init__(self, paint: Paint, *, read_only: bool = False) -> None:
        self._paint = paint
        self._read_only = read_only
        self._typed = ""
        self._typed_at = 0.0
        self._asking = False
        self._interrupting = False

    def press(self, key: str, scene: Scene, now: float) -> Wanted | None:
        if key in {keys.CTRL_BACKSLASH, keys.CTRL_D}:
            return Wanted(Wish.LEAVE)
        if key == keys.CTRL_Z:
            return Wanted(Wish.SUSPEND)
        if self._read_only:
            return Wanted(Wish.LEAVE) if key in {keys.CTRL_C, "q"} else None
        if key == keys.CTRL_C:
            return self._ctrl_c(scene)
        if self._asking:
            self._asking = False
            return self._interrupt(scene) if key in {"y", "Y"} else None
        if key.lower() in ANSWERS and self._may_answer(scene, now):
            return Wanted(Wish.ANSWER, ANSWERS[key.lower()])
        self._typed_at = now
        return self._type(key)

    def _may_answer(self, scene: Scene, now: float) -> bool:
        """A key is an answer when the foot line says so: not in a line that is typed, nor at its first word."""
        if scene.question is None or self._typed or self._read_only:
            return False
        return now - max(scene.asked, self._typed_at) >= LOOK_S

    def _ctrl_c(self, scene: Scene) -> Wanted | None:
        if self._typed:
            self._typed = ""
            return None
        if not scene.running:
            self._asking = False
            return Wanted(Wish.LEAVE)
        if self._asking or self._interrupting:
            return self._interrupt(scene)
        self._asking = True
        return None

    def _interrupt(self, scene: Scene) -> Wanted | None:
        self._asking = False
        if not scene.running:
            return None
        wish = Wish.KILL if self._interrupting else Wish.INTERRUPT
        self._interrupting = True
        return Wanted(wish)

    def _type(self, key: str) -> Wanted | None:
        if key == keys.ENTER:
            said, self._typed = self._typed.strip(), ""
            return Wanted(Wish.SAY, said) if said else None
        if key in {keys.BACKSPACE, "\x08"}:
            self._typed = self._typed[:-1]
        elif key == keys.CTRL_U:
            self._typed = ""
        elif key.isprintable():
            self._typed += key
        return None

    def turn_ended(self) -> None:
        self._asking = self._interrupting = False

    def foot(self, scene: Scene, now: float, columns: int) -> str:
        """The one line at the bottom; what is most urgent comes first."""
        if self._asking:
            return self._paint("Interrupt the turn? y or Ctrl-C: yes, any other key: no", "yellow", "bold")
        if self._typed:
            return f"> {self._typed[-(columns - 5) :]}_"
        leave = self._paint("Ctrl-D leaves", "dim")
        if self._interrupting:
            return f"{self._paint('interrupting', 'yellow')}  {self._paint('Ctrl-C again: kill at once', 'dim')}"
        if self._may_answer(scene, now):
            return self._paint(
                "[y]es  [n]o  [a]lways in this conversation  [q] no, and end the turn", "yellow", "bold"
            )
        if scene.running:
            turning = SPINNER[int(now * 10) % len(SPINNER)]
            hint = "Ctrl-D leaves" if self._read_only else "Ctrl-C interrupts, Ctrl-D leaves, type to join in"
            return f"{self._paint(turning, 'cyan')} {took(max(0.0, now - scene.began))}  {self._paint(hint, 'dim')}"
        return leave if self._read_only else self._paint("> type a message; Ctrl-D leaves", "dim")
