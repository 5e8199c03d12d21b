"""Print what happens in all conversations, and remember the place: the next run goes on with the next event.

python examples/follow_everything.py FILE
"""

import json
import sys
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


def main(file: Path) -> None:
    after = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}  # {}: everything that is stored
    with greenroom.Client(start=True) as client, client.follow(after=after) as events:
        for event in events:
            if text := words(event):
                print(f"{event.conversation[:8]} {text}", flush=True)
            file.write_text(json.dumps(events.cursor), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
