"""The programs behind a command's names without a sandbox, on a real disk with a search path of the test's own."""

from pathlib import Path

import pytest

from actors.vocabulary.settings import DangerFullAccess, ReadOnly, SandboxPolicy, WorkspaceWrite
from supervisor.work.safety.program_names import are_system_programs

SYSTEM = "/usr/local/bin:/usr/bin:/bin"
LS, SCRIPT = ("ls",), ("bash", "-lc", "cd sub && ls | head")
CLOSED = WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True)


def plain(argv: tuple[str, ...], cwd: Path, policy: SandboxPolicy = CLOSED, path: str = SYSTEM, **env: str) -> bool:
    return are_system_programs(argv, {"HOME": "/nowhere", "PATH": path, **env}, policy, cwd)


@pytest.mark.parametrize("argv", [LS, SCRIPT, ("grep", "-rn", "x"), ("find",)])
@pytest.mark.parametrize("policy", [DangerFullAccess(), ReadOnly(), CLOSED])
def test_programs_of_the_system_are_plainly_named(
    tmp_path: Path, argv: tuple[str, ...], policy: SandboxPolicy
) -> None:
    assert plain(argv, tmp_path, policy)


@pytest.mark.parametrize("argv", [("make",), (), ("./ls",), ("git", "push"), ("ls-that-is-not-there",)])
def test_a_program_not_known_to_only_read_is_not_safe(tmp_path: Path, argv: tuple[str, ...]) -> None:
    assert not plain(argv, tmp_path)


@pytest.mark.parametrize("path", [f":{SYSTEM}", f".:{SYSTEM}", f"bin:{SYSTEM}", f"/x::{SYSTEM}", "", "~/bin"])
def test_a_search_path_with_a_relative_entry_before_the_program_is_not_believed(tmp_path: Path, path: str) -> None:
    assert not plain(LS, tmp_path, path=path)
    assert not plain(SCRIPT, tmp_path, path=path)


@pytest.mark.parametrize("name", ["ls", "head", "bash"])
def test_a_program_of_the_same_name_in_the_project_is_not_the_systems(tmp_path: Path, name: str) -> None:
    (tmp_path / "bin").mkdir()
    path = f"{tmp_path}/bin:{SYSTEM}"
    assert plain(SCRIPT, tmp_path, path=path)
    (tmp_path / "bin" / name).symlink_to("nothing-yet")
    assert not plain(SCRIPT, tmp_path, path=path)


def test_builtins_of_the_shell_are_looked_for_nowhere(tmp_path: Path) -> None:
    (tmp_path / "cd").touch()
    assert plain(SCRIPT, tmp_path, path=f"{tmp_path}:{SYSTEM}")
    assert not plain(("cd", "sub"), tmp_path, path=f"{tmp_path}:{SYSTEM}")


@pytest.mark.parametrize(
    "name",
    [
        *("BASH_ENV", "ENV", "SHELLOPTS", "BASH_FUNC_ls%%", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"),
        *("GCONV_PATH", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH"),
    ],
)
def test_a_variable_that_makes_them_start_or_load_something_is_not_believed(tmp_path: Path, name: str) -> None:
    assert not are_system_programs(LS, {"PATH": SYSTEM, name: "x"}, CLOSED, tmp_path)


def test_a_system_directory_that_patches_may_write_to_is_none() -> None:
    assert not plain(LS, Path("/"))
    assert not plain(LS, Path("/srv"), WorkspaceWrite(writable_roots=(Path("/usr"),)))
    assert plain(LS, Path("/"), ReadOnly())


def test_a_home_that_patches_may_write_to_makes_the_login_shell_anybodys(tmp_path: Path) -> None:
    assert not plain(SCRIPT, tmp_path, HOME=str(tmp_path))
    assert plain(LS, tmp_path, HOME=str(tmp_path))
    assert plain(SCRIPT, tmp_path, ReadOnly(), HOME=str(tmp_path))
