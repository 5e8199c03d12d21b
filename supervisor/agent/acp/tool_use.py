"""One tool call of an agent: what is known of it, and what each update of it adds. Pure.

A member that an update leaves out, or gives another type than the protocol has, stays as it was.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct
from msgspec.structs import replace

from actors.vocabulary.agent_events import Place, ReadsAs, ToolKind
from actors.vocabulary.event_bases import MOST, FileChange
from actors.vocabulary.ids import CallId, ItemId
from supervisor.agent.acp.changes import changes_in
from supervisor.agent.acp.contents import diffs_in
from supervisor.agent.acp.raw import command_of, cwd_of
from supervisor.agent.acp.shapes import Shape, count, shapes, short, text
from supervisor.agent.bounds import Bounds

KINDS: Mapping[Any, ToolKind] = {kind: kind for kind in get_args(ToolKind)}
ARGUMENTS = 16 * 1024  # characters that an event tells: a person looks at them, and the agent has them
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
            arguments=_written(arguments) if arguments else self.arguments,
        )
        if not shown or shown == self.shown:
            return known
        changes = changes_in(update.get("content"), arguments, known.cwd or cwd, bounds)
        return replace(known, changes=changes or self.changes, shown=shown)


def _fingerprint(content: Any, arguments: Any) -> int:
    """Nought where no change is shown."""
    parts = [(text(one["path"]), text(one.get("oldText")), text(one.get("newText"))) for one in diffs_in(content)]
    codex = arguments.get("changes") if isinstance(arguments, dict) else None
    return hash((*parts, _written(codex) if codex else "")) if parts or codex else 0


def _places(locations: Any) -> tuple[Place, ...]:
    found = (one for one in shapes(locations, MOST_PLACES) if isinstance(one.get("path"), str))
    return tuple(Place(path=Path(short(one["path"], LONGEST_PATH)), line=_line(one.get("line"))) for one in found)


def _line(value: Any) -> int | None:
    number = count(value)
    return None if number is None else min(number, MOST)


def _written(arguments: Any) -> str:
    """The arguments as JSON; of a long text the middle is left out."""
    try:
        written = text(json.dumps(arguments, ensure_ascii=False))
    except (ValueError, TypeError, RecursionError):
        return ""
    left_out = len(written) - ARGUMENTS
    if left_out <= 0:
        return written
    half = ARGUMENTS // 2
    return f"{written[:half]}[… {left_out:,} characters …]{written[-half:]}"
