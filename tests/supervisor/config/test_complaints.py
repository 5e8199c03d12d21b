from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from annotated_types import Ge, Gt, Le
from pydantic import BaseModel

from actors.vocabulary.errors import ConfigError
from supervisor.config.config_problems import dotted_path, ignored_keys, problems
from supervisor.config.key_types import KeyPath, KeyType
from supervisor.config.load import ConfigFile, layer, load
from supervisor.config.overrides import parse_overrides
from supervisor.config.whole_config import Config

SECRET = "sk-verysecretindeed"


def complaint(tmp_path: Path, text: str) -> str:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(str(path))
    return caught.value.message.replace(f"{path}:", "")


COMPLAINTS = {
    "\nmodel = 5": "2: `model`: expected a string, found 5",
    "model = [1]": "1: `model`: expected a string, found a list",
    "greenroom = true": "1: `greenroom`: expected a table, found true",
    "notify = 'x'": '1: `notify`: expected a list, each value a string, found the string "x"',
    "sandbox_mode = 'off'": (
        '1: `sandbox_mode`: expected one of read-only, workspace-write, danger-full-access, found the string "off"'
    ),
    "[sandbox_workspace_write]\nwritable_roots = [\n'/a',\n'b']": (
        "4: `sandbox_workspace_write.writable_roots[1]`: expected an absolute path (~ is allowed), "
        'found the string "b"'
    ),
    "sandbox_workspace_write.writable_roots = ['~nobody-of-this-name/x']": (
        "1: `sandbox_workspace_write.writable_roots[0]`: expected an absolute path (~ is allowed), "
        'found the string "~nobody-of-this-name/x"'
    ),
    "model = 1979-05-27": "1: `model`: expected a string, found a date",
    "[model_providers.'my own']\nbase_url = 'ftp://x'": (
        '2: `model_providers."my own".base_url`: expected a URL that starts with http:// or https://, '
        'found the string "ftp://x"'
    ),
    "[greenroom]\nlimits = { live_sessions = 0 }": (
        "2: `greenroom.limits.live_sessions`: expected a whole number, at least 1, found 0"
    ),
    "greenroom.interrupt_grace_ms = '1s'": (
        "1: `greenroom.interrupt_grace_ms`: expected a whole number, at least 0 and at most 60000, "
        'found the string "1s"'
    ),
    "[greenroom.prices.'gpt-5*']\ninput = 1.0": (
        '1: `greenroom.prices."gpt-5*".output`: expected a number from 0 to 1,000,000, found nothing'
    ),
    "[greenroom.prices.x]\ninput = -1\noutput = 1": (
        "2: `greenroom.prices.x.input`: expected a number from 0 to 1,000,000, found -1"
    ),
    "[greenroom.prices.'']\ninput = 1\noutput = 1": '1: `greenroom.prices.""`: a name can\'t be empty',
    "greenroom.drain_seconds = inf": "1: `greenroom.drain_seconds`: expected a number, at least 0, found inf",
    "hide_agent_reasoning = 'yes'": ('1: `hide_agent_reasoning`: expected true or false, found the string "yes"'),
    "[model_providers.demo]\nname = 'x'": (
        "1: `model_providers.demo`: the built-in demo model has no server, so it can't be redefined; "
        "choose another name"
    ),
}


@pytest.mark.parametrize(("text", "said"), COMPLAINTS.items())
def test_a_complaint_has_line_key_what_was_expected_and_what_was_found(tmp_path: Path, text: str, said: str) -> None:
    assert complaint(tmp_path, text) == said


def test_several_complaints_come_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    said = complaint(tmp_path, "model = 1\n[profiles.p]\nmodel = 2\n[greenroom]\nlog_level = 3").splitlines()
    assert [line.split(":")[0] for line in said] == ["1", "3", "5"]


