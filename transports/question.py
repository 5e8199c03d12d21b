"""The text of a question, for every surface: what a person reads before something runs or is changed. Pure.

Facts first, in full, and each on lines that begin with a mark of ours; then what the agent says of it, as its words.
A command is written so that bash reads back exactly the words that will run. Standard library alone.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from actors.vocabulary.visible import escape, misread, visible

GOES_ON = "→"  # at the end of a line that is only broken because the window ends
SAID_LENGTH = 300  # of the agent's own words: a reason, not a speech
LONGEST = 1000  # of a line, where nobody knows how wide the window is
TAIL = 3  # a third of what is shown of something too long is its end

_BARE = re.compile(r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*")
_RESERVED = re.compile("if|then|else|elif|fi|do|done|case|esac|while|until|for|in|function|time|coproc|select")
_SHELLS = {"bash", "sh", "zsh"}  # found by name alone: a path may lead anywhere
_NOT_IN_DOUBLE = frozenset('"$`\\!')
_MARKS = {"delete": "delete", "add": "add", "update": "change"}

Asked = Mapping[str, Any]  # the event that asks, as JSON has it


# --- words as a shell needs them ----------------------------------------------------------------------------------


def command_line(argv: Sequence[str]) -> str:
    """The whole command, on one line."""
    return " ".join(_word(word, first=at == 0) for at, word in enumerate(argv))


def command_text(argv: Sequence[str]) -> str:
    """The whole command; a line that ends inside of a word ends here, too."""
    return " ".join(_word(word, first=at == 0, lines=True) for at, word in enumerate(argv))


def typed(argv: Sequence[str]) -> str:
    """The command for a history: the script alone where a well-known shell ran it and all of it is visible."""
    if len(argv) == 3 and argv[0] in _SHELLS and argv[1] in {"-c", "-lc"} and not misread(argv[2].replace("\n", "")):
        return argv[2]
    return command_text(argv)


def place(path: str, home: str = "") -> str:
    """A directory or file as a shell needs it, below `home` with a tilde."""
    home = home.rstrip("/")
    if home and path == home:
        return "~"
    if home and path.startswith(f"{home}/"):
        rest = path[len(home) + 1 :]
        return f"~/{_word(rest)}" if rest else "~/"
    return _word(path)


def _word(word: str, *, first: bool = False, lines: bool = False) -> str:
    """Quote a word: bare, in single or double quotes if that shows everything, else with escapes."""
    seen = (
        word.replace(" \n", "\0").replace("\n", "") if lines else word
    )  # a blank before a line's end is unseen, too
    if misread(seen):
        return _escaped(word, lines=lines)
    if _BARE.fullmatch(word) and not (first and (_RESERVED.fullmatch(word) or "=" in word)):
        return word
    if "'" not in word:
        return f"'{word}'"
    return _escaped(word, lines=lines) if _NOT_IN_DOUBLE & set(word) else f'"{word}"'


def _escaped(word: str, *, lines: bool) -> str:
    hidden = misread(word)

    def written(at: int, one: str) -> str:
        if one in "\\'":
            return f"\\{one}"
        if lines and one == "\n":
            return one
        blank = lines and one == " " and word[at + 1 : at + 2] == "\n"
        return escape(one) if blank or at in hidden else one

    return "$'" + "".join(written(at, one) for at, one in enumerate(word)) + "'"


# --- questions ------------------------------------------------------------------------------------------------------


class MarkedLine(NamedTuple):
    """Text that begins with a mark of ours; where it is broken it goes on below its own text."""

    head: str
    text: str
    style: str = ""
    below: int = 4  # blanks before what did not fit

    def folded(self, columns: int) -> Iterator[str]:
        head, at = self.head, 0
        while True:
            end = _fitting(self.text, at, max(8, columns - len(head) - 4))
            if end >= len(self.text):
                yield f"{head}{self.text[at:]}" if self.text else head.rstrip()
                return
            yield f"{head}{self.text[at:end]}{GOES_ON}"
            head, at = " " * self.below, end


class Drawn(NamedTuple):
    """Lines with the name of their style; `whole` where none is left out."""

    lines: tuple[tuple[str, str], ...]
    whole: bool

    @property
    def text(self) -> str:
        return "\n".join(line for line, _ in self.lines)


def is_patch(asked: Asked) -> bool:
    return "changes" in asked


def outside(asked: Asked) -> bool:
    """True if it would leave the sandbox. Commands of versions that did not say so always did."""
    said = asked.get("outside_sandbox")
    return bool(said) if is_patch(asked) else said is not False


def title(asked: Asked) -> str:
    if is_patch(asked):
        count = len(asked["changes"])
        return f"may it change {count:,} {'file' if count == 1 else 'files'}?"
    return "it failed in the sandbox, may it run again without?" if asked.get("retry") else "may it run this command?"


def summary(asked: Asked, home: str = "") -> str:
    """The whole question on one line: for tables, lists and progress."""
    if is_patch(asked):
        return ", ".join(_change(path, change, home) for path, change in sorted(asked["changes"].items()))
    return command_line(asked["command"])


def where(asked: Asked) -> str:
    return "outside the sandbox" if outside(asked) else "in the sandbox"


def drawn(asked: Asked, columns: int = LONGEST, *, home: str = "", most: int | None = None, see: str = "") -> Drawn:
    """The lines of a question without its title. Of more than `most` the middle is left out, and a line says so."""
    subject = [(text, line.style) for line in _subject(asked, home) for text in line.folded(columns)]
    kept, whole = _cut(subject, most, see, columns)
    rest = [(text, line.style) for line in _circumstances(asked, home) for text in line.folded(columns)]
    return Drawn((*kept, *rest), whole)


def said_by_agent(asked: Asked) -> str:
    """The agent's reason for a command; all other reasons are ours."""
    return "" if is_patch(asked) or asked.get("retry") else _short(asked.get("reason") or "")


