"""Print what happens in all conversations, and remember the place: the next run goes on with the next event.

python examples/follow_everything.py FILE
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import greenroom
from greenroom.events import AgentMessage, TaskComplete, TurnAborted, UserMessage


def words(event: greenroom.Event) -> str:
    match event:
        case UserMessage(message=text, kind="plain"):
            return f"> {text}"
        case AgentMessage(message=text):
            return text
        case TaskComplete():
            return "-- completed"
        case TurnAborted(reason=reason):
            return f"-- {reason}"
        case greenroom.Gap(first=first, last=last):
            return f"(events {first} to {last} are no longer stored)"
        case _:
            return ""


def remember(file: Path, cursor: Mapping[str, int]) -> None:
    """Write the file whole or not at all, whenever this program is stopped."""
    draft = file.with_suffix(".new")
    draft.write_text(json.dumps(cursor), encoding="utf-8")
    draft.replace(file)


def main(file: Path) -> None:
    after = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}  # {}: everything that is stored
    with greenroom.Client(start=True) as client, client.follow(after=after) as events:
        for event in events:
            if text := words(event):
                print(f"{event.conversation[:8]} {text}", flush=True)
            remember(file, events.cursor)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
