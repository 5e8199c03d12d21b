"""Tables of the bench that say how a figure grows, and the part of the page they make."""

import re
from pathlib import Path

import pytest

from bench.__main__ import GROWTH_HEAD, PAGE, PLOTS, growth_section, write_plots
from bench.growth.curves import BATCH, Curve, Growth, size_names, usual_p99

SIZES = (1_000, 1_000_000)
TARGET = "≤ 1.3 times"


def table(*curves: Curve, name: str = "conversations") -> Growth:
    return Growth(name, "Parked conversations", "parked conversations", size_names(SIZES), curves)


def cells(curve: Curve) -> list[str]:
    row = table(curve).markdown("p").splitlines()[4]
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_each_figure_stands_beside_its_growth() -> None:
    assert cells(Curve("list", "ms", {1_000: 2.0, 1_000_000: 2.1}, 0.5, "echo", TARGET)) == [
        "list",
        "2.00 ms",
        "2.10 ms, ×1.05",  # noqa: RUF001  # the sign is meant
        "≤ 1.3 times",
        "0.50 ms (echo)",
    ]


@pytest.mark.parametrize(
    ("largest", "target", "missed"),
    [(2.6, TARGET, False), (2.7, TARGET, True), (5.0, "≤ 5", False), (5.1, "≤ 5", True)],
)
def test_a_target_is_for_the_growth_or_for_the_largest_figure(largest: float, target: str, *, missed: bool) -> None:
    told = cells(Curve("list", "ms", {1_000: 2.0, 1_000_000: largest}, target=target))[3]
    assert told == (f"{target}, missed" if missed else target)


def test_a_target_may_be_for_a_size_in_the_middle() -> None:
    sizes = {1: "1 MiB", 8: "8 MiB", 16: "16 MiB"}
    curve = Curve("turn", "ms", {1: 2.0, 8: 2.1, 16: 9.0}, target=TARGET, judged=8)
    assert curve.cells(sizes)[4] == "≤ 1.3 times with 8 MiB"


def test_a_figure_that_begins_at_nothing_has_no_growth() -> None:
    assert cells(Curve("held", "ms", {1_000: 0.0, 1_000_000: 1.0}))[2] == "1.00 ms"


def test_a_size_without_figure_is_an_empty_cell() -> None:
    assert cells(Curve("memory", "MiB", {1_000_000: 1.0}))[1:3] == ["", "1.00 MiB"]


def test_bad_moments_of_the_machine_do_not_make_the_p99() -> None:
    quiet = [1.0] * BATCH
    assert usual_p99([*quiet, *[50.0] * BATCH * 2, *quiet]) == 1.0
    assert usual_p99([2.0] * BATCH * 4) == 2.0
    assert usual_p99([1.0] * (BATCH - 1) + [9.0]) == 9.0


def test_the_section_has_a_table_with_even_rows_and_a_link_to_each_plot(tmp_path: Path) -> None:
    growths = [table(Curve("a", "ms", {1_000: 1.0, 1_000_000: 1.1}, target=TARGET), name=name) for name in ("x", "y")]
    (tmp_path / "old.svg").touch()
    write_plots(tmp_path, growths)
    text = growth_section(growths)
    assert text.startswith(GROWTH_HEAD)
    assert pictures(text) == {f"{PLOTS.name}/x.svg", f"{PLOTS.name}/y.svg"}
    assert {path.name for path in tmp_path.iterdir()} == {"x.svg", "y.svg"}
    assert len({line.count("|") for line in text.splitlines() if line.startswith("|")}) == 1
    assert not re.search(r"\n{3}", text)


def test_the_page_as_it_stands_shows_every_plot_that_is_there() -> None:
    linked = pictures(PAGE.read_text(encoding="utf-8"))
    assert linked == {f"{PLOTS.name}/{path.name}" for path in PLOTS.glob("*.svg")}


def pictures(text: str) -> set[str]:
    return set(re.findall(r"!\[[^]]+\]\(([^)]+)\)", text))
