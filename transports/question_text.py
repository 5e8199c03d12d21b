"""The text of a question, for every surface: shown before a command runs or a file changes. Pure.

Facts first, in full, each on lines that begin with a mark of ours; then the agent's reason, marked as its words. A
command is written so that bash reads back exactly the words that will run. Standard library alone.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from actors.vocabulary.visible_text import escape, misleading_places, visible

GOES_ON = "→"  # marks a line that is broken only because the window ends
SAID_LENGTH = 300  # characters of the agent's own words: a reason, not a speech
LONGEST = 1000  # characters of a line, if the width of the window is unknown
OURSELVES = "greenroom"  # the asking agent's name in a question about servers that a client gives
SHORT = 8  # characters of an id, for people
TAIL = 3  # of a shortened text, one third comes from the end

_BARE = re.compile(r"[A-Za-z0-9_@%+:,./-][A-Za-z0-9_@%+=:,./-]*")
_RESERVED = re.compile("if|then|else|elif|fi|do|done|case|esac|while|until|for|in|function|time|coproc|select")
_SHELLS = {"bash", "sh", "zsh"}  # by bare name only: a path may lead anywhere
_NOT_IN_DOUBLE = frozenset('"$`\\!')
_MARKS = {"delete": "delete", "add": "add", "update": "change"}

# Words that answer a question here, with the kind of option that means the same; "": none does.
OUR_WORDS = {
    **dict.fromkeys(("y", "yes"), "allow_once"),
    **dict.fromkeys(("n", "no"), "reject_once"),
    **dict.fromkeys(("always", "outside", "always outside", "abort", "show"), ""),
}

QuestionEvent = Mapping[str, Any]  # an event with a question, as JSON
Subject = Mapping[str, Any]  # the subject of work or of a question, as JSON


# --- words in shell syntax ------------------------------------------------------------------------------------------


def command_line(argv: Sequence[str]) -> str:
    """The whole command, on one line."""
    return " ".join(_word(word, first=at == 0) for at, word in enumerate(argv))


def command_text(argv: Sequence[str]) -> str:
    """The whole command; line breaks inside a word are kept."""
    return " ".join(_word(word, first=at == 0, lines=True) for at, word in enumerate(argv))


def command_for_history(argv: Sequence[str]) -> str:
    """The command for a history: only the script, if a well-known shell runs it and all of it is visible."""
    if (
        len(argv) == 3
        and argv[0] in _SHELLS
        and argv[1] in {"-c", "-lc"}
        and not misleading_places(argv[2].replace("\n", ""))
    ):
        return argv[2]
    return command_text(argv)


def tool_call_line(subject: Subject) -> str:
    """A call of an MCP server's tool, on one line."""
    arguments = subject.get("arguments")
    text = json.dumps(arguments, ensure_ascii=False) if arguments else ""
    return f"{_tool(subject)} {visible(text)}".rstrip()


def place(path: str, home: str = "") -> str:
    """A directory or file in shell syntax, with a tilde below `home`."""
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
    )  # a blank before a line break can't be seen either
    if misleading_places(seen):
        return _escape_word(word, lines=lines)
    if _BARE.fullmatch(word) and not (first and (_RESERVED.fullmatch(word) or "=" in word)):
        return word
    if "'" not in word:
        return f"'{word}'"
    return _escape_word(word, lines=lines) if _NOT_IN_DOUBLE & set(word) else f'"{word}"'


def _escape_word(word: str, *, lines: bool) -> str:
    hidden = misleading_places(word)

    def escape_at(at: int, character: str) -> str:
        if character in "\\'":
            return f"\\{character}"
        if lines and character == "\n":
            return character
        blank = lines and character == " " and word[at + 1 : at + 2] == "\n"
        return escape(character) if blank or at in hidden else character

    return "$'" + "".join(escape_at(at, character) for at, character in enumerate(word)) + "'"


# --- questions ------------------------------------------------------------------------------------------------------


class MarkedLine(NamedTuple):
    """Text after a mark of ours; where it is broken, it continues indented by `below`."""

    head: str
    text: str
    style: str = ""
    below: int = 4  # blanks before the continuation

    def fold(self, columns: int) -> Iterator[str]:
        head, at = self.head, 0
        while True:
            end = _fitting(self.text, at, max(8, columns - len(head) - 4))
            if end >= len(self.text):
                yield f"{head}{self.text[at:]}" if self.text else head.rstrip()
                return
            yield f"{head}{self.text[at:end]}{GOES_ON}"
            head, at = " " * self.below, end


class QuestionLines(NamedTuple):
    """Lines with the names of their styles. `whole`: none is left out."""

    lines: tuple[tuple[str, str], ...]
    whole: bool

    @property
    def text(self) -> str:
        return "\n".join(line for line, _ in self.lines)


