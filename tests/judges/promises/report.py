"""Tries promises, some side by side, and says of each whether it was kept."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from tests.judges.promises.promise import BesideThePoint, Promise
from tests.judges.promises.trial import Trial

SHORT = 160  # characters of a reason, in a report of a line for each


class Verdict(StrEnum):
    KEPT = "kept"
    BROKEN = "broken"
    LEFT_OUT = "left out"


@dataclass(frozen=True, slots=True)
class Judgement:
    promise: Promise
    verdict: Verdict
    reason: str = ""

    def line(self, *, whole: bool = False) -> str:
        reason = self.reason if whole else self.reason.partition("; the last lines")[0][:SHORT]
        return f"{self.verdict:9}{self.promise.words}{': ' if reason else ''}{reason}"


def judge(command: Sequence[str], promises: Sequence[Promise], jobs: int) -> Iterator[Judgement]:
    """Try the promises; the outcomes in their order."""
    with ThreadPoolExecutor(jobs, "trial") as pool:
        yield from pool.map(lambda one: judged(command, one), promises)


def judged(command: Sequence[str], promise: Promise) -> Judgement:
    try:
        with Trial(command) as trial:
            promise.case(trial)
    except BesideThePoint as why:
        return Judgement(promise, Verdict.LEFT_OUT, str(why))
    except AssertionError as why:
        return Judgement(promise, Verdict.BROKEN, str(why))
    except Exception as error:  # noqa: BLE001  # a server may answer anything, and none of it ends the judge
        return Judgement(promise, Verdict.BROKEN, f"{type(error).__name__}: {error}")
    return Judgement(promise, Verdict.KEPT)


def total(judgements: Sequence[Judgement]) -> str:
    def count(verdict: Verdict) -> int:
        return sum(one.verdict is verdict for one in judgements)

    left_out = count(Verdict.LEFT_OUT)
    more = f", {left_out} left out" if left_out else ""
    return f"{count(Verdict.KEPT)} of {len(judgements) - left_out} promises kept{more}"


def told(judgements: Iterator[Judgement], say: Callable[[str], None], *, whole: bool = False) -> list[Judgement]:
    """Print each outcome as it comes, and all of them at the end."""
    heard = []
    for one in judgements:
        heard.append(one)
        say(one.line(whole=whole))
    say(total(heard))
    return heard
