"""One tool call of an agent: what is known of it, and what each update of it adds. Pure.

A member that an update leaves out, or gives another type than the protocol has, stays as it was.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.agent_events import Place, ReadsAs, ToolKind
from actors.vocabulary.event_bases import MOST, FileChange
from actors.vocabulary.ids import CallId, ItemId
from supervisor.agents.acp.asked import Asked, digest, written
from supervisor.agents.acp.changes import changes_in
from supervisor.agents.acp.contents import diffs_in
from supervisor.agents.acp.raw import command_of, cwd_of
from supervisor.agents.acp.shapes import Shape, count, shapes, short, text
from supervisor.config.bounds import Bounds

KINDS: Mapping[Any, ToolKind] = {kind: kind for kind in get_args(ToolKind)}
MOST_PLACES = 100  # files of one call; more are no help to anybody
LONGEST_PATH = 4_096


class ToolUse(Struct, frozen=True):
    call_id: CallId
    item_id: ItemId
    title: str = ""
    kind: ToolKind = "other"
    command: tuple[str, ...] = ()
    cwd: Path | None = None
    changes: Mapping[str, FileChange] = {}
    places: tuple[Place, ...] = ()
    arguments: str = ""  # as JSON
    shown: int = 0  # a fingerprint of the changes, which agents repeat with each update
    asked: Asked = Asked()
    words: str = ""  # that its question came with

    @property
    def reads_as(self) -> ReadsAs:
        if self.changes:
            return "patch"
        return "command" if self.command or self.kind == "execute" else "other"

    def facts(self) -> dict[str, Any]:
        """The members that all events of a call have."""
        return {
            "call_id": self.call_id,
            "item_id": self.item_id,
            "title": self.title,
            "kind": self.kind,
            "command": self.command,
            "cwd": self.cwd,
            "changes": dict(self.changes),
            "places": self.places,
        }

    def taking(self, update: Shape, cwd: Path | None, bounds: Bounds) -> "ToolUse":
        """The same use as it is known after an update."""
        arguments = update.get("rawInput")
        title = short(update.get("title")) or self.title
        shown = _fingerprint(update.get("content"), arguments)
        known = replace(
            self,
            title=title,
            kind=self.kind if "kind" not in update else KINDS.get(text(update["kind"]), "other"),
            command=command_of(arguments, title) or self.command,
            cwd=cwd_of(arguments, update.get("_meta")) or self.cwd,
            places=_places(update.get("locations")) or self.places,
            arguments=written(arguments) if arguments else self.arguments,
        )
        if shown and shown != self.shown:
            found = changes_in(update.get("content"), arguments, known.cwd or cwd, bounds)
            known = replace(known, changes=found.changes or self.changes, shown=shown)
            asked = known.asked.showing(update.get("content"), found.further)
            known = replace(known, asked=asked)
        if not arguments:
            return known
        seen = (*known.command, *(text(known.cwd and str(known.cwd)),), *(str(one.path) for one in known.places))
        return replace(known, asked=known.asked.given_with(arguments, seen, is_command=bool(known.command)))

    def fingerprint(self, *where: str) -> str:
        """Return what tells the use from every other; nothing where only words tell of it. `where`: besides."""
        if not self.asked.tells:
            return ""
        title = "" if self.command else self.title
        about = (*where, self.kind, title, self.command, str(self.cwd or ""), [str(one.path) for one in self.places])
        return digest([about, self.asked.mark, self.asked.diffs, self.asked.own_words(self.words)])


def _fingerprint(content: Any, arguments: Any) -> int:
    """Nought where no change is shown."""
    parts = [(text(one["path"]), text(one.get("oldText")), text(one.get("newText"))) for one in diffs_in(content)]
    codex = arguments.get("changes") if isinstance(arguments, dict) else None
    return hash((*parts, written(codex) if codex else "")) if parts or codex else 0


def _places(locations: Any) -> tuple[Place, ...]:
    found = (one for one in shapes(locations, MOST_PLACES) if isinstance(one.get("path"), str))
    return tuple(Place(path=Path(short(one["path"], LONGEST_PATH)), line=_line(one.get("line"))) for one in found)


def _line(value: Any) -> int | None:
    number = count(value)
    return None if number is None else min(number, MOST)
