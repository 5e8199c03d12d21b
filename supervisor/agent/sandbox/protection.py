"""What no command and no patch may change, wherever the roots lie: Greenroom's own files. A leaf, no logic."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Protection:
    """`closed` and `files` are read-only, and what is not there must not come to be; `hidden` is not even seen.

    A relative file is one of the conversation's directory.
    """

    closed: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
