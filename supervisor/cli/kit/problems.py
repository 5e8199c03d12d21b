"""The failure of a verb in one line: the problem, and the next step to take."""

import sys

from supervisor.cli.kit import exits


class Problem(Exception):
    """An error that ends the verb. `code` is stable; the exit code follows from it."""

    def __init__(self, message: str, advice: str = "", code: str = "failed") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.code = code

    @property
    def exit(self) -> int:
        return exits.EXIT_BY_CODE.get(self.code, exits.FAILED)

    def __str__(self) -> str:
        return f"{self.message}; {self.advice}" if self.advice else self.message


def exit_of(failures: list[Problem], targets: int) -> int:
    """The exit code of a verb with several targets: that of a single one, or the code for some that failed."""
    if not failures:
        return exits.OK
    return failures[0].exit if targets == 1 else exits.SOME_FAILED


def report(problem: Problem, *, as_json: bool) -> None:
    """Print the problem to standard error, for a person or for a program."""
    if as_json:
        from supervisor.cli.kit.json_output import json_text

        print(json_text({"error": {"code": problem.code, "message": str(problem)}}), file=sys.stderr)
    else:
        from supervisor.cli.kit.formatting import clean  # inline, because it imports this module

        print(f"greenroom: {clean(str(problem))}", file=sys.stderr)
