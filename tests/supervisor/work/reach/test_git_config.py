"""git's configuration is read as git itself reads it, and what it can start is not known to be harmless."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supervisor.work.reach import git_config
from supervisor.work.reach.git_config import GitSetting, paths_in, settings_from_variables

ENV = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
PLAIN = r"""
[core]|[Core "a b"]|[filter.x]|[core] bare|[core]x=1|[a "q\"\\"]|[a|]|[a ]|fsmonitor = x|  FSMonitor="a # b" ; c
hooksPath = a\|  b \|# c \|; [core] \|x|k = a\tb\n\\|k = "a|k = a"b"c  d  |k=|k = \x|1 = x|k-1 = x|k.1 = y|k = ""
k = a;b|k = a\;b|[include] path = f # \|k = "a\||k = a \|"""
LINES = st.sampled_from([*re.split("[|\n]", PLAIN), "k =a\r", "\v", "\ufeff[core]", "\t[x]\tk\t=\t1\t"])


def as_git_reads(text: str, folder: Path) -> list[tuple[str, str]] | None:
    (folder / "config").write_bytes(text.encode())
    argv = ("git", "config", "-z", "--list", "--no-includes", "-f", str(folder / "config"))
    done = subprocess.run(argv, env=ENV, capture_output=True, check=False)
    if done.returncode:
        return None
    entries = done.stdout.decode().split("\0")[:-1]
    return [(name, value) for name, _, value in (entry.partition("\n") for entry in entries)]


def unify(read: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Older git makes a space of each blank in a value, newer keeps it."""
    return [(name, value.translate({9: " ", 13: " "})) for name, value in read]


def check(text: str, folder: Path) -> None:
    """An error is the only difference that may be: git starts nothing then."""
    theirs = as_git_reads(text, folder)
    if theirs is not None:
        ours = [(one.name, one.value) for one in git_config.parse_settings(text.removeprefix("\ufeff"))]
        assert unify(ours) == unify(theirs)


def test_a_configuration_is_read_as_git_reads_it(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("config")

    @settings(max_examples=60)
    @given(st.lists(LINES, max_size=7).map("\n".join))
    def read(text: str) -> None:
        check(text, folder)

    read()


@pytest.mark.soak(takes_s=100)
@pytest.mark.timeout(600)
def test_many_configurations_are_read_as_git_reads_them(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("config")

    @settings(max_examples=4_000, deadline=None)
    @given(st.lists(LINES | st.text('[]"\\#;=. \t\r\naA1-', max_size=12), max_size=9).map("\n".join))
    def read(text: str) -> None:
        check(text, folder)

    read()


@pytest.mark.parametrize(
    "setting",
    [
        *(GitSetting("core", "", key, "x") for key in ("fsmonitor", "hookspath", "sshcommand", "worktree")),
        *(GitSetting("filter", "x", key, "x") for key in ("clean", "smudge", "process")),
        *(
            GitSetting("diff", "x", "textconv", "x"),
            GitSetting("merge", "x", "driver", "x"),
            GitSetting("gpg", "", "program", "x"),
        ),
        *(GitSetting("remote", "o", "url", "ext::sh -c x"), GitSetting("remote", "o", "uploadpack", "x")),
        *(GitSetting("submodule", "s", "update", "!x"), GitSetting("credential", "", "helper", "x")),
        *(
            GitSetting("include", "", "path", "x"),
            GitSetting("alias", "", "x", "!x"),
            GitSetting("new", "", "thing", "x"),
        ),
        *(GitSetting("branch", "m", "mergeoptions", "-s x"), GitSetting("init", "", "templatedir", "x")),
    ],
)
def test_settings_that_can_start_a_program_are_not_harmless(setting: GitSetting) -> None:
    assert not setting.is_harmless


def test_settings_that_git_writes_into_a_clone_are_harmless(tmp_path: Path) -> None:
    for words in (("init", "-q", "a"), ("-C", "a", "config", "user.name", "x"), ("clone", "-q", "a", "b")):
        subprocess.run(("git", *words), cwd=tmp_path, env=ENV, check=True, capture_output=True)
    for name in "ab":
        found = list(git_config.parse_settings((tmp_path / name / ".git/config").read_text()))
        assert found
        assert all(one.is_harmless for one in found)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("./watch", "./watch"),
        ("sh tools/watch --fast", "tools/watch"),
        ("!sh -c 'exec tools/x \"$@\"' -", "tools/x"),
        ("FOO=1 tools/x|cat", "tools/x"),
        ("node --import=./hook.mjs x", "./hook.mjs"),
        ('"$(git rev-parse --show-toplevel)/a b"', "/top/a b"),
        ("${PWD}/x", "/top/x"),
        ("$HOME/bin/x", "/home/bin/x"),
        ("tools/x 'unbalanced", "tools/x"),
    ],
)
def test_paths_are_found_in_the_lines_that_git_gives_to_a_shell(line: str, path: str) -> None:
    assert path in set(paths_in(line, "/top", "/home"))


@pytest.mark.parametrize(
    "spelling", ["'core.fsmonitor=a b'", "'core.fsmonitor'='a b'", "'x.y' 'core.fsmonitor'='a b'"]
)
def test_settings_in_variables_are_read(spelling: str) -> None:
    assert GitSetting("core", "", "fsmonitor", "a b") in set(
        settings_from_variables({"GIT_CONFIG_PARAMETERS": spelling})
    )
