"""The words about a file that a patch names and that is not there: what is there instead. Looks at one folder."""

import os
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

ENTRIES = 2_000  # of the folder that are compared
NAMED = 3


def instead_of(path: Path, *, to_update: bool) -> str:
    """Return an addition to the failure's text, beginning with a line's end."""
    folder = next((one for one in path.parents if one.is_dir()), None)
    if folder is None:
        return ""
    if folder != path.parent:
        return f"\n{path.parent} does not exist either; the deepest folder that does is {folder}."
    try:
        with os.scandir(folder) as found:
            names = [one.name for one in islice(found, ENTRIES)]
    except OSError:
        return ""
    alike = get_close_matches(path.name, names, NAMED)
    there = f"There is {', '.join(alike)}. " if alike else ""
    new = "; a new file is made by `*** Add File:`" if to_update else ""
    return f"\n{there}Paths are relative to the working directory{new}."
