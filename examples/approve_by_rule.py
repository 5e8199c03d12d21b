"""Answer approvals by rule: some commands may run, and nothing else.

    python examples/approve_by_rule.py [HOW_MANY]

A command that no rule covers could also be left to a person; the first answer counts.
"""

import sys

import greenroom
from greenroom.events import Decision

ALLOWED = {"date", "df", "ls", "uptime"}
SHELL = {"bash", "sh", "zsh"}


def decide(question: greenroom.Question) -> tuple[Decision, str]:
    match question.subject:
        case {"kind": "command", "command": [str(program), *_]} if program in ALLOWED:
            return "approved", ""
        case {"kind": "command", "command": [str(shell), _, str(script)]} if shell.rpartition("/")[2] in SHELL:
            words = script.split()
            if words and words[0] in ALLOWED and not set(script) & set(";|&`$()<>\n"):
                return "approved", ""
            return "denied", f"only {', '.join(sorted(ALLOWED))} may run here, one at a time"
        case _:
            return "denied", "no rule allows this"


def main(how_many: int | None = None) -> None:
    with greenroom.Client(start=True) as client:
        for count, question in enumerate(client.questions(), 1):
            decision, reason = decide(question)
            try:
                client.answer(question.approval_id, decision, reason=reason)
                print(f"{question.conversation[:8]}: {decision}", flush=True)
            except greenroom.errors.AlreadyAnswered as error:
                print(f"{question.conversation[:8]}: {error}", flush=True)
            if count == how_many:
                return


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
