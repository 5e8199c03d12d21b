"""What a verb looks like from outside, as data: parser, help, completion and reference read it."""

from typing import NamedTuple


class Arg(NamedTuple):
    """`many`: "" for one, "?" for at most one, "*" for any number, "+" for at least one. `kind` is for completion."""

    name: str
    help: str
    many: str = ""
    kind: str = ""
    choices: tuple[str, ...] = ()


class Opt(NamedTuple):
    """Without `metavar` it is a flag; with `bare` the value may be left out. `kind` is for completion.

    A `signed` one takes a value that begins with a dash.
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
    """`run` is `module:function` below supervisor.cli. `about` says what the one-line summary can't."""

    name: str
    run: str
    summary: str
    example: str
    args: tuple[Arg, ...] = ()
    opts: tuple[Opt, ...] = ()
    aliases: tuple[str, ...] = ()
    about: str = ""
    group: str = ""
    hidden: bool = False
