"""Plots of the bench: whole, readable, and true to their figures."""

import itertools
import re
from xml.etree import ElementTree as ET

import pytest

from bench.growth.plot import LINE_HEIGHT, WIDTH, Line, Panel, draw_plot, spread

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {1_000: "1,000", 100_000: "100,000", 1_000_000: "1,000,000"}
FLAT = dict.fromkeys(SIZES, 2.0)
LINEAR = {size: size / 1e3 for size in SIZES}
CROWD = [Line(f"line {number}", dict.fromkeys(SIZES, 1.0 + number / 100)) for number in range(8)]


def plot(*panels: Panel) -> ET.Element:
    return ET.fromstring(draw_plot("A plot of <this> & that", "conversations", SIZES, panels))


def words(root: ET.Element) -> dict[str, ET.Element]:
    return {element.text or "": element for element in root.iter(f"{SVG}text")}


def heights(root: ET.Element, which: int) -> list[float]:
    return [float(dot.get("cy", "")) for dot in root.iter(f"{SVG}circle") if dot.get("class") == f"of{which}"]


def test_a_plot_names_its_title_sizes_units_and_lines() -> None:
    root = plot(Panel("ms", [Line("start", FLAT)]), Panel("MiB", [Line("memory & more", LINEAR)]))
    assert {"A plot of <this> & that", "start", "memory & more", "ms", "MiB", *SIZES.values()} <= set(words(root))


def test_constant_figures_are_level_and_linear_ones_as_steep_as_the_dashed_line() -> None:
    root = plot(Panel("ms", [Line("flat", FLAT), Line("linear", LINEAR)]))
    assert len(set(heights(root, 0))) == 1
    dots = [(float(dot.get("cx", "")), float(dot.get("cy", ""))) for dot in root.iter(f"{SVG}circle")][len(SIZES) :]
    dashed = next(path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == "slope")
    ends = [(float(x), float(y)) for x, y in re.findall(r"([\d.]+) ([\d.]+)", dashed)]
    assert steepness(dots[0], dots[-1]) == pytest.approx(steepness(*ends), rel=0.01)
    assert dots[0][1] > dots[1][1] > dots[2][1]


def steepness(begin: tuple[float, float], end: tuple[float, float]) -> float:
    return (begin[1] - end[1]) / (end[0] - begin[0])


def test_names_of_lines_that_end_together_stand_apart_within_the_picture() -> None:
    root = plot(Panel("ms", CROWD))
    places = sorted(float(words(root)[line.name].get("y", "")) for line in CROWD)
    assert all(after - before >= LINE_HEIGHT - 0.2 for before, after in itertools.pairwise(places))
    assert places[0] > 0
    assert places[-1] < float(root.get("viewBox", "").split()[3])


@pytest.mark.parametrize("name", ["short", "a name that is as long as a name of a line in a plot may be"])
def test_the_picture_has_room_for_the_longest_name(name: str) -> None:
    root = plot(Panel("ms", [Line(name, FLAT)]), Panel("MiB", [Line("other", FLAT)]))
    begin = float(words(root)[name].get("x", ""))
    assert begin + len(name) * 6.5 < WIDTH  # a letter is as wide as that in the usual fonts
    assert begin > max(float(dot.get("cx", "")) for dot in root.iter(f"{SVG}circle"))


def test_every_line_of_a_crowd_can_be_told_from_the_others() -> None:
    root = plot(Panel("ms", CROWD))
    assert len({dot.get("class") for dot in root.iter(f"{SVG}circle")}) == len(CROWD)


def test_a_figure_of_nothing_lies_on_the_bottom_of_its_axis() -> None:
    root = plot(Panel("ms", [Line("none", {**FLAT, 1_000: 0.0})]))
    first, *others = heights(root, 0)
    assert all(first > other for other in others)


def test_a_line_may_leave_sizes_out() -> None:
    root = plot(Panel("MiB", [Line("from the second on", {100_000: 1.0, 1_000_000: 2.0})]))
    assert len(heights(root, 0)) == 2


def test_every_ink_has_a_colour_for_a_light_and_for_a_dark_page() -> None:
    style = next(plot(Panel("ms", CROWD)).iter(f"{SVG}style")).text or ""
    light, dark = style.split("@media(prefers-color-scheme:dark)")
    for kind in ("text{", ".back{", ".grid{", "path.of0{", "text.of7{"):
        assert kind in light
        assert kind in dark
    assert inks(light)[".back"] != inks(dark)[".back"]


@pytest.mark.parametrize("which", [0, 1])
def test_words_stand_out_from_the_ground_on_both_pages(which: int) -> None:
    style = next(plot(Panel("ms", CROWD)).iter(f"{SVG}style")).text or ""
    colours = inks(style.split("@media(prefers-color-scheme:dark)")[which])
    for kind, colour in colours.items():
        if kind.startswith("text"):
            assert contrast(colour, colours[".back"]) >= 4.5, kind


def inks(style: str) -> dict[str, str]:
    rules = re.findall(r"([\w.,]+)\{(?:fill|stroke):(#[0-9a-f]{6})\}", style)
    return {kind: colour for kinds, colour in rules for kind in kinds.split(",")}


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG defines it, of which 4.5 is enough for words."""
    dim, bright = sorted([luminance(one), luminance(other)])
    return (bright + 0.05) / (dim + 0.05)


def luminance(colour: str) -> float:
    parts = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("wanted", [[50.0, 50.0, 50.0], [1.0, 99.0, 98.0], [10.0, 40.0, 80.0]])
def test_places_keep_their_order_and_distance_and_stay_where_there_is_room(wanted: list[float]) -> None:
    places = spread(wanted, 10.0, 100.0)
    order = sorted(range(3), key=wanted.__getitem__)
    assert all(places[b] - places[a] >= 10 for a, b in itertools.pairwise(order))
    assert max(places) <= 100
    if wanted == [10.0, 40.0, 80.0]:
        assert places == wanted