def test_the_error_carries_file_line_and_key_as_data(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("\n\nmodel = 1")
    with pytest.raises(ConfigError) as caught:
        load(str(path))
    assert caught.value.details == {"file": str(path), "line": 3, "key": "model"}


def test_a_complaint_about_an_override_says_so_even_where_the_file_has_the_key_too(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text('model = "fine"')
    with pytest.raises(ConfigError) as caught:
        load(str(path), parse_overrides(["model=5"]))
    assert caught.value.message == "override: `model`: expected a string, found 5"
    assert caught.value.details["line"] is None


@pytest.mark.parametrize(
    "text",
    [
        f"[model_providers.x]\nenv_key = '{SECRET}'",
        f"[model_providers.x]\nhttp_headers = ['{SECRET}']",
        f"[model_providers.x.http_headers]\nAuthorization = {{ a = '{SECRET}' }}",
        f"[model_providers.x.env_http_headers]\nX = 'Bearer {SECRET}'",
        f"[model_providers.x]\nwire_api = '{SECRET}'",
        "[shell_environment_policy.set]\nANYTHING = 1234567",
        f"model_provider = 1\nAPI_KEY = '{SECRET}'",
    ],
)
def test_no_complaint_quotes_a_secret(tmp_path: Path, text: str) -> None:
    said = complaint(tmp_path, text)
    assert SECRET not in said
    assert "1234567" not in said


@pytest.mark.parametrize(
    ("key", "warning"),
    [
        ("modle", "unknown key, ignored; did you mean `model`?"),
        ("greenroom.idle_park_second", "unknown key, ignored; did you mean `idle_park_seconds`?"),
        ("greenroom.limits.frame_byte", "unknown key, ignored; did you mean `frame_bytes`?"),
        ("model_providers.mine.baseurl", "unknown key, ignored; did you mean `base_url`?"),
        ("profiles.p.modell", "unknown key, ignored; did you mean `model`?"),
        ("zzzzzzzz", "unknown key, ignored"),
        ("tui.theme", None),
        ("model_providers.mine.http_headers.anything", None),
        ("shell_environment_policy.set.ANYTHING", None),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_nearest_known_one(
    tmp_path: Path, key: str, warning: str | None
) -> None:
    path = tmp_path / "c.toml"
    path.write_text(f"\n{key} = 'x'")
    texts = [text for text in load(str(path)).warnings if "has no effect here" not in text]
    assert texts == ([f"{path}:2: `{key}`: {warning}"] if warning else [])


def test_a_key_of_codex_without_effect_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[tui]\ntheme = 'x'\n[profiles.p]\nchatgpt_base_url = 'x'")
    assert [text.split(": ")[1:3] for text in load(str(path)).warnings] == [
        ["`tui`", "has no effect here"],
        ["`profiles.p.chatgpt_base_url`", "has no effect here"],
    ]


def test_an_unknown_override_is_a_warning_too() -> None:
    loaded = layer(ConfigFile(), parse_overrides(["modle=x"]))
    assert loaded.warnings == ("override: `modle`: unknown key, ignored; did you mean `model`?",)


def numbers(model: type[BaseModel], path: KeyPath = ()) -> Iterator[tuple[KeyPath, KeyType]]:
    for name, info in model.model_fields.items():
        place = KeyType.from_annotation(info.annotation, info.metadata)
        below = place["NAME"] if place.is_free else place
        if below is not None and below.table is not None:
            yield from numbers(below.table, (*path, name, "NAME") if place.is_free else (*path, name))
        elif place.bare in (int, float):
            yield (*path, name), place


# What a table of its kind has to say beside the key in question.
BESIDE: dict[KeyPath, dict[str, Any]] = {
    ("mcp_servers", "NAME"): {"command": "server"},
    ("agents", "NAME"): {"command": "agent"},
    ("greenroom", "prices", "NAME"): {"input": 1.0, "output": 1.0},
}


def tree(path: KeyPath, value: Any) -> dict[str, Any]:
    value = {**BESIDE.get(path[:-1], {}), str(path[-1]): value}
    for key in reversed(path[:-1]):
        value = {str(key): value}
    assert isinstance(value, dict)
    return value


@pytest.mark.parametrize(
    ("path", "place"), list(numbers(Config)), ids=lambda value: dotted_path(value) if type(value) is tuple else ""
)
def test_every_number_is_bounded_on_both_sides_and_its_bounds_hold(path: KeyPath, place: KeyType) -> None:
    lowest = [
        (limit.gt if isinstance(limit, Gt) else limit.ge) for limit in place.limits if isinstance(limit, (Gt, Ge))
    ]
    highest = [limit.le for limit in place.limits if isinstance(limit, Le)]
    assert (len(lowest), len(highest)) == (1, 1)  # pydantic takes the last of two, and says nothing
    for value in (float(str(lowest[0])) - 1, float(str(highest[0])) * 2, True, "1", float("nan")):
        assert [problem.path for problem in problems(tree(path, value))] == [path]
    assert problems(tree(path, highest[0])) == []


def test_the_defaults_themselves_are_a_sound_configuration() -> None:
    said = Config().model_dump(mode="json", exclude_none=True)
    assert problems(said) == []
    assert ignored_keys(said) == []


def test_a_frozen_configuration_can_not_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Config().model = "x"  # type: ignore[misc] # that it is refused is the point
