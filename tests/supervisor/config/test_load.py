from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.settings import ApprovalPolicy, SandboxMode
from supervisor.config.config_problems import BUILT_IN_PROVIDERS
from supervisor.config.load import MOST_LAYERED, ConfigFile, LoadedConfig, layer, load, read_file
from supervisor.config.overrides import overrides_from_json, parse_overrides
from supervisor.config.shared_keys import Inherit
from supervisor.config.whole_config import Config

Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> str:
        path = tmp_path / "config.toml"
        path.write_text(dedent(text), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def homes(tmp_path: Path) -> dict[str, str]:
    """An environment with a file in each of the three places, each with a model named after its place."""
    places = {"GREENROOM_HOME": "g", "XDG_CONFIG_HOME": "x/greenroom", "CODEX_HOME": "c"}
    for place in places.values():
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "config.toml").write_text(f'model = "{place[0]}"')
    return {"HOME": str(tmp_path), **{name: str(tmp_path / place[0]) for name, place in places.items()}}


def refusal(path: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(path)
    return caught.value


def test_the_named_file_goes_before_every_place(write: Write, homes: dict[str, str]) -> None:
    assert load(write('model = "named"'), environ=homes).config.model == "named"


def test_places_are_tried_in_their_order_and_only_one_is_read(homes: dict[str, str]) -> None:
    seen = []
    for name in ("GREENROOM_HOME", "XDG_CONFIG_HOME", "CODEX_HOME"):
        loaded = load(environ=homes)
        seen.append((loaded.config.model, loaded.file.is_codex_file))
        assert loaded.file.path is not None
        Path(loaded.file.path).unlink()
        assert Path(loaded.file.path).is_relative_to(homes[name])
    assert seen == [("g", False), ("x", False), ("c", True)]
    assert load(environ=homes) == LoadedConfig(Config())


def test_the_configuration_of_a_conversation_is_made_once_for_the_same_overrides() -> None:
    loaded = LoadedConfig(Config())
    first = loaded.with_overrides({"model": "a"})
    assert loaded.with_overrides({"model": "a"}) is first
    assert loaded.with_overrides({"model": "b"}).config.model == "b"
    assert [
        loaded.with_overrides({"hide_agent_reasoning": value}).config.hide_agent_reasoning for value in (True, False)
    ] == [
        True,
        False,
    ]
    for number in range(3 * MOST_LAYERED):
        loaded.with_overrides({"model": f"{number}"})
    assert len(loaded._by_overrides) <= MOST_LAYERED
    assert loaded.with_overrides({"model": "a"}).config.model == "a"


def test_a_table_of_defaults_is_shared_by_all_configurations() -> None:
    assert Config().greenroom.limits is Config().greenroom.limits


def test_codex_is_looked_for_in_the_home_when_it_names_no_place(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text('model = "o3"')
    assert load(environ={"HOME": str(tmp_path)}).config.model == "o3"


def test_a_place_that_can_not_be_entered_is_an_error_and_not_a_missing_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match=r"config\.toml: can't be read: Is a directory"):
        load(environ={"GREENROOM_HOME": str(tmp_path), "HOME": str(tmp_path)})


def test_a_name_that_no_file_can_have_is_an_error_too() -> None:
    with pytest.raises(ConfigError, match="can't be read: File name too long"):
        load(environ={"GREENROOM_HOME": "/" + "x" * 300, "HOME": "/"})


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    assert "can't be read: No such file" in refusal(str(tmp_path / "nothing.toml")).message


def test_a_relative_home_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="GREENROOM_HOME must be an absolute path"):
        load(environ={"GREENROOM_HOME": "here"})


LAYERS = """
    model = "from the file"
    approval_policy = "never"
    sandbox_mode = "workspace-write"
    model_reasoning_effort = "low"
    profile = "everyday"
    [profiles.everyday]
    model = "from the profile"
    model_reasoning_effort = "high"
    [profiles.careful]
    approval_policy = "untrusted"
    sandbox_mode = "read-only"
"""


def test_the_profile_goes_before_the_file_and_leaves_what_it_does_not_say(write: Write) -> None:
    config = load(write(LAYERS)).config
    assert (config.model, config.model_reasoning_effort) == ("from the profile", "high")
    assert config.approval_policy is ApprovalPolicy.NEVER
    assert config.profile == "everyday"


