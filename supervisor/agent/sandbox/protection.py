"""Greenroom's own files, which no command and no patch may change, wherever the roots lie. A leaf, no logic."""

from pathlib import Path

from msgspec import Struct


class Protection(Struct, frozen=True):
    """Paths to protect: `closed` and `files` are read-only and must not be created, `hidden` is not even visible.

    A relative file is in the conversation's directory.
    """

    closed: tuple[Path, ...] = ()
    files: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
