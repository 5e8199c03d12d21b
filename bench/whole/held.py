"""The table that benchmarks print: a figure, what it should be, and the floor it stands on."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """`target` is an upper bound, or a lower one where more is better. Without one the figure is for reading."""

    what: str
    unit: str
    value: float
    floor: float | None = None
    floor_is: str = ""
    target: float | None = None
    more_is_better: bool = False

    @property
    def held(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.more_is_better else self.value <= self.target


def show(rows: Iterable[Row]) -> None:
    print(f"{'what':<58} {'value':>10}     {'target':>9}  {'floor':>10}  floor is")
    for row in rows:
        sign = ">=" if row.more_is_better else "<="
        target = f"{sign} {row.target:g}" if row.target is not None else ""
        floor = f"{row.floor:>10.2f}" if row.floor is not None else f"{'':>10}"
        verdict = "" if row.held else "  NOT HELD"
        print(f"{row.what:<58} {row.value:>10.2f} {row.unit:<3} {target:>9}  {floor}  {row.floor_is}{verdict}")


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
