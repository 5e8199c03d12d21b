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
SHORT = 8  # characters of an id that a person is shown
TAIL = 3  # a third of what is shown of something too long is its end

_BARE = re.compile(r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*")
_RESERVED = re.compile("if|then|else|elif|fi|do|done|case|esac|while|until|for|in|function|time|coproc|select")
_SHELLS = {"bash", "sh", "zsh"}  # found by name alone: a path may lead anywhere
_NOT_IN_DOUBLE = frozenset('"$`\\!')
_MARKS = {"delete": "delete", "add": "add", "update": "change"}

# Words that answer a question here, and the kind of option that means the same; none does for the others.
OUR_WORDS = {
    **dict.fromkeys(("y", "yes"), "allow_once"),
    **dict.fromkeys(("n", "no"), "reject_once"),
    **dict.fromkeys(("always", "outside", "always outside", "abort", "show"), ""),
}

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
    """True if an agent of others asks whether it may use a tool: it may be a patch or a command, or both."""
    return "places" in asked


def is_patch(asked: Asked) -> bool:
    return bool(asked.get("changes")) if is_use(asked) else "changes" in asked


def is_command(asked: Asked) -> bool:
    return bool(asked.get("command")) if is_use(asked) else "command" in asked


def is_tool(asked: Asked) -> bool:
    """True if a tool of an MCP server would be called."""
    return "tool" in asked


def kind(asked: Asked) -> str:
    if is_command(asked):
        return "command"
    if is_patch(asked):
        return "patch"
    return "tool" if is_tool(asked) or is_use(asked) else "server"


def outside(asked: Asked) -> bool:
    """True if it would leave the sandbox. Commands of versions that did not say so always did."""
    said = asked.get("outside_sandbox")
    if is_use(asked):
        return bool(said)
    return said is not False if is_command(asked) else bool(said)


def only_once(asked: Asked) -> bool:
    """True if a yes can't hold for the conversation: nothing would know the same again."""
    if is_use(asked) or is_tool(asked):
        return not asked.get("fingerprint")
    return not (is_command(asked) or asked.get("grant_root"))


def may_leave(asked: Asked) -> bool:
    """True if a yes means in the sandbox, and `outside` is an answer of its own."""
    return bool(asked.get("inside_or_outside"))


def title(asked: Asked) -> str:
    if asked.get("obeyed_by"):
        return "may it change what other agents do here?"
    if is_patch(asked):
        count = len(asked["changes"])
        files = f"{count:,} {'file' if count == 1 else 'files'}"
        return f"may it run this command and change {files}?" if is_command(asked) else f"may it change {files}?"
    if is_tool(asked):
        return f"may it use this tool of an MCP server{', which has changed' if asked.get('changed') else ''}?"
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
        changes = ", ".join(_change(path, change, home) for path, change in sorted(asked["changes"].items()))
        return f"{command_line(asked['command'])}; {changes}" if is_command(asked) else changes
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


def why_not_asked(used: Asked) -> str:
    """Say of a `kept_yes_used` which yes answered in place of a person."""
    given = f"the yes to {used['approval_id'][:SHORT]}" if used["approval_id"] else "an earlier yes"
    by = f" by {visible(used['by'])}" if used["by"] else ""
    return f"not asked: {given}{by} holds for this conversation{', outside the sandbox' if used['outside'] else ''}"


def reason_with_all(asked: Asked) -> str | None:
    """The reason, for clients that show a command, changes or a call alone; with all of it if that is more."""
    reason: str | None = asked.get("reason")
    if not _is_more_than_one_thing(asked):
        return reason
    return "\n".join(filter(None, (reason, drawn(asked).text)))


def _is_more_than_one_thing(asked: Asked) -> bool:
    beyond, command, patch = asked.get("beyond") or {}, is_command(asked), is_patch(asked)
    if beyond.get("says") or beyond.get("changes") or (command and patch):
        return True
    if not (command or patch):
        return bool(asked["places"])
    title_says_more = any(_title_of_use({**asked, "kind": ""}))
    given = beyond["given"] if beyond else asked["arguments"]
    return title_says_more or bool(given) or any(str(one["path"]) not in asked["changes"] for one in asked["places"])


def _subject(asked: Asked, home: str) -> Iterator[MarkedLine]:
    """All that is asked: an agent may ask for a command, changes and more at once."""
    if is_use(asked):
        yield from _title_of_use(asked)
    if is_command(asked):
        first, *more = command_text(asked["command"]).split("\n")
        yield MarkedLine("  $ ", first, "command")
        yield from (MarkedLine("  > ", line, "command") for line in more)
    if is_patch(asked):
        for path, change in sorted(asked["changes"].items()):
            yield from changed(path, change, home)
    if is_use(asked):
        yield from _beyond(asked, home)
    elif is_tool(asked):
        yield MarkedLine("  tool ", _tool(asked), "command")
        yield from (MarkedLine("    ", visible(line)) for line in _laid_out(asked["arguments"]))
    elif not (is_command(asked) or is_patch(asked)):
        yield from _said("it says", asked["message"])
        yield from (MarkedLine("  wants to be told: ", visible(line)) for line in asked["fields"])
        if asked.get("url"):
            yield MarkedLine("  wants you to visit: ", visible(asked["url"]), "outside")


def _title_of_use(asked: Asked) -> Iterator[MarkedLine]:
    """The agent's words for what it would do, unless they are the command over again."""
    plain = asked["title"].strip().strip("`")
    if is_command(asked) and plain in {"", command_line(asked["command"]), asked["command"][-1].strip()}:
        return
    if asked["title"] or not is_patch(asked):
        first, *others = (asked["title"] or "a tool without a name").split("\n")
        yield MarkedLine(f"  {asked['kind']}: ", visible(first), "command")
        yield from (MarkedLine("    ", visible(line), "command") for line in others)


def _beyond(asked: Asked, home: str) -> Iterator[MarkedLine]:
    """The rest of what a tool of a third-party agent is asked with: files, arguments, words, further changes."""
    beyond = asked.get("beyond")
    files = (one for one in asked["places"] if str(one["path"]) not in asked.get("changes", ()))
    yield from (MarkedLine("  file ", place(str(one["path"]), home), "file") for one in files)
    for one in beyond["changes"] if beyond else ():
        yield from changed(one["path"], one["change"], home)
    if beyond is None or not (is_command(asked) or is_patch(asked)):
        yield from (MarkedLine("    ", visible(line)) for line in _laid_out(asked["arguments"]))
    else:
        yield from _members(beyond["given"])
    if beyond and beyond["says"]:
        yield from _said("it says", beyond["says"])


def _members(given: str) -> Iterator[MarkedLine]:
    """Arguments that nothing else shows, a member a line; of a text each line."""
    try:
        members = json.loads(given) if given else {}
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        yield from (MarkedLine("  with ", visible(line)) for line in given.split("\n"))
        return
    for name, value in members.items():
        told = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        first, *others = told.split("\n")
        yield MarkedLine("  with ", f"{_word(name)}: {visible(first)}")
        yield from (MarkedLine("    ", visible(line)) for line in others)


def _said(by: str, words: str) -> Iterator[MarkedLine]:
    return (MarkedLine(f"  {by}: ", visible(line), "said") for line in words.split("\n"))


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
    if asked.get("failed"):
        yield MarkedLine("  it failed: ", _short(asked["failed"]), "said")
    if may_leave(asked):
        yield MarkedLine("  ", f"{where(asked)}; without it, if the answer is `outside`", "place")
    elif outside(asked) or is_command(asked) or is_use(asked):
        yield MarkedLine("  ", where(asked), "outside" if outside(asked) else "place")
    if asked.get("changed"):
        words = "the tool or its server has changed since a yes for the conversation, which has ended"
        yield MarkedLine("  ", words, "outside")
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
            meant = _short(one.get("rule") or one["name"])
            yield MarkedLine("  it offers ", f"{_option_word(one, asked)}: {meant} ({one['kind'].replace('_', ' ')})")
    said = said_by_agent(asked)
    if said:
        yield MarkedLine("  the agent says: ", f'"{said}"', "said")
    elif asked.get("reason") and not asked.get("retry"):
        yield MarkedLine("  because: ", _short(asked["reason"]), "said")


def _option_word(option: Asked, asked: Asked) -> str:
    """The word that answers with an option: its id, unless that is a word of ours which means something else."""
    word, kinds = str(option["id"]), [one["kind"] for one in asked["options"]]
    if OUR_WORDS.get(word.lower(), option["kind"]) == option["kind"]:
        return _word(word)
    return str(option["kind"]) if kinds.count(option["kind"]) == 1 else f"option {_word(word)}"


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
