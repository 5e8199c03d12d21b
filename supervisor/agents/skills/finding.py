"""The skills that a conversation in a directory has: the user's own, then the project's. Blocking; standard library.

A user's skill wins over a project's of the same name: a project must not replace what its user trusts. A project's
skill that is a link out of the project is not offered: it would name a file of the person's.
"""

# ruff: noqa: PTH118, PTH120, PTH208 # pathlib takes a third of the time that a verb may take to start

import os
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from supervisor.agents.skills.front_matter import NoFrontMatter, front_matter
from supervisor.disk.ordinary_files import NotReadable, outside_the_project, read_ordinary
from supervisor.disk.work_tree import is_work_tree

FILE = "SKILL.md"
PLACES = (os.path.join(".agents", "skills"), os.path.join(".claude", "skills"))
HEAD_BYTES = 16 * 1024  # of a file; its front matter is in it
NAMES = 1_000  # of one folder of skills
SKILLS = 200  # in all; more would not fit into the text for a model
LONGEST = 1_024  # characters of a description, as the format has it
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,63}", re.ASCII)

Origin = Literal["greenroom", "user", "project"]
# Reads so many bytes of a file, which must lie within a folder unless that is ""; see Reach.read.
Read: TypeAlias = Callable[[str, int, str], bytes]


class Skill(NamedTuple):
    """A skill. `wrong` says why it is not offered; empty: it is."""

    name: str
    description: str
    path: str
    origin: Origin
    wrong: str = ""
    within: str = ""  # the folder that its file must really lie in; empty: any


def read_for_a_person(path: str, most: int, within: str) -> bytes:
    """Read a file as `Reach.read` does, but for a person, to whom every folder is open."""
    real = os.path.realpath(path)
    if within and os.path.commonpath((real, root := os.path.realpath(within))) != root:
        raise NotReadable(outside_the_project(path, real))
    return read_ordinary(real, most)


def find_skills(cwd: str, home: str, config: str, read: Read) -> list[Skill]:
    """Find all skills, the usable and the others. `home` is the user's, `config` the folder of Greenroom's config."""
    found: list[Skill] = []
    taken: dict[str, str] = {}
    for skill in islice(_all(cwd, home, config, read), SKILLS):
        if not skill.wrong and (other := taken.setdefault(skill.name, skill.path)) != skill.path:
            found.append(skill._replace(wrong=f"{other} has the same name and comes first"))
        else:
            found.append(skill)
    return found


def _all(cwd: str, home: str, config: str, read: Read) -> Iterator[Skill]:
    yield from _skills_in(os.path.join(config, "skills"), "greenroom", read)
    own = {os.path.join(home, place) for place in PLACES} if home else set()
    for folder in sorted(own):
        yield from _skills_in(folder, "user", read)
    project = [*up_to_the_repository(cwd)]
    for above in project:
        for place in PLACES:
            if (folder := os.path.join(above, place)) not in own:
                yield from _skills_in(folder, "project", read, project[-1])


def up_to_the_repository(cwd: str) -> Iterator[str]:
    """Yield the directory and those above it up to the repository's root, or the directory alone if there is none."""
    above, at = [cwd], cwd
    while not is_work_tree(at):
        if (up := os.path.dirname(at)) == at:
            yield cwd
            return
        at = up
        above.append(at)
    yield from above


def _skills_in(folder: str, origin: Origin, read: Read, within: str = "") -> Iterator[Skill]:
    try:
        names = sorted(islice(os.listdir(folder), NAMES))
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name, FILE)
        if os.path.lexists(path):
            yield _read_skill(name, path, origin, read, within)


def _read_skill(folder: str, path: str, origin: Origin, read: Read, within: str) -> Skill:
    try:
        values = front_matter(read(path, HEAD_BYTES, within).decode("utf-8", "replace"))
    except OSError as error:
        return Skill(folder, "", path, origin, f"it can't be read: {error.strerror}")
    except NotReadable as error:
        return Skill(folder, "", path, origin, error.reason)
    except NoFrontMatter as error:
        return Skill(folder, "", path, origin, str(error))
    name, description = values.get("name") or folder, values.get("description", "")[:LONGEST]
    return Skill(name, description, path, origin, _wrong(name, description), within)


def _wrong(name: str, description: str) -> str:
    if not NAME.fullmatch(name):
        return "its name may have letters, digits, `-`, `_` and `.`, 64 at most"
    return "" if description else "its front matter has no description"
