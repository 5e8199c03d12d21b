import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary.errors import ConfigError
from supervisor.config.config_problems import dotted_path
from supervisor.config.overrides import DEEPEST, merge, overrides_from_json, parse_overrides, split_key


@pytest.mark.parametrize(
    ("word", "tree"),
    [
        ("a=1", {"a": 1}),
        ("a.b.c=true", {"a": {"b": {"c": True}}}),
        ("model=gpt-5", {"model": "gpt-5"}),
        ('model="gpt-5"', {"model": "gpt-5"}),
        ("model='it\"s", {"model": 'it"s'}),
        ("a=[1, 'x']", {"a": [1, "x"]}),
        ("a={b = 1}", {"a": {"b": 1}}),
        ("a=b=c", {"a": "b=c"}),
        ("a=", {"a": ""}),
        ('a."b.c".d=1', {"a": {"b.c": {"d": 1}}}),
        ("a.'/work/x y'.d=1", {"a": {"/work/x y": {"d": 1}}}),
        (" a . b = 2", {"a": {"b": 2}}),
        ("model=2025-08-07", {"model": "2025-08-07"}),
        ('a="x"\nprofile="evil"', {"a": 'x"\nprofile="evil'}),
    ],
)
def test_a_word_becomes_a_tree(word: str, tree: dict[str, object]) -> None:
    assert parse_overrides([word]) == tree


def test_later_words_win_and_tables_grow() -> None:
    assert parse_overrides(["a.b=1", "a.c=2", "a.b=3"]) == {"a": {"b": 3, "c": 2}}
    assert parse_overrides(["a=1", "a.b=2"]) == {"a": {"b": 2}}
    assert parse_overrides(["a.b=2", "a=1"]) == {"a": 1}


@pytest.mark.parametrize("word", ["", "model", "=1", "a..b=1", ".a=1", "a.=1", 'a."b=1', "a b'c=1"])
def test_a_word_that_is_no_override_is_refused(word: str) -> None:
    with pytest.raises(ConfigError, match="override"):
        parse_overrides([word])


def test_json_is_taken_over_as_the_reference_says() -> None:
    members = {"a.b": None, "c": {"d.e": [None, {"f": None}]}, "g": 2**63 - 1, "h": 2**63, "i": 1.5, "j": True}
    assert overrides_from_json(members) == {
        "a": {"b": ""},
        "c": {"d.e": ["", {"f": ""}]},
        "g": 2**63 - 1,
        "h": float(2**63),
        "i": 1.5,
        "j": True,
    }
    assert type(overrides_from_json(members)["j"]) is bool


@pytest.mark.parametrize("value", [10**400, b"", object(), [{1, 2}]])
def test_a_value_that_toml_cannot_hold_is_refused(value: object) -> None:
    with pytest.raises(ConfigError):
        overrides_from_json({"a": value})


def test_nesting_beyond_measure_is_refused() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ConfigError, match="nested too deeply"):
        overrides_from_json({"a": deep})


@given(st.text())
def test_any_word_gets_a_tree_or_a_configuration_error(word: str) -> None:
    for candidate in (word, f"a={word}", f"{word}=1"):
        try:
            outcome: object = parse_overrides([candidate])
        except ConfigError as error:
            outcome = error.message.encode()
        assert outcome


NAMES = st.text(st.characters(exclude_characters='"', exclude_categories=["Cs"]))
KEYS = st.from_regex(r"[a-z_][a-z0-9_-]*", fullmatch=True) | st.sampled_from(["a.b", "x y"])


@given(st.lists(NAMES, min_size=1, max_size=DEEPEST))
def test_a_quoted_key_names_any_path(parts: list[str]) -> None:
    assert split_key(".".join(f'"{part}"' for part in parts)) == parts


@given(st.lists(KEYS, min_size=1, max_size=DEEPEST))
def test_a_path_that_was_written_out_is_read_back(parts: list[str]) -> None:
    assert split_key(dotted_path(tuple(parts))) == parts


trees = st.recursive(
    st.integers(0, 3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
).filter(lambda tree: isinstance(tree, dict))


@given(trees, trees)
def test_merging_changes_neither_side_and_keeps_all_of_the_upper(
    below: dict[str, object], above: dict[str, object]
) -> None:
    before = json.dumps([below, above])
    merged = merge(below, above)
    assert merge(merged, above) == merged
    assert all(key in merged for key in [*below, *above])
    assert {key: merged[key] for key in above if not isinstance(above[key], dict)} == {
        key: value for key, value in above.items() if not isinstance(value, dict)
    }
    for table in merged.values():
        if isinstance(table, dict):
            table["changed"] = True
    assert json.dumps([below, above]) == before


def test_a_key_of_thousands_of_parts_is_refused_in_words() -> None:
    for key in (".".join("a" * 5000), "a" * 5000, ".".join("a" * 40)):
        with pytest.raises(ConfigError, match=r"too (long|many parts)"):
            overrides_from_json({key: 1})
        with pytest.raises(ConfigError, match=r"too (long|many parts)"):
            parse_overrides([f"{key}=1"])


def test_a_value_that_is_nested_too_deeply_is_refused_and_in_a_word_it_is_a_string() -> None:
    value: object = 1
    for _ in range(500):
        value = {"a": value}
    with pytest.raises(ConfigError, match="nested too deeply"):
        overrides_from_json({"x": value})
    nested = "[" * 100 + "]" * 100
    assert parse_overrides([f"x={nested}"]) == {"x": nested}