def is_use(event: QuestionEvent) -> bool:
    """True if a third-party agent asks whether it may use a tool: a patch, a command, or both."""
    return event.get("agent_call") is not None


def is_patch(event: QuestionEvent) -> bool:
    """True if files would change, by themselves or beside a command."""
    return event["subject"]["kind"] == "files" or bool(event["subject"].get("changes"))


def is_command(event: QuestionEvent) -> bool:
    """True if a command would run whose words are known."""
    return event["subject"]["kind"] == "command" and bool(event["subject"].get("command"))


def is_tool(event: QuestionEvent) -> bool:
    """True if a tool of an MCP server would be called."""
    return bool(event["subject"]["kind"] == "tool")


def kind(event: QuestionEvent) -> str:
    if is_command(event):
        return "command"
    if is_patch(event):
        return "patch"
    return "server" if event["subject"]["kind"] == "form" else "tool"


def runs_outside(event: QuestionEvent) -> bool:
    """True if it would run outside the sandbox, as every command did in versions that did not say."""
    value = event.get("outside_sandbox")
    if is_use(event):
        return bool(value)
    return value is not False if is_command(event) else bool(value)


def only_once(event: QuestionEvent) -> bool:
    """True if a yes can't hold for the conversation, because a repetition could not be recognised."""
    if is_use(event) or is_tool(event):
        return not event.get("fingerprint")
    return not (is_command(event) or event.get("grant_root"))


def may_leave(event: QuestionEvent) -> bool:
    """True if a yes means in the sandbox, and `outside` is an answer of its own."""
    return bool(event.get("inside_or_outside"))


def title(event: QuestionEvent) -> str:
    subject = event["subject"]
    if event.get("obeyed_by"):
        return "may it change what other agents do here?"
    if is_patch(event):
        count = len(subject["changes"])
        files = f"{count:,} {'file' if count == 1 else 'files'}"
        return f"may it run this command and change {files}?" if is_command(event) else f"may it change {files}?"
    if is_tool(event):
        return f"may it use this tool of an MCP server{', which has changed' if event.get('changed') else ''}?"
    if event.get("agent") == OURSELVES:
        return "may it start what a client gives?"
    if subject["kind"] == "form":
        return f"the MCP server {_word(subject['server'])} asks; may it have a yes?"
    if not is_command(event):
        return f"{_agent(event)} asks, may it use this tool?"
    if event.get("retry"):
        return "it failed in the sandbox, may it run again without?"
    if event.get("background"):
        return "may it run this command in the background?"
    return "may it change the repository's history?" if event.get("history_of") else "may it run this command?"


def summary(event: QuestionEvent, home: str = "") -> str:
    """The whole question on one line: for tables, lists and progress."""
    subject = event["subject"]
    if is_patch(event):
        changes = ", ".join(_change(path, change, home) for path, change in sorted(subject["changes"].items()))
        return f"{command_line(subject['command'])}; {changes}" if is_command(event) else changes
    if is_tool(event):
        return f"{_tool(subject)} {visible(' '.join((subject.get('arguments') or '').split()))}".rstrip()
    if subject["kind"] == "form":
        return f"{_word(subject['server'])}: {visible(' '.join(subject['message'].split()))}"
    if is_command(event):
        return command_line(subject["command"])
    call = event.get("agent_call") or {}
    return f"{call.get('sort', 'other')}: {_short(call.get('title') or call.get('arguments') or '')}"


def sandbox_text(event: QuestionEvent) -> str:
    if is_use(event):
        return "outside the sandbox" if runs_outside(event) else "inside the agent's sandbox"
    if event["subject"]["kind"] == "form":
        return "runs nothing"
    return "outside the sandbox" if runs_outside(event) else "in the sandbox"


def question_lines(
    event: QuestionEvent, columns: int = LONGEST, *, home: str = "", most: int | None = None, see: str = ""
) -> QuestionLines:
    """The lines of a question without its title. Beyond `most` lines, the middle is left out, and a line says so."""
    subject = [(text, line.style) for line in _subject(event, home) for text in line.fold(columns)]
    kept, whole = _leave_out_middle(subject, most, see, columns)
    circumstances = [(text, line.style) for line in _circumstances(event, home) for text in line.fold(columns)]
    return QuestionLines((*kept, *circumstances), whole)


def said_by_agent(event: QuestionEvent) -> str:
    """The agent's reason for a command; all other reasons are ours."""
    return "" if not is_command(event) or event.get("retry") else _short(event.get("reason") or "")


