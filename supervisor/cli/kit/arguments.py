"""The parser of one verb, built from its description, and readers of durations, numbers, directories, `KEY=VALUE`."""

import argparse
import itertools
import os
import re
import textwrap
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from supervisor.cli.kit.problems import Problem
from supervisor.cli.verbs.verb_description import Arg, Opt, Verb

_DURATION = re.compile(r"^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$")
_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LONGEST_S = 10 * 365 * 86400.0  # a turn may wait for a person; the kernel refuses times of centuries


class _Formatter(argparse.RawDescriptionHelpFormatter):
    """Help in the same width on every terminal, so that the reference says the same."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=80)


class Parser(argparse.ArgumentParser):
    takes_a_prompt = False
    said: Sequence[str] = ()  # all words of the command, to guess which one is mistyped

    def error(self, message: str) -> NoReturn:
        self._guess_an_option()
        kind, _, words = message.partition(": ")
        if self.takes_a_prompt and kind == "unrecognized arguments" and not words.startswith("-"):
            raise Problem(f"too many words: {words}", "put a prompt of several words in quotes", "usage")
        raise Problem(message, f"`{self.prog} --help` lists its arguments", "usage")

    def _guess_an_option(self) -> None:
        """Report a mistyped option first, because all other errors may follow from it."""
        from supervisor.cli.kit.suggestions import similar_words

        known = [flag for flag in self._option_string_actions if flag.startswith("--")]
        for word in itertools.takewhile(lambda word: word != "--", self.said):
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in known and (meant := similar_words(flag, known)):
                advice = f"did you mean {' or '.join(meant)}? `{self.prog} --help` lists them"
                raise Problem(f"unknown option {flag}", advice, "usage")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Refuse a word that is not among the choices, in the style of our other errors."""
        if action.choices is not None and value not in action.choices:
            flags = "/".join(action.option_strings)
            wrong = f"{flags} can't be {value!r}" if flags else f"{value!r} is not possible here"
            from supervisor.cli.kit.suggestions import similar_words

            meant = similar_words(str(value), action.choices)
            guess = f"did you mean {' or '.join(meant)}? " if meant else ""
            raise Problem(wrong, f"{guess}write one of {', '.join(map(str, action.choices))}", "usage")


def parser(verb: Verb) -> Parser:
    made = Parser(
        prog=f"greenroom {verb.name}",
        description=describe(verb),
        epilog=f"example:\n  {verb.example}",
        formatter_class=_Formatter,
        allow_abbrev=False,
    )
    made.takes_a_prompt = any(arg.name == "prompt" for arg in verb.args)
    for arg in verb.args:
        _add_argument(made, arg)
    for opt in verb.opts:
        _add_option(made, opt)
    return made


def describe(verb: Verb) -> str:
    also = f"Also called {', '.join(verb.aliases)}." if verb.aliases else ""
    text = " ".join(part for part in (f"{verb.summary[0].upper()}{verb.summary[1:]}.", verb.about, also) if part)
    return textwrap.fill(text, 78)


def parse(verb: Verb, words: Sequence[str]) -> argparse.Namespace:
    if verb.name == "__complete":  # its words may be options of another verb
        return argparse.Namespace(words=list(words))
    made, joined = parser(verb), _join_signed(verb, words)
    made.said = joined
    try:
        return _parse_words(made, verb, joined)
    except Problem:
        alone = _without_values(verb, joined)
        if alone == joined:
            raise
        return _parse_words(made, verb, alone)


def _without_values(verb: Verb, words: Sequence[str]) -> list[str]:
    """Let options whose value may be left out take none, so that the next word is an argument."""
    bare = {flag for opt in verb.opts if opt.bare == "" and opt.metavar == "NAME" for flag in opt.flags}
    return [f"{word}=" if word in bare else word for word in words]


def _parse_words(made: Parser, verb: Verb, joined: Sequence[str]) -> argparse.Namespace:
    if any(arg.many for arg in verb.args) and "--" not in joined:  # argparse can't do both
        return made.parse_intermixed_args(joined)
    return made.parse_args(joined)


def _join_signed(verb: Verb, words: Sequence[str]) -> list[str]:
    """Join `--sort -updated` to `--sort=-updated`; argparse would take the second word for an option."""
    signed = {flag for opt in verb.opts if opt.signed for flag in opt.flags}
    made: list[str] = []
    for word in words:
        if made and made[-1] in signed and word.startswith("-") and not word.startswith("--"):
            made[-1] += f"={word}"
        else:
            made.append(word)
    return made


def _add_argument(made: Parser, arg: Arg) -> None:
    made.add_argument(
        arg.name,
        help=arg.help.replace("%", "%%"),
        nargs=arg.many or None,
        choices=arg.choices or None,
        metavar=f"{{{','.join(arg.choices)}}}" if arg.choices else arg.name.upper(),
    )


def _add_option(made: Parser, opt: Opt) -> None:
    add = partial(made.add_argument, *opt.flags, dest=opt.name, help=opt.help.replace("%", "%%"))
    if not opt.metavar:
        add(action="store_true")
    elif opt.choices:
        add(choices=opt.choices, default=opt.default)
    elif opt.many:
        add(metavar=opt.metavar, action="append", default=[])
    elif opt.bare is not None:
        add(metavar=opt.metavar, nargs="?", const=opt.bare)
    else:
        add(metavar=opt.metavar, default=opt.default, type=_READERS.get(opt.metavar, str))


def seconds(text: str) -> float:
    """Read a duration such as `30s`, `5m` or `500ms`; a bare number is seconds."""
    found = _DURATION.match(text)
    if found is None:
        raise Problem(f"{text!r} is not a duration", "write it like 500ms, 30s, 5m or 2h", "usage")
    length_s = float(found[1]) * _UNITS_S[found[2] or "s"]
    if length_s > LONGEST_S:
        raise Problem(f"{text!r} is too long", "write at most 3650d", "usage")
    return length_s


def number(text: str, what: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise Problem(f"{text!r} is not a valid {what}", "write a whole number, 0 or more", "usage")
    return int(text)


_READERS: dict[str, Callable[[str], float]] = {"TIME": seconds, "N": partial(number, what="number of events")}


def directory(name: str | None) -> str | None:
    """Return the directory of -C. Refuse a missing directory as a typing error; other clients may mean it."""
    if name is not None and not os.path.isdir(name):  # noqa: PTH112  # pathlib is slow to import
        raise Problem(f"there is no directory {name!r}", "-C takes a directory that exists", "usage")
    return name


def pairs(words: Sequence[str]) -> dict[str, object]:
    """Read `key=value` words. A value is TOML that JSON can say; anything else is a string without its quotes."""
    import json
    import tomllib

    found: dict[str, object] = {}
    for word in words:
        key, equals, raw = word.partition("=")
        if not equals or not key.strip():
            raise Problem(f"{word!r} is not a setting", "write KEY=VALUE", "usage")
        try:
            value = tomllib.loads(f"value = {raw}")["value"]
            json.dumps(value)
        except (tomllib.TOMLDecodeError, KeyError, TypeError):
            value = raw.strip()
        found[key.strip()] = value
    return found
