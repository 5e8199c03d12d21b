"""An agent that is tried: how it is started, and what makes it ask a model of ours. Data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Candidate:
    """An agent's command line. `{home}` and `{address}` (of the model) in `env` are filled in for each trial.

    `prepare` writes its config into a home. `asks` is the line of the model's script that makes it ask a person, and
    `mode` the mode in which it does, if it is not the one that it begins in.
    `service`: words in the command line of a process that may outlive the agent, as a proxy's daemon does.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    prepare: Callable[[Path, str], None] = lambda _home, _address: None
    asks: str = "run"
    mode: str = ""
    service: str = ""

    def variables(self, home: Path, address: str) -> dict[str, str]:
        return {name: value.format(home=home, address=address) for name, value in self.env.items()}