def why_not_asked(event: QuestionEvent) -> str:
    """The text for a `kept_yes_used`: which earlier yes answered in place of a person."""
    answer = f"the yes to {event['approval_id'][:SHORT]}" if event["approval_id"] else "an earlier yes"
    by = f" by {visible(event['by'])}" if event["by"] else ""
    return f"not asked: {answer}{by} holds for this conversation{', outside the sandbox' if event['outside'] else ''}"


def reason_with_all(event: QuestionEvent) -> str | None:
    """The reason, for clients that show only a command, changes or a call; with the whole question if it is more."""
    reason: str | None = event.get("reason")
    if not _is_more_than_one_thing(event):
        return reason
    return "\n".join(filter(None, (reason, question_lines(event).text)))


def _is_more_than_one_thing(event: QuestionEvent) -> bool:
    """True if a third-party agent asks for more than the command, the changes or the call that such clients show."""
    if not is_use(event):
        return False
    beyond, call, command, patch = event.get("beyond") or {}, event["agent_call"], is_command(event), is_patch(event)
    if beyond.get("says") or beyond.get("changes") or (command and patch):
        return True
    if not (command or patch):
        return bool(call.get("places"))
    arguments = beyond["given"] if beyond else call.get("arguments")
    return any(_title_of_use(event)) or bool(arguments) or any(_other_files(event))


def _subject(event: QuestionEvent, home: str) -> Iterator[MarkedLine]:
    """The subject of the question: an agent may ask for a command, changes and more at once."""
    subject = event["subject"]
    if is_use(event):
        yield from _title_of_use(event)
    if is_command(event):
        first, *more = command_text(subject["command"]).split("\n")
        yield MarkedLine("  $ ", first, "command")
        yield from (MarkedLine("  > ", line, "command") for line in more)
    if is_patch(event):
        for path, change in sorted(subject["changes"].items()):
            yield from change_lines(path, change, home)
    if is_use(event):
        yield from _further_lines(event, home)
    elif is_tool(event):
        yield MarkedLine("  tool ", _tool(subject), "command")
        yield from (MarkedLine("    ", visible(line)) for line in _laid_out(subject.get("arguments") or ""))
    elif subject["kind"] == "form":
        yield from _quotation("it says", subject["message"])
        yield from (MarkedLine("  wants to be told: ", visible(line)) for line in subject.get("fields", ()))
        if subject.get("url"):
            yield MarkedLine("  wants you to visit: ", visible(subject["url"]), "outside")


def _title_of_use(event: QuestionEvent) -> Iterator[MarkedLine]:
    """The agent's description of the use, unless it only repeats the command."""
    call, command = event["agent_call"], event["subject"].get("command")
    title_ = call.get("title") or ""
    plain = title_.strip().strip("`")
    if command and plain in {"", command_line(command), command[-1].strip()}:
        return
    if title_ or not is_patch(event):
        first, *others = (title_ or "a tool without a name").split("\n")
        yield MarkedLine(f"  {call['sort']}: ", visible(first), "command")
        yield from (MarkedLine("    ", visible(line), "command") for line in others)


def _other_files(event: QuestionEvent) -> Iterator[str]:
    """The files that a third-party agent names and does not show a change of."""
    paths = (str(file["path"]) for file in event["agent_call"].get("places", ()))
    return (path for path in paths if path not in event["subject"].get("changes", ()))


def _further_lines(event: QuestionEvent, home: str) -> Iterator[MarkedLine]:
    """Further lines of a third-party agent's question: files, other changes, arguments, words."""
    beyond = event.get("beyond")
    yield from (MarkedLine("  file ", place(path, home), "file") for path in _other_files(event))
    for change in beyond["changes"] if beyond else ():
        yield from change_lines(change["path"], change["change"], home)
    if beyond is None or not (is_command(event) or is_patch(event)):
        arguments = event["agent_call"].get("arguments") or ""
        yield from (MarkedLine("    ", visible(line)) for line in _laid_out(arguments))
    else:
        yield from _members(beyond["given"])
    if beyond and beyond["says"]:
        yield from _quotation("it says", beyond["says"])


def _members(arguments: str) -> Iterator[MarkedLine]:
    """Arguments that nothing else shows: a line for each member, and for each line of a text."""
    try:
        members = json.loads(arguments) if arguments else {}
    except (ValueError, RecursionError):
        members = None
    if not isinstance(members, dict):
        yield from (MarkedLine("  with ", visible(line)) for line in arguments.split("\n"))
        return
    for name, value in members.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
        first, *others = text.split("\n")
        yield MarkedLine("  with ", f"{_word(name)}: {visible(first)}")
        yield from (MarkedLine("    ", visible(line)) for line in others)


