"""A command line as somebody types it, made ready to be started in another directory than theirs."""

import os
import shlex
import shutil


class NoProgram(Exception):
    """The first word names no program."""


def words_of(command: str) -> list[str]:
    program, *rest = shlex.split(command) or [""]
    found = shutil.which(program)
    if found is None:
        raise NoProgram(f"no program {program!r}")
    return [os.path.abspath(found), *rest]  # noqa: PTH100  # pathlib would follow a virtual environment's links
