"""Commands that a person let run for the rest of the session: these words, in this directory. A value."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from actors.settings import Decision


@dataclass(frozen=True, slots=True)
class ApprovedCommands:
    commands: frozenset[tuple[tuple[str, ...], Path]] = frozenset()

    def after(self, decision: Decision, argv: Sequence[str], cwd: Path) -> Self:
        """A plain `approved` is for once, wherever in the course of a command it was asked."""
        if decision is not Decision.APPROVED_FOR_SESSION:
            return self
        return type(self)(self.commands | {(tuple(argv), cwd)})

    def cover(self, argv: Sequence[str], cwd: Path) -> bool:
        return (tuple(argv), cwd) in self.commands
