"""The description of a verb as data, for parser, help, completion and reference."""

from typing import NamedTuple


class Arg(NamedTuple):
    """A positional argument. `kind` is for completion.

    `many`: "" for one value, "?" for at most one, "*" for any number, "+" for at least one.
    """

    name: str
    help: str
    many: str = ""
    kind: str = ""
    choices: tuple[str, ...] = ()


class Opt(NamedTuple):
    """An option. Without `metavar` it is a flag; with `bare` its value may be left out. `kind` is for completion.

    The value of a `signed` option may begin with a dash.
    """

    flags: tuple[str, ...]
    help: str
    metavar: str = ""
    choices: tuple[str, ...] = ()
    kind: str = ""
    many: bool = False
    bare: str | None = None
    default: str | None = None
    dest: str = ""
    signed: bool = False

    @property
    def name(self) -> str:
        return self.dest or max(self.flags, key=len).lstrip("-").replace("-", "_")


class Verb(NamedTuple):
    """A verb. `run` is `module:function` below supervisor.cli. `about` has the details that the summary lacks."""

    name: str
    run: str
    summary: str
    example: str
    args: tuple[Arg, ...] = ()
    opts: tuple[Opt, ...] = ()
    aliases: tuple[str, ...] = ()
    about: str = ""
