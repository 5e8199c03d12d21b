"""A tool call of a third-party agent, built up by its updates. Pure.

A member that an update leaves out, or sends with a wrong type, stays as it was.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.agent_events import Place, ReadsAs, ToolKind
from actors.vocabulary.event_bases import MOST, FileChange
from actors.vocabulary.ids import CallId, ItemId
from supervisor.agents.acp.call_details import CallDetails, as_json, digest
from supervisor.agents.acp.changes import changes_in
from supervisor.agents.acp.contents import diffs_in
from supervisor.agents.acp.json_readers import Shape, count, shapes, short, text
from supervisor.agents.acp.raw import command_of, cwd_of
from supervisor.config.bounds import Bounds

KINDS: Mapping[Any, ToolKind] = {kind: kind for kind in get_args(ToolKind)}
MOST_PLACES = 100  # files of a call; a reader has no use for more
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
    shown: int = 0  # a hash of the changes, which agents repeat with each update
    asked: CallDetails = CallDetails()
    words: str = ""  # the text that came with its question

    @property
    def reads_as(self) -> ReadsAs:
        if self.changes:
            return "patch"
        return "command" if self.command or self.kind == "execute" else "other"

    def facts(self) -> dict[str, Any]:
        """Return the members that all events of a call have."""
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

    def after_update(self, update: Shape, cwd: Path | None, bounds: Bounds) -> "ToolUse":
        """Return the call as it is after an update."""
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
            self.kind,
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
