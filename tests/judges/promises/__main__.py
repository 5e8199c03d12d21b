"""The command line: judges the server of a command line; fails if a promise was broken."""

import argparse
import sys
from functools import partial

from tests.judges.promises.cases import ALL
from tests.judges.promises.trial import Trial
from tests.judges.report import Verdict, judge, told
from tests.support.command_line import NoProgram, words_of

options = argparse.ArgumentParser(
    prog="python -m tests.judges.promises", description="What may be expected of a server of the `codex mcp` shape."
)
options.add_argument("command", help="the server's command line, such as 'greenroom mcp' or 'codex mcp'")
options.add_argument("--only", default="", metavar="WORDS", help="promises with these words in them")
options.add_argument("--jobs", type=int, default=2, help="how many are tried side by side (2)")
options.add_argument("--whole", action="store_true", help="reasons with the last lines of the wire")
chosen = options.parse_args()
try:
    command = words_of(chosen.command)
except NoProgram as error:
    options.error(str(error))

wanted = [one for one in ALL if chosen.only in one.words]
judgements = judge(partial(Trial, command), wanted, chosen.jobs)
heard = told(judgements, partial(print, flush=True), whole=chosen.whole)
sys.exit(any(one.verdict is Verdict.BROKEN for one in heard))
