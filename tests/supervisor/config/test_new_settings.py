import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from actors.vocabulary.errors import ConfigError
from actors.vocabulary.settings import (
    ApprovalPolicy,
    DangerFullAccess,
    ReadOnly,
    ReasoningEffort,
    ReasoningSummary,
    SandboxMode,
    Settings,
    WorkspaceWrite,
)
from supervisor.config.new_settings import (
    INSTRUCTIONS_BYTES,
    Arguments,
    sandbox_policy,
    settings_for,
    working_directory,
)
from supervisor.config.whole_config import Config
from supervisor.disk.pins import pins_of

CONFIG = Config.model_validate(
    {
        "model": "m",
        "model_provider": "mine",
        "model_providers": {"mine": {"base_url": "http://127.0.0.1:1/v1"}},
        "approval_policy": "never",
        "sandbox_mode": "workspace-write",
        "sandbox_workspace_write": {
            "writable_roots": ["/a", "/b"],
            "network_access": True,
            "exclude_slash_tmp": True,
        },
        "model_reasoning_effort": "high",
        "model_reasoning_summary": "none",
    }
)


def test_without_arguments_the_settings_are_the_configuration(tmp_path: Path) -> None:
    roots = WorkspaceWrite(writable_roots=(Path("/a"), Path("/b")), network_access=True, exclude_slash_tmp=True)
    assert settings_for(CONFIG, Arguments(), tmp_path, {}) == Settings(
        model="m",
        provider="mine",
        cwd=tmp_path,
        approval_policy=ApprovalPolicy.NEVER,
        sandbox=roots,
        effort=ReasoningEffort.HIGH,
        summary=ReasoningSummary.NONE,
        include_plan_tool=True,
        include_apply_patch_tool=True,
    )