def _subject(asked: Asked, home: str) -> Iterator[MarkedLine]:
    if is_patch(asked):
        for path, change in sorted(asked["changes"].items()):
            yield from changed(path, change, home)
    else:
        first, *more = command_text(asked["command"]).split("\n")
        yield MarkedLine("  $ ", first, "command")
        yield from (MarkedLine("  > ", line, "command") for line in more)


def changed(path: str, change: Any, home: str = "") -> Iterator[MarkedLine]:
    """A file of a patch: what becomes of it, and its lines."""
    yield MarkedLine("  ", _change(path, change, home), "file")
    for line in _lines(change):
        text = visible(line.expandtabs(4))
        yield MarkedLine("    ", text, {"+": "added", "-": "removed", "@": "hunk"}.get(line[:1], ""), below=6)


def _lines(change: Any) -> Iterable[str]:
    if change == "delete":
        return ()
    if "add" in change:
        return (f"+{line}" for line in _split(change["add"]["content"]))
    return _split(change["update"]["unified_diff"])


def _split(text: str) -> list[str]:
    """Split at line feeds alone: other line ends are shown."""
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def _change(path: str, change: Any, home: str) -> str:
    kind = change if isinstance(change, str) else next(iter(change))
    moved = change[kind].get("move_path") if kind == "update" else None
    goes = f", move it to {place(moved, home)}" if moved else ""
    return f"{_MARKS.get(kind, kind)} {place(path, home)}{goes}"


def _circumstances(asked: Asked, home: str) -> Iterator[MarkedLine]:
    """The circumstances, last, so that they stand next to where it is answered."""
    if not is_patch(asked):
        yield MarkedLine("  in ", place(str(asked["cwd"]), home), "place")
    if outside(asked) or not is_patch(asked):
        yield MarkedLine("  ", where(asked), "outside" if outside(asked) else "place")
    if asked.get("grant_root"):
        yield MarkedLine("  ", f"from then on it may write below {place(str(asked['grant_root']), home)}", "outside")
    said = said_by_agent(asked)
    if said:
        yield MarkedLine("  the agent says: ", f'"{said}"', "said")
    elif asked.get("reason") and not asked.get("retry"):
        yield MarkedLine("  because: ", _short(asked["reason"]), "said")


def _short(text: str) -> str:
    """Write as one line of readable length, in which nothing is hidden."""
    line = visible(" ".join(text.split()))
    return (
        line if len(line) <= SAID_LENGTH else f"{line[:SAID_LENGTH]}… ({len(line) - SAID_LENGTH:,} more characters)"
    )


def _cut(
    lines: list[tuple[str, str]], most: int | None, see: str, columns: int
) -> tuple[list[tuple[str, str]], bool]:
    if most is None or len(lines) <= most:
        return lines, True
    end = max(1, most // TAIL)
    begin = max(1, most - end)
    hidden = lines[begin : len(lines) - end]
    count = sum(len(text) for text, _ in hidden)
    note = f"{len(hidden):,} lines ({count:,} characters) are not shown here{see and f'; {see}'}"
    said = [(text, "outside") for text in MarkedLine("  … ", note).folded(columns)]
    return [*lines[:begin], *said, *lines[len(lines) - end :]], False


def _fitting(text: str, start: int, room: int) -> int:
    """The end of a line. Characters beyond ASCII count as two cells, because terminals don't agree on them."""
    used = 0
    for at in range(start, len(text)):
        used += 1 if text[at].isascii() else 2
        if used > room:
            blank = text.rfind(" ", (start + at) // 2, at + 1)  # it stays before the arrow, where it can be seen
            return blank + 1 if blank >= start else max(start + 1, at)
    return len(text)
