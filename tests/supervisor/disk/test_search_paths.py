"""Programs that are run outside of the sandbox take no code from directories where commands may write."""

from pathlib import Path

import pytest

from supervisor.disk.search_paths import drop_writable_entries

PROJECT = Path("/home/me/project")


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("PATH", "/home/me/project/.venv/bin:/usr/bin:/bin", "/usr/bin:/bin"),
        ("PATH", "/usr/bin::.:bin:/home/me/projects/bin", "/usr/bin:/home/me/projects/bin"),
        ("PATH", "/home/me/../me/project/bin:/usr/bin", "/usr/bin"),
        ("LD_LIBRARY_PATH", ":/opt/x/lib", "/opt/x/lib"),
        ("LD_LIBRARY_PATH", "", None),
        ("LD_PRELOAD", "/home/me/project/evil.so /usr/lib/fine.so", "/usr/lib/fine.so"),
        ("PERL5LIB", "/home/me/project/lib:/usr/share/perl5", "/usr/share/perl5"),
        ("NODE_PATH", "node_modules", None),
        ("BASH_ENV", "/home/me/project/.env", None),
        ("BASH_ENV", "./env", None),
        ("PYTHONSTARTUP", "/home/me/start.py", "/home/me/start.py"),
        ("OTHER", ":/home/me/project", ":/home/me/project"),
    ],
)
def test_search_paths_keep_what_no_command_may_write(name: str, value: str, kept: str | None) -> None:
    assert drop_writable_entries({name: value, "A": "b"}, [PROJECT]).get(name) == kept


def test_a_root_that_is_everything_leaves_the_absolute_entries() -> None:
    assert drop_writable_entries({"PATH": "/usr/bin:."}, [Path("/")]) == {"PATH": "/usr/bin"}