def test_roots_are_pinned_as_they_are_when_they_are_named_and_missing_ones_are_none(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    policy = WorkspaceWrite(writable_roots=(tmp_path / "missing",))
    pins = {pin.name: pin.path for pin in pins_of(policy, tmp_path / "link", tmp_path)}
    assert pins == {
        tmp_path / "link": tmp_path / "real",
        tmp_path / "missing": None,
        Path("/tmp"): Path("/tmp").resolve(),
        tmp_path: tmp_path,
    }


def test_every_argument_goes_before_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    arguments = Arguments(
        model="other",
        model_provider="oss",
        cwd="sub",
        approval_policy="untrusted",
        sandbox="danger-full-access",
        base_instructions="Be brief.",
        include_plan_tool=True,
        include_apply_patch_tool=True,
    )
    settings = settings_for(CONFIG, arguments, tmp_path, {})
    assert (settings.model, settings.provider, settings.cwd) == ("other", "oss", tmp_path / "sub")
    assert (settings.approval_policy, settings.sandbox) == (ApprovalPolicy.UNTRUSTED, DangerFullAccess())
    assert (settings.base_instructions, settings.include_plan_tool) == ("Be brief.", True)
    assert settings.include_apply_patch_tool


@pytest.mark.parametrize(
    ("environ", "provider", "model"),
    [({}, "demo", "demo"), ({"OPENAI_API_KEY": "k"}, "openai", "gpt-5")],
)
def test_a_model_that_nobody_named_is_the_providers_own(
    tmp_path: Path, environ: dict[str, str], provider: str, model: str
) -> None:
    settings = settings_for(Config(), Arguments(), tmp_path, environ)
    assert (settings.provider, settings.model) == (provider, model)
    assert settings_for(Config(), Arguments(model_provider="oss"), tmp_path, environ).model == "gpt-oss:20b"


def test_each_sandbox_mode_becomes_its_policy() -> None:
    assert sandbox_policy(SandboxMode.READ_ONLY, CONFIG) == ReadOnly()
    assert sandbox_policy(SandboxMode.DANGER_FULL_ACCESS, CONFIG) == DangerFullAccess()
    assert sandbox_policy(SandboxMode.WORKSPACE_WRITE, Config()) == WorkspaceWrite()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            Arguments(sandbox="off"),
            "sandbox: expected one of read-only, workspace-write, danger-full-access, found 'off'",
        ),
        (Arguments(approval_policy="x"), "approval policy: expected one of untrusted, on-failure, on-request, never"),
        (Arguments(model_provider="x"), "Model provider `x` not found"),
    ],
)
def test_an_argument_that_is_none_of_the_choices_is_refused(tmp_path: Path, arguments: Arguments, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        settings_for(CONFIG, arguments, tmp_path, {})
    assert caught.value.message.startswith(said)


def test_a_relative_directory_means_the_clients(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert working_directory("a/./b", tmp_path) == tmp_path / "a" / "b"
    assert working_directory("..", tmp_path / "a") == tmp_path.resolve()
    assert working_directory("", tmp_path) == working_directory(None, tmp_path) == tmp_path
    assert working_directory(str(tmp_path / "a"), Path("/")) == tmp_path / "a"


def test_a_link_keeps_its_name_unless_it_has_to_be_followed(tmp_path: Path) -> None:
    (tmp_path / "real" / "inside").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real" / "inside")
    assert working_directory("link", tmp_path) == tmp_path / "link"
    assert working_directory("link/..", tmp_path) == (tmp_path / "real").resolve()


def test_a_directory_that_can_not_be_used_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    for name, said in (
        ("file", "is not a directory"),
        ("file/x", "can't be used: Not a directory"),
        ("loop", "can't be used"),
        ("loop/..", "can't be used"),
        ("a\0b", "can't be used"),
        ("x" * 5000, "can't be used: File name too long"),
        ("\ud800", "can't be used"),
    ):
        with pytest.raises(ConfigError, match=f"^working directory '.*' {said}") as caught:
            working_directory(name, tmp_path)
        assert caught.value.message.encode()


def test_a_directory_that_does_not_exist_is_accepted_by_its_name(tmp_path: Path) -> None:
    assert working_directory("gone", tmp_path) == tmp_path / "gone"
    assert working_directory("/repo", tmp_path) == Path("/repo")
    assert working_directory("gone/../there", tmp_path) == tmp_path.resolve() / "there"
    assert settings_for(CONFIG, Arguments(cwd="gone"), tmp_path, {}).cwd == tmp_path / "gone"


def test_a_relative_directory_of_nowhere_is_refused() -> None:
    with pytest.raises(ConfigError, match="is relative, but the directory"):
        working_directory("a", Path("b"))


def test_instructions_come_from_the_argument_or_the_file(tmp_path: Path) -> None:
    (tmp_path / "be.md").write_text("  Be brief.\n")
    config = CONFIG.model_copy(update={"experimental_instructions_file": "be.md"})
    assert settings_for(config, Arguments(), tmp_path, {}).base_instructions == "Be brief."
    said = replace(Arguments(), base_instructions="")
    assert settings_for(config, said, tmp_path, {}).base_instructions == ""


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("gone", None, "can't be read: there is no gone"),
        ("~nobody-of-this-name/x", None, "can't be read"),
        ("be.md", b"\xff", "can't be read: not UTF-8"),
        ("be.md", b" \n", "is empty"),
        ("be.md", b"x" * (INSTRUCTIONS_BYTES + 1), "is larger than"),
    ],
)
def test_instructions_that_can_not_be_read_are_refused(
    tmp_path: Path, name: str, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    config = CONFIG.model_copy(update={"experimental_instructions_file": name})
    with pytest.raises(ConfigError, match=f"^instructions file '{name}' {said}"):
        settings_for(config, Arguments(), tmp_path, {})


@pytest.mark.parametrize(
    ("name", "leads_to", "said"),
    [
        ("be.md", "../letter", "leads out of the project"),
        ("../letter", None, "leads out of the project"),
        ("be.md", "../home/state/keys.json", "belongs to Greenroom itself"),
        ("HOME/state/keys.json", None, "belongs to Greenroom itself"),
        ("/proc/self/environ", None, "is not on a disk"),
    ],
)
def test_instructions_are_no_file_of_ours_and_a_project_names_none_outside_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, leads_to: str | None, said: str
) -> None:
    work, home = tmp_path / "work", tmp_path / "home"
    monkeypatch.setenv("GREENROOM_HOME", str(home))
    work.mkdir()
    (home / "state").mkdir(parents=True)
    (tmp_path / "letter").write_text("private")
    (home / "state" / "keys.json").write_text("private")
    if leads_to:
        (work / name).symlink_to(leads_to)
    named = name.replace("HOME", str(home))
    config = CONFIG.model_copy(update={"experimental_instructions_file": named})
    with pytest.raises(ConfigError, match=said):
        settings_for(config, Arguments(), work, {})


def test_instructions_by_an_absolute_name_are_the_persons_own_and_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "kept").write_text("Be brief.")
    (tmp_path / "mine").symlink_to("kept")
    config = CONFIG.model_copy(update={"experimental_instructions_file": str(tmp_path / "mine")})
    assert settings_for(config, Arguments(), tmp_path / "work", {}).base_instructions == "Be brief."


@pytest.mark.skipif(os.getuid() == 0, reason="root may enter everything")
def test_a_directory_that_we_may_not_enter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shut").mkdir(mode=0)
    with pytest.raises(ConfigError, match="can't be used: Permission denied"):
        working_directory("shut/in", tmp_path)
