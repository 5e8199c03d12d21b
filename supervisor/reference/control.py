"""The page of the control API, from its schema and the tree of errors."""

from collections.abc import Iterator

from actors import errors
from supervisor.reference.members import member_table, one_line, page
from transports.dialects.control.schema import api_schema

HEAD = """# The control API

This page is written from the code by `python -m supervisor.reference docs/reference`.

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

ERRORS = """## Errors

An error has a number, a text for people, and `data` with a stable `code` and `retryable`. Numbers of JSON-RPC itself
mean what they always mean.

| code | number | may be tried again | meaning |
|---|---|---|---|"""


def control_page() -> str:
    schema = api_schema()
    parts = [HEAD, "## Methods\n"]
    for name, method in schema["methods"].items():
        parts += [
            f"### `{name}`\n",
            f"{method['summary']}\n",
            *member_table(method["params"], parts="events.md", asked=True),
            "",
        ]
    parts.append(NOTIFICATIONS)
    for name, notification in schema["notifications"].items():
        parts += [f"### `{name}`\n", f"{notification['summary']}\n"]
        if "event" in notification:
            parts.append("Each of its `events` is an envelope as in [Events](events.md).\n")
    parts += [ERRORS, *_errors()]
    return page(parts)


def _errors() -> Iterator[str]:
    rows = {(kind.jsonrpc, kind.code): kind for kind in _descendants(errors.GreenroomError)}
    for (number, code), kind in sorted(rows.items(), reverse=True):
        meaning = one_line(kind.__doc__ or "") or code.replace("_", " ")
        again = "yes" if kind.retryable else "no"
        yield f"| `{code}` | {number} | {again} | {meaning} |"


def _descendants(kind: type[errors.GreenroomError]) -> Iterator[type[errors.GreenroomError]]:
    """Of the vocabulary's own module; transports and supervisor have few, and say them in their text."""
    for one in kind.__subclasses__():
        if one.__module__ == errors.__name__:
            if not one.__subclasses__() or "code" not in vars(one):
                yield one
            yield from _descendants(one)
