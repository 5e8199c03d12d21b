"""The page of the methods of the control API, from its schema."""

from collections.abc import Iterator

from tools.reference.events import parts_of_events
from tools.reference.members import Schema, member_table, one_line, page, resolve_reference
from transports.dialects.control.schema import api_schema

HEAD = """# Methods of the control API

This page is written from the code by `make reference`. [The control API](../control-api.md) says how to connect, how
requests and events work, and has the table of [errors](../control-api.md#errors). `greenroom schema control` prints
all of this as JSON Schema.

A method refuses members that it doesn't know. Requests may be answered out of order; the `id` tells.
"""

NOTIFICATIONS = """## Notifications

After `conversation/attach` events come as notifications. There is never more than one under way for a subscription:
the next is sent when the last has left, so a slow reader gets fewer and longer ones, and delays nobody.
"""

STRUCTURES = """## Their parts
"""


def control_page() -> str:
    schema = api_schema()
    writer = _Writer(schema["$defs"])
    parts = [HEAD, "## Methods\n"]
    for name, method in schema["methods"].items():
        parts += [f"### `{name}`\n", f"{method['summary']}\n", *writer.params(method["params"])]
        parts += writer.answer(method["result"])
    parts.append(NOTIFICATIONS)
    for name, notification in schema["notifications"].items():
        parts += [f"### `{name}`\n", f"{notification['summary']}\n", *writer.members(notification["params"])]
    parts += [STRUCTURES, *writer.structures()]
    return page(parts)


class _Writer:
    """Tables of members; remembers which structures they mention."""

    def __init__(self, definitions: Schema) -> None:
        self._definitions = definitions
        self._elsewhere = dict.fromkeys(parts_of_events(), "events.md")
        self._mentioned: set[str] = set()

    def params(self, schema: Schema) -> Iterator[str]:
        yield from self._table(schema, asked=True)

    def members(self, schema: Schema) -> Iterator[str]:
        yield from self._table(schema, asked=False)

    def answer(self, schema: Schema) -> Iterator[str]:
        for variant in schema.get("anyOf", (schema,)):
            known = resolve_reference(variant, self._definitions)
            if known.get("properties"):
                yield f"Answer. {one_line(known.get('description', ''))}".rstrip() + "\n"
                yield from self.members(known)

    def structures(self) -> Iterator[str]:
        """Yield the mentioned structures, and those that they mention."""
        done: set[str] = set()
        while ahead := sorted(self._mentioned - done):
            done.add(ahead[0])
            schema = self._definitions[ahead[0]]
            if "properties" in schema and ahead[0] not in self._elsewhere:
                yield f"### {ahead[0]}\n"
                yield from self.members(schema)

    def _table(self, schema: Schema, *, asked: bool) -> Iterator[str]:
        known = resolve_reference(schema, self._definitions)
        self._mentioned.update(_references(known.get("properties", {})))
        yield from member_table(known, self._definitions, pages=self._elsewhere, asked=asked)
        yield ""


def _references(tree: object) -> Iterator[str]:
    match tree:
        case {"$ref": str() as reference}:
            yield reference.rpartition("/")[2]
        case dict():
            for value in tree.values():
                yield from _references(value)
        case list():
            for value in tree:
                yield from _references(value)
        case _:
            pass
