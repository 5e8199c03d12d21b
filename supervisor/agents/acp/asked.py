"""The part of a tool call that its question shows neither as a command nor as a change of files; what tells it. Pure.

An agent chooses the names of its arguments, so none is left out for its name: only what stands on the screen already.
"""

import json
import re
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.agent_events import Beyond, FurtherChange
from actors.vocabulary.event_bases import FileChange
from supervisor.agents.acp.changes import tells_changes
from supervisor.agents.acp.contents import diffs_in
from supervisor.agents.acp.shapes import text

LONGEST = 16 * 1024  # characters that an event tells: a person reads them, and the agent has them
UNREADABLE = "?"  # in place of a digest, of arguments that JSON does not have
# The names that agents have for text that an edit takes away or puts there; no other is left out for its diff.
EDITED = frozenset(
    {
        *("old_string", "new_string", "old_str", "new_str", "old_text", "new_text", "oldText", "newText"),
        *("oldString", "newString", "content", "file_text", "new_source"),
    }
)
# Members that differ between calls though the same is asked: numbers of the call, and a model's words for a command.
NUMBERS = frozenset(
    f"{what}{end}"
    for what in ("call", "turn", "item", "toolCall", "started_at", "startedAt")
    for end in ("_id", "Id", "_ms", "Ms")
)
NUMBER = re.compile(r"[\w.-]{1,64}", re.ASCII)  # as such a member has it; anything else under its name is shown
WORDS = frozenset({"description", "reason", "justification"})


class Asked(Struct, frozen=True):
    """`given`: the arguments that nothing else shows, as JSON. `mark`: a digest of all of them, but for the words."""

    given: str = ""
    mark: str = ""
    said: str = ""  # the words among the arguments
    further: tuple[tuple[str, FileChange], ...] = ()
    texts: frozenset[int] = frozenset()  # hashes of what changes show from the first line to the last
    pieces: frozenset[int] = frozenset()  # and of what they show without the lines that stay
    diffs: str = ""  # a digest of all changes

    @property
    def tells(self) -> bool:
        """True if there is more than words by which to know the same again."""
        return self.mark != UNREADABLE and bool(self.mark or self.diffs)

    def showing(self, content: Any, further: tuple[tuple[str, FileChange], ...]) -> "Asked":
        """The same with the changes of an update."""
        diffs = [[text(one.get(name)) for name in ("path", "oldText", "newText")] for one in diffs_in(content)]
        texts = {hash(one) for path, old, new in diffs for one in (path, "" if old else new)}
        pieces = {hash(one) for _, old, new in diffs for one in (old, new)}
        mark = digest(diffs) if diffs else ""
        return replace(self, further=further, texts=frozenset(texts), pieces=frozenset(pieces), diffs=mark)

    def given_with(self, arguments: Any, seen: Iterable[str], *, is_command: bool) -> "Asked":
        """The same with the arguments of an update. `seen`: the texts that the question shows of them."""
        given = arguments if isinstance(arguments, Mapping) else {"input": arguments}
        shown = self.texts | frozenset(map(hash, seen))
        left_out = {"changes"} if tells_changes(given) else set[str]()
        left_out |= {name for name, one in given.items() if _is_number(name, one)}
        rest = {
            name: one for name, one in given.items() if name not in left_out and not self._shows(name, one, shown)
        }
        words = WORDS if is_command else frozenset[str]()
        told = {name: one for name, one in given.items() if name not in words and not _is_number(name, one)}
        mark = digest(told) if told else ""
        return replace(self, given=written(rest) if rest else "", mark=mark, said=text(given.get("description")))

    def _shows(self, name: str, value: Any, shown: frozenset[int]) -> bool:
        """Tell whether all of a member stands on the screen, the lines of an edit that stay left aside."""
        match value:
            case str():
                return not value or hash(value) in shown or (name in EDITED and hash(value) in self.pieces)
            case list() | tuple():
                return all(self._shows(name, one, shown) for one in value)
            case Mapping():
                return all(self._shows(one, each, shown) for one, each in value.items())
            case _:
                return value is None

    def beyond(self, words: str) -> Beyond:
        """Return what a question adds to its command and changes. `words`: those that the call came with."""
        further = tuple(FurtherChange(path=path, change=change) for path, change in self.further)
        return Beyond(given=self.given, says=cut(self.own_words(words)), changes=further)

    def own_words(self, words: str) -> str:
        """The words of the call, where they are not in its arguments as well."""
        return "" if words.strip() == self.said.strip() else words


def _is_number(name: str, value: Any) -> bool:
    return name in NUMBERS and (isinstance(value, int) or (isinstance(value, str) and bool(NUMBER.fullmatch(value))))


def digest(told: Any) -> str:
    """Return the same text for the same JSON, whatever the order of its members."""
    try:
        return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
    except (ValueError, TypeError, RecursionError):
        return UNREADABLE


def written(arguments: Any) -> str:
    """The arguments as JSON; of a long text the middle is left out."""
    try:
        return cut(text(json.dumps(arguments, ensure_ascii=False)))
    except (ValueError, TypeError, RecursionError):
        return ""


def cut(said: str) -> str:
    left_out = len(said) - LONGEST
    half = LONGEST // 2
    return said if left_out <= 0 else f"{said[:half]}[… {left_out:,} characters …]{said[-half:]}"
