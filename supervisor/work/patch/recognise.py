"""Finds a patch in a shell call: as an argument of apply_patch, or as the heredoc of a script. Pure; parses no patch.

Only `bash -lc` scripts are examined, as in Codex: other shells may read the text differently. The end of the heredoc
is found by bash's own rule, line by line. The syntax tree would end it at a line like ` EOF`, which is an ordinary
context line in a patch of a shell script.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from supervisor.work.patch.errors import PatchSyntax
from supervisor.work.safety.shell import plain_commands

NAMES = ("apply_patch", "applypatch")
LONGEST_HEADER = 8192  # characters of the heredoc's first line: two paths
BEGINS = re.compile(r"(apply_patch|applypatch)(?![A-Za-z0-9_.+/-])")
HEADER = re.compile(
    r"""(cd[ \t](?P<folder>.*)[ \t]&&[ \t]+)?(apply_patch|applypatch)
        [ \t]*<<(?P<dash>-?)[ \t]*(?P<quote>["']?)\\?(?P<word>[A-Za-z0-9_]+)(?P=quote)[ \t]*""",
    re.VERBOSE,
)


class PatchCall(Struct, frozen=True):
    text: str
    workdir: str | None = None  # relative to the call's own, from `cd DIR && apply_patch …`


def patch_in(argv: Sequence[str]) -> PatchCall | None:
    """Return a call's patch; None for an ordinary command. Raises PatchSyntax if other commands come with a patch."""
    match argv:
        case [name, text] if name in NAMES:
            return PatchCall(text)
        case ["bash", "-lc", script]:
            return _in_script(script.lstrip())
        case _:
            return None


def _in_script(script: str) -> PatchCall | None:
    call = _parse_call(script)
    if call is None and BEGINS.match(script) and "<<" in script.partition("\n")[0]:
        raise PatchSyntax("apply_patch must be the only command of its script, with the patch as its heredoc")
    return call


def _parse_call(script: str) -> PatchCall | None:
    first, *lines = script.split("\n")
    header = HEADER.fullmatch(first) if len(first) <= LONGEST_HEADER else None
    if header is None:
        return None
    if header["dash"]:
        lines = [line.lstrip("\t") for line in lines]
    end = lines.index(header["word"]) if header["word"] in lines else len(lines)
    if any(line.strip() for line in lines[end + 1 :]):
        return None
    text = "\n".join(lines[:end])
    if header["folder"] is None:
        return PatchCall(text)
    match plain_commands(f"cd {header['folder']}"):
        case (("cd", folder),) if folder and not folder.startswith("-"):
            return PatchCall(text, folder)
        case _:
            return None
