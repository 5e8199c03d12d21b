"""The text of a question, for every surface: what a person reads before something runs or is changed. Pure.

Facts first, in full, and each on lines that begin with a mark of ours; then what the agent says of it, as its words.
A command is written so that bash reads back exactly the words that will run. Standard library alone.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from actors.vocabulary.visible import escape, misread, visible

GOES_ON = "→"  # at the end of a line that is only broken because the window ends
SAID_LENGTH = 300  # of the agent's own words: a reason, not a speech
LONGEST = 1000  # of a line, where nobody knows how wide the window is
OURSELVES = "greenroom"  # as the agent that asks: no agent does, it is about what a client gives
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


def invoked(invocation: Asked) -> str:
    """A call of a tool of an MCP server, on one line."""
    arguments = invocation.get("arguments")
    told = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    return f"{_word(invocation['server'])} {_word(invocation['tool'])} {visible(told)}".rstrip()


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


def is_use(asked: Asked) -> bool:
    """True if an agent of others asks whether it may use a tool: it may be a patch or a command, too."""
    return "places" in asked


def is_patch(asked: Asked) -> bool:
    return bool(asked.get("changes")) if is_use(asked) else "changes" in asked


def is_command(asked: Asked) -> bool:
    return bool(asked.get("command")) and not is_patch(asked) if is_use(asked) else "command" in asked


def is_tool(asked: Asked) -> bool:
    """True if a tool of an MCP server would be called."""
    return "tool" in asked


def kind(asked: Asked) -> str:
    if is_patch(asked):
        return "patch"
    if is_command(asked):
        return "command"
    return "tool" if is_tool(asked) or is_use(asked) else "server"


def outside(asked: Asked) -> bool:
    """True if it would leave the sandbox. Commands of versions that did not say so always did."""
    said = asked.get("outside_sandbox")
    if is_use(asked):
        return bool(said)
    return said is not False if is_command(asked) else bool(said)


def only_once(asked: Asked) -> bool:
    """True if a yes can't hold for later: an agent of others asks, and offers no such option."""
    offered = asked.get("options") or () if is_use(asked) else ()
    return bool(offered) and all(one["kind"] != "allow_always" for one in offered)


def title(asked: Asked) -> str:
    if is_patch(asked):
        count = len(asked["changes"])
        return f"may it change {count:,} {'file' if count == 1 else 'files'}?"
    if is_tool(asked):
        return "may it use this tool of an MCP server?"
    if asked.get("agent") == OURSELVES:
        return "may it start what a client gives?"
    if is_use(asked) and not is_command(asked):
        return f"{_agent(asked)} asks, may it use this tool?"
    if not is_command(asked):
        return f"the MCP server {_word(asked['server'])} asks; may it have a yes?"
    if asked.get("retry"):
        return "it failed in the sandbox, may it run again without?"
    if asked.get("background"):
        return "may it run this command in the background?"
    return "may it change the repository's history?" if asked.get("history_of") else "may it run this command?"


def summary(asked: Asked, home: str = "") -> str:
    """The whole question on one line: for tables, lists and progress."""
    if is_patch(asked):
        return ", ".join(_change(path, change, home) for path, change in sorted(asked["changes"].items()))
    if is_tool(asked):
        return f"{_tool(asked)} {visible(' '.join(asked['arguments'].split()))}".rstrip()
    if is_use(asked) and not is_command(asked):
        return f"{asked['kind']}: {_short(asked['title'] or asked['arguments'])}"
    if not is_command(asked):
        return f"{_word(asked['server'])}: {visible(' '.join(asked['message'].split()))}"
    return command_line(asked["command"])


def where(asked: Asked) -> str:
    if is_use(asked):
        return "outside the sandbox" if outside(asked) else "inside the agent's sandbox"
    if not (is_command(asked) or is_patch(asked) or is_tool(asked)):
        return "runs nothing"
    return "outside the sandbox" if outside(asked) else "in the sandbox"


