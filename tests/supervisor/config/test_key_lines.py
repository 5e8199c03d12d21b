import json
import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from supervisor.config.key_lines import key_lines
from supervisor.config.key_types import KeyPath

DOCUMENT = '''\
# first = 1
title = "a # b" # not = this
dotted . "key.with dots".c = { inner = 1, 'in two' = { deep = [ { x = 1 }, { x = 2 } ] } }
text = """
[not.a.table]
no = "key" \\"""
"""""
raw = \'\'\'
x = 1\'\'\'
dates = 1979-05-27 07:32:00 # comment

[a.b]
list = [
  "one", # comment ]
  # only a comment
  [ "two" ],

  { three = 3 },
]
[a]
direct = 1
[[servers]]
name = "x"
[servers.more]
deep = true
[[servers]]
name = "y"
  [[servers.ports]]
  number = 1
  [[servers.ports]]
  number = 2
["quoted table".z]
"" = 0
'''


def leaves(value: object, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Everything below the root: tables, keys and elements."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, below in value.items():
            yield from leaves(below, (*path, key))
    elif isinstance(value, list):
        for index, below in enumerate(value):
            yield from leaves(below, (*path, index))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("dotted",), 3),
        (("dotted", "key.with dots"), 3),
        (("dotted", "key.with dots", "c", "in two", "deep", 1, "x"), 3),
        (("text",), 4),
        (("raw",), 8),
        (("dates",), 10),
        (("a", "b"), 12),
        (("a", "b", "list"), 13),
        (("a", "b", "list", 0), 14),
        (("a", "b", "list", 1), 16),
        (("a", "b", "list", 1, 0), 16),
        (("a", "b", "list", 2, "three"), 18),
        (("a",), 20),
        (("a", "direct"), 21),
        (("servers",), 22),
        (("servers", 0), 22),
        (("servers", 0, "name"), 23),
        (("servers", 0, "more", "deep"), 25),
        (("servers", 1, "name"), 27),
        (("servers", 1, "ports", 0, "number"), 29),
        (("servers", 1, "ports", 1), 30),
        (("quoted table", "z", ""), 33),
    ],
)
def test_each_kind_of_key_is_found_on_its_line(path: KeyPath, line: int) -> None:
    assert key_lines(DOCUMENT)[path] == line


def test_every_key_of_a_document_is_found_and_no_other() -> None:
    assert set(key_lines(DOCUMENT)) == set(leaves(tomllib.loads(DOCUMENT)))


def test_line_ends_of_other_systems_count_once() -> None:
    assert key_lines(DOCUMENT.replace("\n", "\r\n")) == key_lines(DOCUMENT)


names = st.text(st.sampled_from('ab-_.# "\\é='), min_size=1, max_size=4)
strings = st.one_of(
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=True)).filter(lambda text: "\\ud" not in text),
    st.sampled_from(['"""a\n[b]\nc=1"""', "'''\n=\n'''", '"""\\""""', "'#'", "''", '"\\\\"', '""""a"""""']),
)
scalars = st.one_of(st.integers(-9, 9).map(str), st.sampled_from(["true", "1979-05-27", "1.5e3", "inf"]), strings)


@st.composite
def inline_tables(draw: st.DrawFn, values: st.SearchStrategy[str]) -> str:
    members = draw(st.dictionaries(names, values, max_size=3))
    return "{" + ", ".join(f"{json.dumps(name)} = {value}" for name, value in members.items()) + " }"


def arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    gap = st.sampled_from([", ", ",\n", ", # ]\n  "])
    return st.tuples(st.lists(values, max_size=3), gap).map(lambda parts: "[ " + parts[1].join(parts[0]) + "\n]")


values = st.recursive(scalars, lambda inner: st.one_of(arrays(inner), inline_tables(inner)), max_leaves=6)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[KeyPath, int]]:
    """A document written line by line, so that the line of each key is known from the writing."""
    lines: list[str] = []
    written: dict[KeyPath, int] = {}
    tables: list[str | None] = [None, *draw(st.lists(names, max_size=3, unique=True))]
    for table in tables:
        if table is not None:
            lines.append(draw(st.sampled_from(["[ {} ]", "[{}] # x", "  [{}]"])).format(json.dumps(table)))
            written[table,] = len(lines)
        above = () if table is None else (table,)
        # A key of the top level may not be a table's name as well.
        for name, value in draw(st.dictionaries(names.map(lambda name: f"k{name}"), values, max_size=3)).items():
            lines.extend([""] * draw(st.integers(0, 2)))
            written[*above, name] = len(lines) + 1
            lines.extend(f"{json.dumps(name)} = {value}".split("\n"))
    return "\n".join(lines), written


@given(documents())
def test_every_key_of_any_document_is_found_where_it_was_written(document: tuple[str, dict[KeyPath, int]]) -> None:
    text, written = document
    tree = tomllib.loads(text)
    found = key_lines(text)
    assert {path: found[path] for path in written} == written
    assert set(found) == set(leaves(tree))


@given(st.text(st.sampled_from("ab.=[]{}\"'#\n ,1\\"), max_size=60))
@example("a = [1]")
@example('"')
@example("[[a]]\n[a.b]\nc=1")
def test_any_text_is_answered_and_a_sound_one_completely(text: str) -> None:
    found = key_lines(text)
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(found) == set(leaves(tree))


def test_nesting_beyond_measure_gets_no_line_rather_than_a_crash() -> None:
    assert key_lines("a = " + "[" * 100_000) == {}