def test_overrides_go_before_the_profile(write: Write) -> None:
    config = load(write(LAYERS), parse_overrides(["model=mine"])).config
    assert (config.model, config.model_reasoning_effort) == ("mine", "high")


def test_an_override_can_change_and_select_a_profile(write: Write) -> None:
    overrides = parse_overrides(["profile=careful", "profiles.careful.model=other"])
    config = load(write(LAYERS), overrides).config
    assert (config.profile, config.model, config.model_reasoning_effort) == ("careful", "other", "low")


def test_the_profile_that_is_asked_for_goes_before_the_one_in_overrides_and_file(write: Write) -> None:
    config = load(write(LAYERS), parse_overrides(["profile=everyday"]), profile="careful").config
    assert (config.profile, config.model) == ("careful", "from the file")
    assert config.approval_policy is ApprovalPolicy.UNTRUSTED
    assert config.sandbox_mode is SandboxMode.READ_ONLY


def test_an_empty_string_unsets_what_has_no_default(write: Write) -> None:
    config = load(write(LAYERS), overrides_from_json({"profile": None, "model": None})).config
    assert (config.profile, config.model) == (None, None)


def test_a_conversation_lays_its_overrides_over_those_of_the_program(write: Write) -> None:
    daemon = load(write(LAYERS), parse_overrides(["model=daemon", "hide_agent_reasoning=true"]))
    one = daemon.with_overrides(overrides_from_json({"model": "one"}), profile="careful")
    assert (one.config.model, one.config.hide_agent_reasoning, one.config.profile) == ("one", True, "careful")
    assert (daemon.config.model, daemon.config.profile) == ("daemon", "everyday")
    assert daemon.with_overrides({}) is daemon


def test_a_profile_that_is_asked_for_and_missing_is_refused_in_the_words_clients_know(write: Write) -> None:
    for overrides, profile in (({}, "x"), ({"profile": "x"}, None)):
        with pytest.raises(ConfigError) as caught:
            load(write(LAYERS), overrides, profile)
        assert caught.value.message == "config profile `x` not found"
        assert caught.value.details["known"] == ["everyday", "careful"]


def test_a_provider_that_is_asked_for_and_missing_is_refused_in_the_words_clients_know() -> None:
    with pytest.raises(ConfigError) as caught:
        layer(ConfigFile(), {"model_provider": "x"})
    assert caught.value.message == "Model provider `x` not found"


def test_a_profile_and_a_provider_that_our_file_lacks_are_shown_where_they_are_named(write: Write) -> None:
    path = write('\nprofile = "x"\n[profiles.y]')
    assert refusal(path).message == f"{path}:2: `profile`: config profile `x` not found; expected one of y"
    path = write('\n\nmodel_provider = "x"')
    names = ", ".join(BUILT_IN_PROVIDERS)
    expected = f"{path}:3: `model_provider`: Model provider `x` not found; expected one of {names}"
    assert refusal(path).message == expected
    path = write('profile = "p"\n[profiles.p]\nmodel_provider = "x"\n[model_providers.y]')
    assert refusal(path).message.startswith(f"{path}:3: `profiles.p.model_provider`: Model provider `x` not found")


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a = 1\nb = ", ":2", "not TOML: Invalid value"),
        ("a = [1", ":1", "not TOML: Unclosed array"),
        ("a = 1\n\na = 2", ":3", "not TOML: Cannot overwrite a value"),
        (f"a = {'9' * 5000}", "", "Exceeds the limit"),
        ("a = " + "[" * 20_000, "", "nested too deeply"),
    ],
)
@pytest.mark.parametrize("shared", [False, True])
def test_invalid_toml_in_any_file_is_an_error_with_its_line(
    write: Write, text: str, where: str, what: str, shared: bool
) -> None:
    path = write(text)
    with pytest.raises(ConfigError) as caught:
        read_file(path, shared)
    assert caught.value.message.startswith(f"{path}{where}: {what}")


def test_bytes_that_are_no_text_are_an_error_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'model = "a"\n# \xff\n')
    assert refusal(str(path)).message == f"{path}:2: not UTF-8"


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'\xef\xbb\xbfmodel = "a"\n')
    assert load(str(path)).config.model == "a"


