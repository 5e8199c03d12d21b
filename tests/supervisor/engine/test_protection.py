"""Everything that Greenroom believes, wherever the environment puts it."""

from pathlib import Path

from supervisor.config.load import load
from supervisor.engine.protection import protection
from supervisor.paths import locate


def test_every_file_that_configuration_could_be_read_from_is_protected(tmp_path: Path) -> None:
    environ = {
        "HOME": str(tmp_path),
        "GREENROOM_HOME": str(tmp_path / "home"),
        "CODEX_HOME": str(tmp_path / "codex"),
    }
    file = tmp_path / "other.toml"
    file.write_text(
        f"notify = ['{tmp_path}/bell', 'word']\nexperimental_instructions_file = 'prompt.md'\n"
        "[profiles.p]\nexperimental_instructions_file = '~nobody-of-this-name/x'\n",
        encoding="utf-8",
    )
    found = protection(load(str(file), environ=environ), locate(environ), environ)
    assert set(found.files) == {
        file,
        tmp_path / "home/config.toml",
        tmp_path / ".config/greenroom/config.toml",
        tmp_path / "codex/config.toml",
        tmp_path / ".codex/config.toml",
        tmp_path / "bell",
        Path("prompt.md"),
        Path("~nobody-of-this-name/x"),
    }
    ours = {tmp_path / "home", tmp_path / "home/state", tmp_path / "home/run"}
    assert ours | {tmp_path / ".local/state/greenroom"} <= set(found.closed)
    assert tmp_path / "home/state" in found.hidden  # whoever may read the journal can lock it


def test_files_believed_by_a_program_started_with_a_home_alone_are_protected(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), **{f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "STATE")}}
    found = protection(load(environ=environ), locate(environ), environ)
    assert tmp_path / ".config/greenroom/config.toml" in found.files
    assert tmp_path / ".local/state/greenroom" in found.closed


def test_the_folder_of_the_socket_is_hidden_wherever_the_socket_had_to_go(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "GREENROOM_HOME": str(tmp_path / ("long" * 40))}
    paths = locate(environ).listening_at(str(tmp_path / "elsewhere" / "greenroom.sock"))
    hidden = protection(load(environ=environ), paths, environ).hidden
    assert {tmp_path / "elsewhere", Path(paths.run)} <= set(hidden)


def test_a_program_on_the_search_path_that_leads_into_a_project_is_protected_there(tmp_path: Path) -> None:
    for name in ("bell", "server", "agent"):
        (tmp_path / name).touch(mode=0o755)
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).symlink_to(tmp_path / name)
    (tmp_path / "bin/plain").touch(mode=0o755)
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    file = tmp_path / "config.toml"
    tables = "".join(
        f"[{table}]\ncommand = '{name}'\n"
        for table, name in (
            ("mcp_servers.one", "server"),
            ("mcp_servers.two", "plain"),
            ("mcp_servers.three", "missing"),
            ("agents.x", "agent"),
        )
    )
    file.write_text(f"notify = ['bell']\n{tables}", encoding="utf-8")
    found = protection(load(str(file), environ=environ), locate(environ), environ).files
    assert {tmp_path / "bell", tmp_path / "server", tmp_path / "agent"} <= set(found)
    assert not {one.name for one in found} & {"plain", "missing"}
