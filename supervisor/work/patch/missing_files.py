"""Advice about a missing file that a patch names: files with similar names. Looks at a single folder."""

import os
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

ENTRIES = 2_000  # of the folder that are compared
NAMED = 3  # files that are suggested


def similar_files_advice(path: Path, *, to_update: bool) -> str:
    """Return an addition to the failure's text, which begins with a line feed."""
    folder = next((above for above in path.parents if above.is_dir()), None)
    if folder is None:
        return ""
    if folder != path.parent:
        return f"\n{path.parent} does not exist either; the deepest folder that does is {folder}."
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in islice(entries, ENTRIES)]
    except OSError:
        return ""
    alike = get_close_matches(path.name, names, NAMED)
    found = f"There is {', '.join(alike)}. " if alike else ""
    new = "; a new file is made by `*** Add File:`" if to_update else ""
    return f"\n{found}Paths are relative to the working directory{new}."