def drawn(asked: Asked, columns: int = LONGEST, *, home: str = "", most: int | None = None, see: str = "") -> Drawn:
    """The lines of a question without its title. Of more than `most` the middle is left out, and a line says so."""
    subject = [(text, line.style) for line in _subject(asked, home) for text in line.folded(columns)]
    kept, whole = _cut(subject, most, see, columns)
    rest = [(text, line.style) for line in _circumstances(asked, home) for text in line.folded(columns)]
    return Drawn((*kept, *rest), whole)


def said_by_agent(asked: Asked) -> str:
    """The agent's reason for a command; all other reasons are ours."""
    return "" if not is_command(asked) or asked.get("retry") else _short(asked.get("reason") or "")


def _subject(asked: Asked, home: str) -> Iterator[MarkedLine]:
    if is_patch(asked):
        for path, change in sorted(asked["changes"].items()):
            yield from changed(path, change, home)
    elif is_tool(asked):
        yield MarkedLine("  tool ", _tool(asked), "command")
        yield from (MarkedLine("    ", visible(line)) for line in _laid_out(asked["arguments"]))
    elif is_use(asked) and not is_command(asked):
        yield from _use(asked, home)
    elif not is_command(asked):
        yield from (MarkedLine("  it says: ", visible(line), "said") for line in asked["message"].split("\n"))
        yield from (MarkedLine("  wants to be told: ", visible(line)) for line in asked["fields"])
        if asked.get("url"):
            yield MarkedLine("  wants you to visit: ", visible(asked["url"]), "outside")
    else:
        first, *more = command_text(asked["command"]).split("\n")
        yield MarkedLine("  $ ", first, "command")
        yield from (MarkedLine("  > ", line, "command") for line in more)


def _use(asked: Asked, home: str) -> Iterator[MarkedLine]:
    """A tool of an agent of others, which is neither command nor patch: its words for it, and what it is given."""
    first, *others = (asked["title"] or "a tool without a name").split("\n")
    yield MarkedLine(f"  {asked['kind']}: ", visible(first), "command")
    yield from (MarkedLine("    ", visible(line), "command") for line in others)
    yield from (MarkedLine("  file ", place(str(one["path"]), home), "file") for one in asked["places"])
    yield from (MarkedLine("    ", visible(line)) for line in _laid_out(asked["arguments"]))


def _agent(asked: Asked) -> str:
    return _word(asked["agent"]) if asked.get("agent") else "the agent"


def _tool(asked: Asked) -> str:
    return f"{_word(asked['server'])} {_word(asked['tool'])}"


def _laid_out(arguments: str) -> list[str]:
    """The arguments a member a line, where they are whole."""
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False).split("\n") if arguments else []
    except (ValueError, RecursionError):
        return arguments.split("\n")


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
    if is_command(asked) and asked.get("cwd"):
        yield MarkedLine("  in ", place(str(asked["cwd"]), home), "place")
    if outside(asked) or is_command(asked) or is_use(asked):
        yield MarkedLine("  ", where(asked), "outside" if outside(asked) else "place")
    if asked.get("history_of"):
        text = f"it may write commits, branches and the index of {place(str(asked['history_of']), home)}, no hooks"
        yield MarkedLine(
            "  ", f"{text} and no configuration; approved for the conversation, all such commands may", "outside"
        )
    if asked.get("background"):
        until = (
            "with its turn" if asked["background"] == "turn" else "when it is done, somebody ends it, or the daemon"
        )
        yield MarkedLine("  ", f"it ends {until}; until then the agent may write to it unasked", "outside")
    if asked.get("grant_root"):
        yield MarkedLine("  ", f"from then on it may write below {place(str(asked['grant_root']), home)}", "outside")
    if len(asked.get("options") or ()) > 1 and is_use(asked):
        for one in asked["options"]:
            meant = f"{_word(one['id'])}: {_short(one['name'])} ({one['kind'].replace('_', ' ')})"
            yield MarkedLine("  it offers ", meant)
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
