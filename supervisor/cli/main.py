"""The door: `greenroom VERB …`. Finds the verb, imports what that one needs, turns problems into exit codes."""

import importlib
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import NoReturn

from supervisor.cli import exits
from supervisor.cli.arguments import parse
from supervisor.cli.problems import Problem, report
from supervisor.cli.shapes import Verb
from supervisor.cli.verbs import VERBS, find


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words or any(word.startswith("--json=") for word in words)
    try:
        return _carry_out(words)
    except Problem as problem:
        report(problem, as_json=as_json)
        return problem.exit
    except KeyboardInterrupt:
        return exits.CTRL_C
    except BrokenPipeError:
        _end_like_others()


def _carry_out(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help"}:
        words = ["help"]
    elif words[0] in {"-V", "--version"}:
        words[0] = "version"
    verb = find(words[0])
    if verb is None:
        raise _unknown(words[0])
    chosen = parse(verb, words[1:])
    chosen.verb = verb.name
    code = _function(verb)(chosen)
    sys.stdout.flush()  # a reader that has gone shows here, not at the interpreter's end
    return code


def _function(verb: Verb) -> Callable[[Namespace], int]:
    module, _, name = verb.run.partition(":")
    function: Callable[[Namespace], int] = getattr(importlib.import_module(f"supervisor.cli.{module}"), name)
    return function


def _unknown(word: str) -> Problem:
    import difflib

    names = [name for verb in VERBS if not verb.hidden for name in (verb.name, *verb.aliases)]
    near = difflib.get_close_matches(word, names, n=3)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    return Problem(f"unknown verb {word!r}", f"{meant}`greenroom help` lists all verbs", "usage")


def _end_like_others() -> NoReturn:
    """Whoever read our output has gone. Other programs die of SIGPIPE then, and shells know what that means."""
    sys.stderr.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(128 + signal.SIGPIPE)  # in the case that the signal is blocked


if __name__ == "__main__":
    sys.exit(main())
