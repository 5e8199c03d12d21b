"""The page of the control API, from its schema and the tree of errors."""

from collections.abc import Iterator

from tools.reference.errors import error_rows
from tools.reference.events import parts_of_events
from tools.reference.members import Schema, member_table, one_line, page, resolve_reference
from transports.dialects.control.schema import api_schema

HEAD = """# The control API

This page is written from the code by `make reference`.

What the command line uses, for your own programs: JSON-RPC 2.0, one message a line, over the daemon's unix socket,
whose path `greenroom socket` prints. Only you may connect; there is no network port and no password.

The first line says who you are and which dialect you speak:

```json
{"greenroom": {"protocol": 1, "dialect": "control", "client": {"name": "mine", "version": "1", "cwd": "/src"}}}
```

The answer names the daemon's version, and after that any request may follow; see [your own
client](../how-to/your-own-client.md).

Members that a method doesn't know are refused, so that a typing error is not ignored. `schema` answers with the JSON
Schema of all of this. A request may be answered out of order; its `id` says which answer it is.
"""

NOTIFICATIONS = """## Notifications

After `conversation/attach` events come as notifications. There is never more than one under way for a subscription:
the next is sent when the last has left, so a slow reader gets fewer and longer ones, and delays nobody.
"""

STRUCTURES = """## What they are made of
"""

ERRORS = """## Errors

An error has a number, a text for people, and `data` with a stable `code` and `retryable`. Numbers of JSON-RPC itself
mean what they always mean.

| code | number | may be tried again | meaning |
|---|---|---|---|"""


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
    parts += [STRUCTURES, *writer.structures(), ERRORS, *error_rows()]
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