def test_an_endless_file_is_not_read_to_its_end() -> None:
    assert "larger than" in refusal("/dev/zero").message


CODEX = """
    model = "o3"
    model_provider = "azure"
    approval_policy = "granular"
    model_reasoning_effort = "xhigh"
    notify = ["say", 5]
    sandbox_workspace_write = "everything"
    profiles = { p = 5, q = { model = 6 } }
    [tui]
    theme = "dark"
    [projects."/work"]
    trust_level = "trusted"
    [mcp_servers.x]
    command = "y"
    [model_providers.azure]
    base_url = "https://azure.example/v1"
    wire_api = "websocket"
    request_max_retries = 1000
    [model_providers.demo]
    name = "theirs"
    [greenroom]
    idle_park_seconds = 1
"""


def test_a_codex_user_is_not_locked_out_by_what_only_codex_understands(write: Write) -> None:
    path = write(CODEX)
    loaded = layer(read_file(path, shared=True), {})
    config = loaded.config
    assert (config.model, config.model_provider) == ("o3", "azure")
    assert config.approval_policy is ApprovalPolicy.ON_REQUEST
    assert config.model_providers["azure"].base_url == "https://azure.example/v1"
    assert (list(config.model_providers), config.notify) == (["azure"], ())
    assert config.greenroom == Config().greenroom
    keys = [warning.split("`")[1] for warning in loaded.warnings]
    assert keys == [
        "approval_policy",
        "model_reasoning_effort",
        "notify",
        "sandbox_workspace_write",
        "profiles.p",
        "profiles.q.model",
        "model_providers.azure.wire_api",
        "model_providers.azure.request_max_retries",
        "model_providers.demo",
        "greenroom",
    ]
    assert loaded.warnings[0].startswith(f"{path}:4: `approval_policy`: expected one of untrusted, ")


def test_a_missing_profile_or_provider_of_codex_is_a_warning_until_it_is_needed(write: Write) -> None:
    path = write('profile = "x"\nmodel_provider = "y"')
    loaded = layer(read_file(path, shared=True), {})
    assert [warning.split(";")[0] for warning in loaded.warnings] == [
        f"{path}:1: `profile`: config profile `x` not found",
        f"{path}:2: `model_provider`: Model provider `y` not found",
    ]
    assert (loaded.config.profile, loaded.config.model_provider) == (None, "y")


def test_an_environment_policy_of_codex_that_we_misunderstand_gives_no_secret_away(write: Write) -> None:
    file = read_file(write('[shell_environment_policy]\ninclude_only = "PATH"\ninherit = "all"'), shared=True)
    assert layer(file, {}).config.shell_environment_policy.inherit is Inherit.CORE
    assert "shell_environment_policy" in file.warnings[0]


NAMES = ["model", "model_provider", "profile", "profiles", "x", "greenroom", "limits", "notify", "", "ü", "\ud800"]
NAMES += ["sandbox_workspace_write", "writable_roots", "shell_environment_policy", "set", "model_providers", "openai"]
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["~nobody/x", "", "\ud800", "a\0b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map(".".join) | st.text(max_size=9), json_values
    ),
    st.none() | st.sampled_from(NAMES),
    st.booleans(),
)
def test_no_override_whatever_gets_anything_but_a_configuration_or_its_error(
    members: dict[str, object], profile: str | None, shared: bool
) -> None:
    file = ConfigFile("/c.toml", "", {"profiles": {"x": {"model": "m"}}}, shared)
    try:
        said = layer(file, overrides_from_json(members), profile).warnings
    except ConfigError as error:
        said = (error.message,)
    assert all(text.encode() for text in said)  # can be written anywhere


toml_words = st.sampled_from(
    [
        *NAMES[:8],
        *'=[]{}."\n,',
        "\n[",
        "]\n",
        " = ",
        '"a"',
        "1",
        "true",
        "-1",
        "nan",
        "{}",
        "[]",
        "never",
        "1979-05-27",
    ]
)


@given(st.lists(toml_words, max_size=30).map("".join).map(str.encode) | st.binary(max_size=40), st.booleans())
def test_no_file_whatever_gets_anything_but_a_configuration_or_its_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, shared: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    path.write_bytes(data)
    said = str(path)
    try:
        layer(read_file(str(path), shared), {})
    except ConfigError as error:
        said = error.message
    assert str(path) in said
