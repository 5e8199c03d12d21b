"""The page of the events, from the vocabulary."""

from collections.abc import Iterable, Iterator

from actors.vocabulary import events as ev
from tools.reference.members import Schema, member_table, one_line, page

NAMES = {kind.__name__ for kind in ev.EVENTS}

HEAD = """# Events

This page is written from the code by `make reference`.

A conversation is a list of events. The journal keeps them, `greenroom logs --json` prints them, and every client is
shown them in its own dialect. `greenroom schema events` prints this page as JSON Schema.

## Envelope

Our own API wraps each one:
"""

DURABLE = """## Kept

These have a `seq`, dense from 1 in their conversation. Nobody sees one before it is on disk.
"""

DELTAS = """## Only shown

The unfinished tail of an item, as it comes. These have no `seq` and are not kept: the finished event says everything
again. A client that attaches in the middle gets all of the unfinished text at once.
"""

PARTS = """## Their parts
"""


def events_page() -> str:
    schema = ev.Envelope.model_json_schema(mode="serialization")
    schema["properties"]["event"] = {"const": "event", "description": "One of those below; its `type` says which."}
    parts = [HEAD, *member_table(schema), ""]
    parts += [DURABLE, *_events(ev.DURABLE_EVENTS)]
    parts += [DELTAS, *_events(ev.DELTAS)]
    parts += [PARTS, *_parts(schema["$defs"])]
    return page(parts)


def _events(kinds: Iterable[type[ev.BaseEvent]]) -> Iterator[str]:
    for kind in kinds:
        schema = kind.model_json_schema(mode="serialization")
        yield f"### `{ev.type_of(kind)}`\n"
        if kind.__doc__:
            yield f"{one_line(kind.__doc__)}\n"
        yield from member_table(schema, but="type")
        yield ""


def _parts(definitions: Schema) -> Iterator[str]:
    """Yield the structures that events and other messages contain."""
    for name in sorted(definitions.keys() - NAMES):
        if "properties" in definitions[name]:
            yield f"### {name}\n"
            yield from member_table(definitions[name], definitions)
            yield ""


def parts_of_events() -> set[str]:
    """The structures that have a section on this page."""
    return {"Envelope", *ev.Envelope.model_json_schema(mode="serialization")["$defs"]} - NAMES
