"""Files of Greenroom's own with a marker in them, every name that leads to one, and a search for where it got to."""

import base64
import os
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

from supervisor.paths import locate, usual_places

MARKER = "sk-nobody-may-read-this"
PICTURE = b"\x89PNG\r\n\x1a\n" + MARKER.encode() * 4
ENCODED = base64.b64encode(PICTURE).decode()[16:-8]
SKILL = f"---\nname: told\ndescription: {MARKER}\n---\n{MARKER}\n"


def plant(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Write keys and a log into the state of this home, and of the one that HOME alone means."""
    state, usual = Path(locate(environ).state), Path(usual_places(environ)[0])
    usual.mkdir(parents=True, exist_ok=True)
    keys, log, others = state / "keys.json", state / "old.log", usual / "keys.json"
    for file in (keys, others):
        file.write_text(f'{{"SOME_API_KEY": "{MARKER}"}}\n')
    log.write_text(SKILL)
    picture = state / "picture.png"
    picture.write_bytes(PICTURE)
    return keys, log, others, picture


_numbers = count(1)


def _link(target: Callable[[Path, Path], str]) -> Callable[[Path, Path, Path], str]:
    def made(secret: Path, folder: Path, _: Path) -> str:
        name = f"link{next(_numbers)}"
        (folder / name).symlink_to(target(secret, folder))
        return name

    return made


def _chain(secret: Path, folder: Path, _: Path) -> str:
    number = next(_numbers)
    (folder / f"c{number}").symlink_to(f"sub{number}/../d{number}")
    (folder / f"d{number}").symlink_to(secret)
    (folder / f"sub{number}").mkdir()
    return f"c{number}"


def _door(levels: int) -> Callable[[Path, Path, Path], str]:
    def made(secret: Path, folder: Path, _: Path) -> str:
        door, behind = folder / f"door{next(_numbers)}", secret.parents[levels]
        door.symlink_to(behind)
        return f"{door.name}/{secret.relative_to(behind)}"

    return made


def _hard(secret: Path, folder: Path, _: Path) -> str:
    name = f"hard{next(_numbers)}"
    os.link(secret, folder / name)
    return name


# Each makes a name of a secret for a folder and a home, with the links that it needs.
NAMES: Mapping[str, Callable[[Path, Path, Path], str]] = {
    "absolute": lambda secret, _, __: str(secret),
    "relative": lambda secret, folder, _: os.path.relpath(secret, folder),
    "home": lambda secret, _, home: f"~/{secret.relative_to(home)}",
    "dots": lambda secret, _, __: f"{secret.parent}/./../{secret.parent.name}/{secret.name}",
    "slashes": lambda secret, _, __: str(secret).replace("/", "//"),
    "link": _link(lambda secret, _: str(secret)),
    "relative link": _link(os.path.relpath),
    "link through proc": _link(lambda secret, _: f"/proc/self/root{secret}"),
    "chain": _chain,
    "door": _door(0),
    "door above": _door(1),
    "proc": lambda secret, _, __: f"/proc/self/root{secret}",
    "other process": lambda secret, _, __: f"/proc/{os.getpid()}/root{secret}",
    "hard link": _hard,
    "case": lambda secret, _, __: f"{secret.parent}/{secret.name.upper()}",
    "address": lambda secret, _, __: f"file://{secret}",
}


def got_out(environ: Mapping[str, str], planted: tuple[Path, ...], *texts: str) -> Iterator[str]:
    """Yield where the marker is, other than in the planted files: files of the state, and these texts."""
    state = Path(locate(environ).state)
    for file in state.rglob("*"):
        if file.is_file() and file not in planted and _told(file.read_bytes().decode("utf-8", "replace")):
            yield str(file)
    yield from (text for text in texts if _told(text))


def _told(text: str) -> bool:
    return MARKER in text or ENCODED in text
