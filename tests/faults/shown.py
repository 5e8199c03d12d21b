"""The view that an editor has of a conversation since it opened it, and its judge against the stored history."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.faults.caller import Message

VOICES = {"user_message_chunk": "user", "agent_message_chunk": "agent"}
CALLS = ("tool_call", "tool_call_update")
OVER = frozenset({"completed", "failed"})
BEGINS_CALL = frozenset({"work_began", "approval_requested"})
MARK = "§"  # begins all that the model says, and nothing that the daemon says


@dataclass(slots=True)
class Item:
    """A message or a call; `text` is all of a message, `ends` what a call was said to have come to, one by one.

    `most`: how often it can have ended; what failed in the sandbox may be asked about and run once more.
    """

    kind: str
    text: str = ""
    ends: list[str] = field(default_factory=list)
    most: int = 1


@dataclass(slots=True)
class View:
    """Items in the order in which an editor heard of them. `since`: what is stored behind this number is shown.

    `own`: the prompts that the editor has said itself, which it is not shown.
    """

    since: int = 0
    items: dict[str, Item] = field(default_factory=dict)
    own: set[str] = field(default_factory=set)
    options: dict[str, str] = field(default_factory=dict)
    places: dict[str, int] = field(default_factory=dict)  # of each daemon: the last event it said to have told
    wrong: list[str] = field(default_factory=list)

    def take(self, update: Message, meta: Message) -> None:
        kind = update["sessionUpdate"]
        if kind in VOICES:
            name = update.get("messageId") or f"{VOICES[kind]} {len(self.items)}"
            item = self.items.setdefault(name, Item(VOICES[kind]))
            item.text += update["content"].get("text", "")
        elif kind in CALLS:
            if kind == "tool_call" and update["toolCallId"] in self.items:
                self.wrong.append(f"{update['toolCallId']} was begun twice")
            if kind == "tool_call_update" and update["toolCallId"] not in self.items:
                self.wrong.append(f"{update['toolCallId']} goes on and never began")
            item = self.items.setdefault(update["toolCallId"], Item("call"))
            item.ends += [update["status"]] if update.get("status") in OVER else []
        elif kind == "config_option_update":
            self.choose(update["configOptions"])
        self._move_on(meta)

    def choose(self, options: Iterable[Message]) -> None:
        self.options = {one["id"]: one["currentValue"] for one in options}

    def says(self, text: str) -> bool:
        return any(item.text == text for item in self.items.values())

    def _move_on(self, meta: Message) -> None:
        """Note the place that an update names; it never goes back while one daemon runs."""
        place = meta.get("greenroom") or {}
        instance, seq = place.get("instance", ""), place.get("seq", 0)
        if seq < self.places.get(instance, 0):
            self.wrong.append(f"place {seq} came after {self.places[instance]}")
        self.places[instance] = seq


def complaints(view: View, history: Sequence[Message], kills: int) -> Iterator[str]:
    """Everything in which the view differs from the history: lost, doubled, altered, out of order."""
    yield from view.wrong
    stored = dict(_stored(history))
    whole = {name: item for name, (_, item) in stored.items()}
    due = [name for name, (seq, item) in stored.items() if seq > view.since and item.text not in view.own]
    yield from (f"lost: {name} {whole[name]}" for name in due if name not in view.items)
    yield from (f"its own prompt came back: {one.text}" for one in view.items.values() if _is_own(view, one))
    strange = [item for name, item in view.items.items() if name not in whole and item.text.startswith(MARK)]
    if len(strange) > kills:  # of each life at most the message that was on its way
        yield f"never said: {strange}; said: {[item.text for item in whole.values()]}"
    for name, shown in view.items.items():
        if name in whole:
            yield from _differences(name, shown, whole[name])
    for kinds in (("user",), ("agent", "call")):
        seen = [name for name, item in view.items.items() if name in whole and item.kind in kinds]
        yield from _disorder(seen, [name for name in whole if name in set(seen)])


def _stored(history: Sequence[Message]) -> Iterator[tuple[str, tuple[int, Item]]]:
    """Items of the history by their names, each with the number of the event that makes it certain."""
    calls: dict[str, tuple[int, Item]] = {}
    for one in history:
        event, seq = one["event"], one["seq"]
        match event["type"]:
            case "user_message" if event["kind"] == "plain":
                yield event["item_id"], (seq, Item("user", event["message"]))
            case "agent_message":
                yield event["item_id"], (seq, Item("agent", event["message"], [event.get("cut") or ""]))
            case "work_ended":
                calls[event["item_id"]][1].ends.append("failed" if event["exit_code"] else "completed")
            case "approval_requested" if event["retry"]:
                calls[event["item_id"]][1].most += 1
            case kind if kind in BEGINS_CALL and event["item_id"] not in calls:
                calls[event["item_id"]] = (seq, Item("call"))
                yield event["item_id"], calls[event["item_id"]]


def _is_own(view: View, item: Item) -> bool:
    return item.kind == "user" and item.text in view.own


def _differences(name: str, shown: Item, stored: Item) -> Iterator[str]:
    if shown.kind == "call":
        last = stored.ends[-1:] or shown.ends[-1:]
        if not 1 <= len(shown.ends) <= stored.most or shown.ends[-1:] != last:
            yield f"{name} ended {stored.ends or 'without having run'}, shown {shown.ends}"
    elif "lost" in stored.ends:
        if not shown.text.startswith(stored.text):
            yield f"{name} was {stored.text!r} when it was lost, shown {shown.text!r}"
    elif shown.text != stored.text:
        yield f"{name} is {stored.text!r}, shown {shown.text!r}"


def _disorder(seen: list[str], stored: list[str]) -> Iterator[str]:
    if seen != stored:
        yield f"out of order: {seen}, stored {stored}"
