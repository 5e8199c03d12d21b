"""A tool call of a third-party agent, built up by its updates, and the details of its question. Pure.

A member that an update leaves out, or sends with a wrong type, stays as it was. An agent chooses the names of its
arguments, so no argument is left out for its name: only for being shown already.
"""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.event_bases import MOST, FileChange
from actors.vocabulary.ids import CallId, ItemId
from actors.vocabulary.subjects import (
    AgentCall,
    Beyond,
    CommandSubject,
    FilesSubject,
    FurtherChange,
    OtherSubject,
    Place,
    ToolSort,
)
from supervisor.agents.acp.changes import changes_in, has_codex_changes
from supervisor.agents.acp.json_readers import Shape, command_of, count, cwd_of, diffs_in, shapes, short, text
from supervisor.config.bounds import Bounds

SORTS: Mapping[Any, ToolSort] = {sort: sort for sort in get_args(ToolSort)}
MOST_PLACES = 100  # files of a call; a reader has no use for more
LONGEST_PATH = 4_096
LONGEST = 16 * 1024  # characters of arguments in an event: a person reads them, and the agent has the whole
UNREADABLE = "?"  # in place of a digest, for arguments that can't be written as JSON
# The argument names of text that an edit removes or inserts; only these are left out because a diff shows them.
EDITED = frozenset(
    {
        *("old_string", "new_string", "old_str", "new_str", "old_text", "new_text", "oldText", "newText"),
        *("oldString", "newString", "content", "file_text", "new_source"),
    }
)
# Arguments that differ between calls though the question is the same: ids, times, and a model's words for a command.
NUMBERS = frozenset(
    f"{stem}{end}"
    for stem in ("call", "turn", "item", "toolCall", "started_at", "startedAt")
    for end in ("_id", "Id", "_ms", "Ms")
)
NUMBER = re.compile(r"[\w.-]{1,64}", re.ASCII)  # the form of an id; any other value under such a name is shown
WORDS = frozenset({"description", "reason", "justification"})


class CallDetails(Struct, frozen=True):
    """Details of a tool call: the arguments that nothing else shows (`given`, as JSON), and digests to recognise it.

    `mark`: a digest of all arguments but the describing words.
    """

    given: str = ""
    mark: str = ""
    said: str = ""  # the description among the arguments
    further: tuple[tuple[str, FileChange], ...] = ()
    texts: frozenset[int] = frozenset()  # hashes of texts that the changes show in full
    pieces: frozenset[int] = frozenset()  # hashes of texts that they show without the unchanged lines
    diffs: str = ""  # a digest of all changes

    @property
    def is_recognisable(self) -> bool:
        """True if there is more than words by which the same question is recognised."""
        return self.mark != UNREADABLE and bool(self.mark or self.diffs)

    def with_changes(self, content: Any, further: tuple[tuple[str, FileChange], ...]) -> "CallDetails":
        """Return a copy with the changes of an update."""
        diffs = [[text(diff.get(name)) for name in ("path", "oldText", "newText")] for diff in diffs_in(content)]
        texts = {hash(part) for path, old, new in diffs for part in (path, "" if old else new)}
        pieces = {hash(part) for _, old, new in diffs for part in (old, new)}
        mark = digest(diffs) if diffs else ""
        return replace(self, further=further, texts=frozenset(texts), pieces=frozenset(pieces), diffs=mark)

    def with_arguments(self, arguments: Any, seen: Iterable[str], *, is_command: bool) -> "CallDetails":
        """Return a copy with the arguments of an update. `seen`: the texts that the question shows already."""
        given = arguments if isinstance(arguments, Mapping) else {"input": arguments}
        shown = self.texts | frozenset(map(hash, seen))
        left_out = {"changes"} if has_codex_changes(given) else set[str]()
        left_out |= {name for name, value in given.items() if _is_number(name, value)}
        rest = {
            name: value
            for name, value in given.items()
            if name not in left_out and not self._shows(name, value, shown)
        }
        words = WORDS if is_command else frozenset[str]()
        marked = {name: value for name, value in given.items() if name not in words and not _is_number(name, value)}
        mark = digest(marked) if marked else ""
        return replace(self, given=as_json(rest) if rest else "", mark=mark, said=text(given.get("description")))

    def _shows(self, name: str, value: Any, shown: frozenset[int]) -> bool:
        """Tell whether the whole value is on the screen, unchanged lines of an edit aside."""
        match value:
            case str():
                return not value or hash(value) in shown or (name in EDITED and hash(value) in self.pieces)
            case list() | tuple():
                return all(self._shows(name, item, shown) for item in value)
            case Mapping():
                return all(self._shows(member, each, shown) for member, each in value.items())
            case _:
                return value is None

    def further_details(self, words: str) -> Beyond:
        """Return the details that a question shows besides its command and changes. `words`: the call's own."""
        further = tuple(FurtherChange(path=path, change=change) for path, change in self.further)
        return Beyond(given=self.given, says=without_middle(self.own_words(words)), changes=further)

    def own_words(self, words: str) -> str:
        """Return the words of the call, unless its arguments have them as well."""
        return "" if words.strip() == self.said.strip() else words


