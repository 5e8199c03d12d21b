"""Writes docs/acp-promises.md from what was recorded: `python -m tests.judges.acp_promises.table`.

`… --record` tries every agent that is installed first, alone and behind Greenroom, and records it. One file for each
agent and place, beside this one.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.judges.acp_promises.candidate import Candidate
from tests.judges.acp_promises.cases import ALL
from tests.judges.acp_promises.known import BEHIND, KNOWN, OWN, ROOT
from tests.judges.acp_promises.trial import Trial
from tests.judges.report import Judgement, Verdict, judge, told

PAGE = ROOT / "docs" / "acp-promises.md"
RECORDS = Path(__file__).with_name("recorded")
PLACES: Mapping[str, Mapping[str, Candidate]] = {"alone": KNOWN, "behind": BEHIND}
TITLES = {
    "claude": "claude-agent-acp 0.100.0",
    "codex-zed": "codex-acp 0.16.0 (Zed)",
    "codex": "codex-acp 2.6.0",
    "opencode": "opencode 1.18.33",
    "gemini": "gemini-cli 0.61.0",
    OWN: "Greenroom's own agent",
}
SIGNS = {Verdict.KEPT: "kept", Verdict.BROKEN: "**broken**", Verdict.LEFT_OUT: "n/a"}
HEAD = """# What an ACP agent promises, alone and behind Greenroom

A judge that knows the Agent Client Protocol and nothing of Greenroom starts each agent in a home of its own, with a
scripted model, and tries what anybody may expect of it. The first word of a cell is the agent alone, as an editor
would start it; the second is the same agent behind `greenroom acp`; `n/a`: the promise does not apply there. An
agent that keeps a promise at times breaks it. Try any agent:

```sh
.venv/bin/python -m tests.judges.acp_promises -- opencode acp
```

This page is written from recorded outcomes by `python -m tests.judges.acp_promises.table`; with `--record` they are
tried anew.

"""

Record = dict[str, dict[str, str]]  # by promise: its verdict and reason
Recorded = dict[tuple[str, str], Record]  # by agent and place


def recorded() -> Recorded:
    found: Recorded = {}
    for place, agents in PLACES.items():
        for name in agents:
            file = RECORDS / f"{name}.{place}.json"
            if file.exists():
                rows: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
                found[name, place] = {row["promise"]: row for row in rows}
    return found


def record(name: str, place: str, jobs: int) -> None:
    heard = told(judge(partial(Trial, PLACES[place][name]), ALL, jobs), print)
    keep(name, place, heard)


def keep(name: str, place: str, heard: Sequence[Judgement]) -> None:
    RECORDS.mkdir(exist_ok=True)
    text = json.dumps([one.plain() for one in heard], indent=1, ensure_ascii=False)
    (RECORDS / f"{name}.{place}.json").write_text(text + "\n", encoding="utf-8")


def page(found: Recorded) -> str:
    names = [name for name in TITLES if any(agent == name for agent, _ in found)]
    lines = [
        f"| promise | {' | '.join(TITLES[name] for name in names)} |",
        f"|---|{'---|' * len(names)}",
        f"| **kept, of those that apply** | {' | '.join(_totals(found, name) for name in names)} |",
    ]
    for one in ALL:
        cells = (_cell(found, name, one.words) for name in names)
        lines.append(f"| {one.words} | {' | '.join(cells)} |")
    return HEAD + "\n".join(lines) + "\n\n## What breaks\n\n" + "\n".join(_reasons(found)) + "\n"


def summary(found: Recorded) -> str:
    """The totals alone, for the README."""
    lines = ["| agent | promises kept alone | behind Greenroom |", "|---|---|---|"]
    for name in KNOWN:
        alone, behind = (_total(found, name, place) for place in PLACES)
        lines.append(f"| {TITLES[name]} | {alone} | {behind} |")
    return "\n".join(lines) + "\n"


def _cell(found: Recorded, name: str, words: str) -> str:
    """Both places; our own agent has one."""
    rows = [found.get((name, place), {}).get(words) for place, agents in PLACES.items() if name in agents]
    return " / ".join("not tried" if row is None else SIGNS[Verdict(row["verdict"])] for row in rows)


def _totals(found: Recorded, name: str) -> str:
    return " / ".join(_total(found, name, place) for place, agents in PLACES.items() if name in agents)


def _total(found: Recorded, name: str, place: str) -> str:
    verdicts = [row["verdict"] for row in found.get((name, place), {}).values()]
    apply = len(verdicts) - verdicts.count(Verdict.LEFT_OUT)
    return f"{verdicts.count(Verdict.KEPT)} of {apply}" if apply else "not tried"


def _reasons(found: Recorded) -> list[str]:
    return [
        f"- {TITLES[name]}{', behind Greenroom' if place == 'behind' else ''}: {words}: `{row['reason']}`"
        for (name, place), rows in found.items()
        for words, row in rows.items()
        if row["verdict"] == Verdict.BROKEN
    ]


if __name__ == "__main__":
    options = argparse.ArgumentParser(prog="python -m tests.judges.acp_promises.table", description=__doc__)
    options.add_argument("--record", nargs="*", metavar="AGENT.PLACE", help="try these anew, or all")
    options.add_argument("--jobs", type=int, default=2, help="how many are tried side by side (2)")
    chosen = options.parse_args()
    if chosen.record is not None:
        every = [f"{name}.{place}" for place, agents in PLACES.items() for name in agents]
        for one in chosen.record or every:
            name, _, place = one.rpartition(".")
            record(name, place, chosen.jobs)
    PAGE.write_text(page(recorded()), encoding="utf-8")
