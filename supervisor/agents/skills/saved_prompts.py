"""Saved prompts: Markdown files in `prompts` beside the config, with places for arguments. Blocking.

`$FILE` is a place for the argument `file`, `$1` for the first; `$ARGUMENTS` may be left out; `$$` is a dollar sign.
Front matter may give a `description`.
"""

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from supervisor.agents.skills.front_matter import FENCE, NoFrontMatter, front_matter
from supervisor.disk.ordinary_files import NotReadable
from supervisor.work.reach.readable import Reach

FOLDER, SUFFIX = "prompts", ".md"
PROMPT_BYTES = 256 * 1024  # of a file; a model reads all of it
PROMPTS = 200  # more would not fit into a menu
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)
PLACE = re.compile(r"\$(\$|[A-Z][A-Z0-9_]*|[1-9])")
OPTIONAL = "arguments"


class SavedPrompt(NamedTuple):
    name: str
    description: str
    text: str

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the places, in their order in the text."""
        found = (match[1] for match in PLACE.finditer(self.text))
        return tuple(dict.fromkeys(name.lower() for name in found if name != "$"))

    def missing_arguments(self, given: Mapping[str, str]) -> list[str]:
        return [name for name in self.arguments if name not in given and name != OPTIONAL]

    def fill_in(self, given: Mapping[str, str]) -> str:
        """Fill the arguments in. Places in an argument's own text stay as they are."""
        return PLACE.sub(lambda match: "$" if match[1] == "$" else given.get(match[1].lower(), ""), self.text)


def saved_prompts(config: Path, reach: Reach) -> list[SavedPrompt]:
    """Read the prompts, by name. A file that can't be read is left out."""
    try:
        files = sorted(islice((config / FOLDER).glob(f"*{SUFFIX}"), PROMPTS))
    except OSError:
        return []
    found = (_read(file, reach) for file in files if NAME.fullmatch(file.stem))
    return [prompt for prompt in found if prompt is not None]


def _read(file: Path, reach: Reach) -> SavedPrompt | None:
    try:
        text = reach.read(str(file), PROMPT_BYTES).decode("utf-8", "replace")
    except NotReadable:
        return None
    try:
        about = front_matter(text)
    except NoFrontMatter:
        return SavedPrompt(file.stem, "", text.strip())
    return SavedPrompt(file.stem, about.get("description", ""), without_front_matter(text))


def without_front_matter(text: str) -> str:
    """Return the text after the second fence of a file that has front matter."""
    lines = text.removeprefix("\ufeff").splitlines(keepends=True)
    end = next((place for place, line in enumerate(lines[1:], 1) if line.rstrip() in (FENCE, "...")), 0)
    return "".join(lines[end + 1 :]).strip()