def _is_number(name: str, value: Any) -> bool:
    return name in NUMBERS and (isinstance(value, int) or (isinstance(value, str) and bool(NUMBER.fullmatch(value))))


def digest(value: Any) -> str:
    """Return the same text for the same JSON, whatever the order of its members."""
    try:
        return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
    except (ValueError, TypeError, RecursionError):
        return UNREADABLE


def as_json(arguments: Any) -> str:
    """Return the arguments as JSON, without the middle if that is too long."""
    try:
        return without_middle(text(json.dumps(arguments, ensure_ascii=False)))
    except (ValueError, TypeError, RecursionError):
        return ""


def without_middle(text: str) -> str:
    left_out = len(text) - LONGEST
    half = LONGEST // 2
    return text if left_out <= 0 else f"{text[:half]}[… {left_out:,} characters …]{text[-half:]}"


class ToolUse(Struct, frozen=True):
    call_id: CallId
    item_id: ItemId
    title: str = ""
    sort: ToolSort = "other"
    command: tuple[str, ...] = ()
    named: tuple[str, ...] = ()  # the command in its arguments; a title stands for it only until they have it
    cwd: Path | None = None
    changes: Mapping[str, FileChange] = {}
    places: tuple[Place, ...] = ()
    arguments: str = ""  # as JSON
    shown: int = 0  # a hash of the changes, which agents repeat with each update
    asked: CallDetails = CallDetails()
    words: str = ""  # the text that came with its question

    @property
    def subject(self) -> CommandSubject | FilesSubject | OtherSubject:
        """The subject of the call's work and of its question, as far as it is known."""
        if self.command or (self.sort == "execute" and not self.changes):
            return CommandSubject(command=self.command, cwd=self.cwd, changes=dict(self.changes))
        return FilesSubject(changes=dict(self.changes)) if self.changes else OtherSubject()

    @property
    def agent_call(self) -> AgentCall:
        return AgentCall(title=self.title, sort=self.sort, places=self.places, arguments=self.arguments)

    def after_update(self, update: Shape, cwd: Path | None, bounds: Bounds) -> "ToolUse":
        """Return the call as it is after an update."""
        arguments = update.get("rawInput")
        title = short(update.get("title")) or self.title
        named = command_of(arguments, "") or self.named
        shown = _fingerprint(update.get("content"), arguments)
        known = replace(
            self,
            title=title,
            sort=self.sort if "kind" not in update else SORTS.get(text(update["kind"]), "other"),
            named=named,
            command=named or command_of(None, title) or self.command,
            cwd=cwd_of(arguments, update.get("_meta")) or self.cwd,
            places=_places(update.get("locations")) or self.places,
            arguments=as_json(arguments) if arguments else self.arguments,
        )
        if shown and shown != self.shown:
            found = changes_in(update.get("content"), arguments, known.cwd or cwd, bounds)
            known = replace(known, changes=found.changes or self.changes, shown=shown)
            asked = known.asked.with_changes(update.get("content"), found.further)
            known = replace(known, asked=asked)
        if not arguments:
            return known
        directory = (
            (str(known.cwd),) if known.command and known.cwd else ()
        )  # a question shows it beside a command alone
        seen = (*known.command, *directory, *(str(place.path) for place in known.places))
        return replace(known, asked=known.asked.with_arguments(arguments, seen, is_command=bool(known.command)))

    def fingerprint(self, *where: str) -> str:
        """Return a digest of the question; empty if only words describe it. `where`: more parts of the digest."""
        if not self.asked.is_recognisable:
            return ""
        title = "" if self.command else self.title
        parts = (
            *where,
            self.sort,
            title,
            self.command,
            str(self.cwd or ""),
            [str(place.path) for place in self.places],
        )
        return digest([parts, self.asked.mark, self.asked.diffs, self.asked.own_words(self.words)])


def _fingerprint(content: Any, arguments: Any) -> int:
    """Return a hash of the changes; 0 if there are none."""
    parts = [(text(diff["path"]), text(diff.get("oldText")), text(diff.get("newText"))) for diff in diffs_in(content)]
    codex = arguments.get("changes") if isinstance(arguments, dict) else None
    return hash((*parts, as_json(codex) if codex else "")) if parts or codex else 0


def _places(locations: Any) -> tuple[Place, ...]:
    found = (location for location in shapes(locations, MOST_PLACES) if isinstance(location.get("path"), str))
    return tuple(
        Place(path=Path(short(location["path"], LONGEST_PATH)), line=_line(location.get("line")))
        for location in found
    )


def _line(value: Any) -> int | None:
    number = count(value)
    return None if number is None else min(number, MOST)
