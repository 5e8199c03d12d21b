"""The command line: judges the agent of a command line, or one that is known; fails if a promise was broken."""

import argparse
import json
import shlex
import sys
from functools import partial
from pathlib import Path

from tests.judges.acp_promises.candidate import Candidate
from tests.judges.acp_promises.cases import ALL
from tests.judges.acp_promises.known import BEHIND, KNOWN, any_agent
from tests.judges.acp_promises.trial import Trial
from tests.judges.report import Verdict, judge, told
from tests.support.command_line import NoProgram, words_of

options = argparse.ArgumentParser(
    prog="python -m tests.judges.acp_promises",
    description="What may be expected of an ACP agent. Its home has the settings under which the known agents ask a"
    " scripted model; an agent that none of them fits asks no model, and breaks what needs one.",
)
options.add_argument("command", nargs="*", help="the agent's command line, after --")
options.add_argument("--agent", choices=KNOWN, help="an agent that is known, instead of a command line")
options.add_argument("--behind", choices=BEHIND, help="an agent that is known, behind Greenroom")
options.add_argument("--asks", default="run", help="run, or outside: how the model makes it ask for a permission")
options.add_argument("--mode", default="", help="the mode in which it asks, if it is not the one that it begins in")
options.add_argument(
    "--service", default="", metavar="WORDS", help="processes with these words may outlive the agent"
)
options.add_argument("--only", default="", metavar="WORDS", help="promises with these words in them")
options.add_argument("--jobs", type=int, default=2, help="how many are tried side by side (2)")
options.add_argument("--whole", action="store_true", help="reasons with the last lines of the wire")
options.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes there, too")


def candidate_of(chosen: argparse.Namespace) -> Candidate:
    if chosen.agent:
        return KNOWN[chosen.agent]
    if chosen.behind:
        return BEHIND[chosen.behind]
    try:
        return any_agent(words_of(shlex.join(chosen.command)), chosen.asks, chosen.mode, chosen.service)
    except NoProgram as error:
        options.error(str(error))


if __name__ == "__main__":
    chosen = options.parse_args()
    wanted = [one for one in ALL if chosen.only in one.words]
    judgements = judge(partial(Trial, candidate_of(chosen)), wanted, chosen.jobs)
    heard = told(judgements, partial(print, flush=True), whole=chosen.whole)
    if chosen.json:
        plain = [one.plain() for one in heard]
        chosen.json.write_text(json.dumps(plain, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.exit(any(one.verdict is Verdict.BROKEN for one in heard))
