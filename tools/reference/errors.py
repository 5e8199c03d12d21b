"""The table of errors on the page of the control API, from the classes of the vocabulary."""

import re
from collections.abc import Iterator

from actors.vocabulary import errors
from tools.reference.parts import with_part
from transports import hello


def with_errors(page: str) -> str:
    return with_part(page, "errors", _table())


def _table() -> str:
    kinds: list[type[errors.GreenroomError]] = [errors.GreenroomError, *_descendants(errors.GreenroomError)]
    shown = [error for error in kinds if error.__module__ in {errors.__name__, hello.__name__}]
    rows = ["| code | number | again? | means |", "|---|---|---|---|"]
    for error in sorted(shown, key=lambda error: (-error.jsonrpc, error.code)):
        again = "yes" if error.retryable else ""
        rows.append(f"| `{error.code}` | {error.jsonrpc} | {again} | {_means(error)} |")
    return "\n".join(rows)


def _means(error: type[errors.GreenroomError]) -> str:
    if error is errors.GreenroomError:
        return "A bug of Greenroom; see the daemon's log."
    said = (vars(error).get("__doc__") or "").partition("\n")[0]
    return said or re.sub(r"(?<!^)(?=[A-Z])", " ", error.__name__).capitalize() + "."


def _descendants(kind: type[errors.GreenroomError]) -> Iterator[type[errors.GreenroomError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _descendants(child)
