"""Tries promises, some side by side, and says of each whether it was kept; the same as JSON."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tests.judges.promise import BesideThePoint, Promise, S

SHORT = 200  # characters of a reason, in a report of a line for each


class Verdict(StrEnum):
    KEPT = "kept"
    BROKEN = "broken"
    LEFT_OUT = "n/a"


@dataclass(frozen=True, slots=True)
class Judgement:
    promise: Promise[Any]
    verdict: Verdict
    reason: str = ""

    def line(self, *, whole: bool = False) -> str:
        reason = self.reason if whole else self.short()
        return f"{self.verdict:7}{self.promise.words}{': ' if reason else ''}{reason}"

    def short(self) -> str:
        return self.reason.partition("; the last lines")[0][:SHORT]

    def plain(self) -> dict[str, Any]:
        return {"promise": self.promise.words, "verdict": str(self.verdict), "reason": self.short()}


def judge(begin: Callable[[], S], promises: Iterable[Promise[S]], jobs: int) -> Iterator[Judgement]:
    """Try the promises, each in a setting that `begin` makes; the outcomes in their order."""
    with ThreadPoolExecutor(jobs, "trial") as pool:
        yield from pool.map(lambda one: judged(begin, one), promises)


def judged(begin: Callable[[], S], promise: Promise[S]) -> Judgement:
    trial = begin()
    try:
        with trial:
            promise.case(trial)
    except BesideThePoint as why:
        return Judgement(promise, Verdict.LEFT_OUT, str(why))
    except AssertionError as why:
        reason = str(why)
    except Exception as error:  # noqa: BLE001  # a candidate may answer anything, and none of it ends the judge
        reason = f"{type(error).__name__}: {error}"
    else:
        return Judgement(promise, Verdict.KEPT)
    return Judgement(promise, Verdict.BROKEN, reason.replace(str(trial.home), "~"))


def told(
    judgements: Iterator[Judgement], say: Callable[[str], object], *, whole: bool = False
) -> Sequence[Judgement]:
    """Say each outcome as it comes, and all of them at the end."""
    heard = []
    for one in judgements:
        heard.append(one)
        say(one.line(whole=whole))
    say(total(heard))
    return heard


def total(judgements: Sequence[Judgement]) -> str:
    def count(verdict: Verdict) -> int:
        return sum(one.verdict is verdict for one in judgements)

    left_out = count(Verdict.LEFT_OUT)
    more = f", {left_out} do not apply" if left_out else ""
    return f"{count(Verdict.KEPT)} of {len(judgements) - left_out} promises kept{more}"
