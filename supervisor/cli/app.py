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
from supervisor.cli.verbs.verb_description import Verb
from supervisor.paths import UnsafePath


def main(arguments: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in words or any(word.startswith("--json=") for word in words)
    streams.prepare()
    try:
        return _carry_out(words)
    except Problem as problem:
        return _report_failure(problem, as_json=as_json)
    except UnsafePath as error:
        return _report_failure(
            Problem(str(error), "`greenroom doctor` checks the rest", "not_allowed"), as_json=as_json
        )
    except KeyboardInterrupt:
        return exits.CTRL_C
    except BrokenPipeError:
        _die_of_sigpipe()
    except OSError as error:
        return _report_failure(streams.problem(error), as_json=as_json)
    except Exception as error:
        refused = _refusal(error)
        if refused is None:
            raise
        return _report_failure(refused, as_json=as_json)


def _refusal(error: Exception) -> Problem | None:
    """The problem for an error of Greenroom; a verb that raised one has loaded the errors already."""
    errors = sys.modules.get("actors.vocabulary.errors")
    if errors is None or not isinstance(error, errors.GreenroomError):
        return None
    return Problem(error.message, code=error.code)


def _report_failure(problem: Problem, *, as_json: bool) -> int:
    """Report the problem and return its exit code, also if the output or the report itself can't be written."""
    streams.discard_output_if_broken()
    try:
        report(problem, as_json=as_json)
        sys.stderr.flush()
    except OSError:
        streams.discard_buffer(sys.stderr)
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
    from supervisor.cli.kit.suggestions import advice_on_verb

    guess = advice_on_verb(word)
    more = "" if not guess else " " if guess.endswith("?") else "; "
    return Problem(f"unknown verb {word!r}", f"{guess}{more}`greenroom help` lists all verbs", "usage")


def _die_of_sigpipe() -> NoReturn:
    """Die of SIGPIPE, as other programs do when the reader of their output has gone; shells expect that."""
    sys.stderr.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(128 + signal.SIGPIPE)  # if the signal is blocked


if __name__ == "__main__":
    sys.exit(main())
