"""The command line: finds the verb, imports its module, runs it and turns problems into exit codes."""

import importlib
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import NoReturn

from supervisor.cli import streams
from supervisor.cli.kit import exits
from supervisor.cli.kit.arguments import parse
from supervisor.cli.kit.problems import Problem, report
from supervisor.cli.verbs import find
from supervisor.cli.verbs.shapes import Verb
from supervisor.paths import UnsafePath


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words or any(word.startswith("--json=") for word in words)
    streams.prepare()
    try:
        return _carry_out(words)
    except Problem as problem:
        return _failed(problem, as_json=as_json)
    except UnsafePath as error:
        return _failed(Problem(str(error), "`greenroom doctor` checks the rest", "not_allowed"), as_json=as_json)
    except KeyboardInterrupt:
        return exits.CTRL_C
    except BrokenPipeError:
        _end_like_others()
    except OSError as error:
        return _failed(streams.problem(error), as_json=as_json)
    except Exception as error:
        refused = _refusal(error)
        if refused is None:
            raise
        return _failed(refused, as_json=as_json)


def _refusal(error: Exception) -> Problem | None:
    """The problem for an error that is meant for people; a verb that raised one has loaded their module itself."""
    errors = sys.modules.get("actors.vocabulary.errors")
    if errors is None or not isinstance(error, errors.GreenroomError):
        return None
    return Problem(error.message, code=error.code)


def _failed(problem: Problem, *, as_json: bool) -> int:
    """Report the problem, also if the output so far, or the report itself, can't be written."""
    streams.let_go_if_broken()
    try:
        report(problem, as_json=as_json)
        sys.stderr.flush()
    except OSError:
        streams.let_go(sys.stderr)
    return problem.exit


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
    sys.stdout.flush()  # a closed pipe shows here, not at the interpreter's end
    return code


def _function(verb: Verb) -> Callable[[Namespace], int]:
    module, _, name = verb.run.partition(":")
    function: Callable[[Namespace], int] = getattr(importlib.import_module(f"supervisor.cli.{module}"), name)
    return function


def _unknown(word: str) -> Problem:
    from supervisor.cli.kit.guesses import nearest_verb

    meant = nearest_verb(word)
    more = "" if not meant else " " if meant.endswith("?") else "; "
    return Problem(f"unknown verb {word!r}", f"{meant}{more}`greenroom help` lists all verbs", "usage")


def _end_like_others() -> NoReturn:
    """Die of SIGPIPE, as other programs do when the reader of their output has gone; shells know what that means."""
    sys.stderr.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(128 + signal.SIGPIPE)  # if the signal is blocked


if __name__ == "__main__":
    sys.exit(main())