def _quotation(by: str, words: str) -> Iterator[MarkedLine]:
    return (MarkedLine(f"  {by}: ", visible(line), "said") for line in words.split("\n"))


def _agent(event: QuestionEvent) -> str:
    return _word(event["agent"]) if event.get("agent") else "the agent"


def _tool(subject: Subject) -> str:
    return f"{_word(subject['server'])} {_word(subject['tool'])}"


def _laid_out(arguments: str) -> list[str]:
    """The arguments, a member a line, if they are valid JSON."""
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False).split("\n") if arguments else []
    except (ValueError, RecursionError):
        return arguments.split("\n")


def change_lines(path: str, change: Any, home: str = "") -> Iterator[MarkedLine]:
    """A file of a patch: its change, and the changed lines."""
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


def _circumstances(event: QuestionEvent, home: str) -> Iterator[MarkedLine]:
    """The circumstances, last, so that they stand next to the place for the answer."""
    if is_command(event) and event["subject"].get("cwd"):
        yield MarkedLine("  in ", place(str(event["subject"]["cwd"]), home), "place")
    if event.get("failed"):
        yield MarkedLine("  it failed: ", _short(event["failed"]), "said")
    if may_leave(event):
        yield MarkedLine("  ", f"{sandbox_text(event)}; without it, if the answer is `outside`", "place")
    elif runs_outside(event) or is_command(event) or is_use(event):
        yield MarkedLine("  ", sandbox_text(event), "outside" if runs_outside(event) else "place")
    if event.get("changed"):
        words = "the tool or its server has changed since a yes for the conversation, which has ended"
        yield MarkedLine("  ", words, "outside")
    if event.get("history_of"):
        text = f"it may write commits, branches and the index of {place(str(event['history_of']), home)}, no hooks"
        yield MarkedLine(
            "  ", f"{text} and no configuration; approved for the conversation, all such commands may", "outside"
        )
    if event.get("background"):
        until = (
            "with its turn" if event["background"] == "turn" else "when it is done, somebody ends it, or the daemon"
        )
        yield MarkedLine("  ", f"it ends {until}; until then the agent may write to it unasked", "outside")
    if event.get("grant_root"):
        yield MarkedLine("  ", f"from then on it may write below {place(str(event['grant_root']), home)}", "outside")
    if len(event.get("options") or ()) > 1 and is_use(event):
        for option in event["options"]:
            meaning = _short(option.get("rule") or option["name"])
            yield MarkedLine(
                "  it offers ", f"{_option_word(option, event)}: {meaning} ({option['kind'].replace('_', ' ')})"
            )
    quote = said_by_agent(event)
    if quote:
        yield MarkedLine("  the agent says: ", f'"{quote}"', "said")
    elif event.get("reason") and not event.get("retry"):
        yield MarkedLine("  because: ", _short(event["reason"]), "said")


def _option_word(option: QuestionEvent, event: QuestionEvent) -> str:
    """The word that answers with an option: its id, unless that is a word of ours with another meaning."""
    word, kinds = str(option["id"]), [choice["kind"] for choice in event["options"]]
    if OUR_WORDS.get(word.lower(), option["kind"]) == option["kind"]:
        return _word(word)
    return str(option["kind"]) if kinds.count(option["kind"]) == 1 else f"option {_word(word)}"


def _short(text: str) -> str:
    """One line of bounded length, in which nothing is hidden."""
    line = visible(" ".join(text.split()))
    return (
        line if len(line) <= SAID_LENGTH else f"{line[:SAID_LENGTH]}… ({len(line) - SAID_LENGTH:,} more characters)"
    )


def _leave_out_middle(
    lines: list[tuple[str, str]], most: int | None, see: str, columns: int
) -> tuple[list[tuple[str, str]], bool]:
    if most is None or len(lines) <= most:
        return lines, True
    end = max(1, most // TAIL)
    begin = max(1, most - end)
    hidden = lines[begin : len(lines) - end]
    count = sum(len(text) for text, _ in hidden)
    note = f"{len(hidden):,} lines ({count:,} characters) are not shown here{see and f'; {see}'}"
    note_lines = [(text, "outside") for text in MarkedLine("  … ", note).fold(columns)]
    return [*lines[:begin], *note_lines, *lines[len(lines) - end :]], False


def _fitting(text: str, start: int, room: int) -> int:
    """The end of a line. Characters beyond ASCII count as two cells, because terminals disagree about them."""
    used = 0
    for at in range(start, len(text)):
        used += 1 if text[at].isascii() else 2
        if used > room:
            blank = text.rfind(" ", (start + at) // 2, at + 1)  # stays visible before the arrow
            return blank + 1 if blank >= start else max(start + 1, at)
    return len(text)
