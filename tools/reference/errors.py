"""The errors, as tables: those of the vocabulary, and those that the control API's own page has between its marks."""

import re
from collections.abc import Iterator

from actors.vocabulary import errors
from tools.reference.members import one_line
from transports import hello

START, END = "<!-- errors -->", "<!-- /errors -->"


def error_rows() -> Iterator[str]:
    """The rows of the vocabulary's errors; the page's text has the few of other packages."""
    kinds = [kind for kind in _descendants(errors.GreenroomError) if kind.__module__ == errors.__name__]
    parents = {parent for kind in kinds for parent in kind.__bases__}  # by subclasses of this file alone
    shown = (kind for kind in kinds if kind not in parents or "code" not in vars(kind))
    rows = {(kind.jsonrpc, kind.code): kind for kind in shown}
    for (number, code), kind in sorted(rows.items(), reverse=True):
        meaning = one_line(kind.__doc__ or "") or code.replace("_", " ")
        again = "yes" if kind.retryable else "no"
        yield f"| `{code}` | {number} | {again} | {meaning} |"


def with_errors(page: str) -> str:
    """The page with the table between its marks."""
    before, start, rest = page.partition(START)
    _, end, after = rest.partition(END)
    return f"{before}{start}\n\n{_table()}\n{end}{after}"


def _table() -> str:
    kinds: list[type[errors.GreenroomError]] = [errors.GreenroomError, *_descendants(errors.GreenroomError)]
    shown = [error for error in kinds if error.__module__ in {errors.__name__, hello.__name__}]
    rows = ["| code | number | again? | means |", "|---|---|---|---|"]
    for error in sorted(shown, key=lambda error: (-error.jsonrpc, error.code)):
        again = "yes" if error.retryable else ""
        rows.append(f"| `{error.code}` | {error.jsonrpc} | {again} | {_means(error)} |")
    return "\n".join(rows) + "\n"


def _means(error: type[errors.GreenroomError]) -> str:
    if error is errors.GreenroomError:
        return "A bug of Greenroom; see the daemon's log."
    said = (vars(error).get("__doc__") or "").partition("\n")[0]
    return said or re.sub(r"(?<!^)(?=[A-Z])", " ", error.__name__).capitalize() + "."


def _descendants(kind: type[errors.GreenroomError]) -> Iterator[type[errors.GreenroomError]]:
    for child in kind.__subclasses__():
        yield child
        yield from _descendants(child)
