"""The macOS profile as text, and what is said where no sandbox works."""

import shutil
from pathlib import Path

import pytest

from supervisor.agent.sandbox.bubblewrap import Bubblewrap
from supervisor.agent.sandbox.roots import Roots
from supervisor.agent.sandbox.seatbelt import Seatbelt, profile
from supervisor.agent.sandbox.seccomp import no_outside_sockets

NASTY = Path('/tmp/a"b) (allow default) \\x')


def test_a_path_is_a_parameter_and_never_text_of_the_profile() -> None:
    with Seatbelt((), ()).confine(Roots(writable=(NASTY,)), Path("/w"), ("ls", "-l"), network=False) as inside:
        program, define, defined, flag, text, *rest = inside.argv
    assert (program, define, defined, flag, rest) == (
        "/usr/bin/sandbox-exec",
        "-D",
        f"WRITABLE_0={NASTY}",
        "-p",
        ["--", "ls", "-l"],
    )
    assert '(allow file-write* (subpath (param "WRITABLE_0")))' in text
    assert 'a"b' not in text


def test_what_is_closed_comes_after_what_is_open_for_the_last_rule_wins() -> None:
    text = profile(["READ_ONLY_0", "HIDDEN_0", "WRITABLE_0", "WRITABLE_1"], network=False)
    writable, closed, hidden = (text.index(f'"{name}_0"') for name in ("WRITABLE", "READ_ONLY", "HIDDEN"))
    assert text.index("(deny file-write*)") < writable < text.index('"WRITABLE_1"') < closed < hidden
    assert "(deny network*)" in text


def test_the_network_is_only_denied_where_the_policy_says_so() -> None:
    assert "network" not in profile([], network=True)


def test_a_missing_git_directory_is_closed_without_being_made() -> None:
    roots = Roots(writable=(Path("/w"),), absent=(Path("/w/.git"),))
    with Seatbelt((Path("/home/us"),), (Path("/run/us"),)).confine(
        roots, Path("/w"), ("ls",), network=True
    ) as inside:
        assert "READ_ONLY_0=/w/.git" in inside.argv
        assert "READ_ONLY_1=/home/us" in inside.argv
        assert "HIDDEN_0=/run/us" in inside.argv
        assert not inside.keeper


def test_brackets_balance() -> None:
    text = profile(["WRITABLE_0", "READ_ONLY_0", "HIDDEN_0"], network=False)
    assert text.count("(") == text.count(")")


def test_without_sandbox_exec_the_reason_is_given() -> None:
    if shutil.which("sandbox-exec"):
        pytest.skip("this is a Mac")
    answer = Seatbelt((), ()).probe()
    assert (answer.ok, "sandbox-exec" in answer.reason) == (False, True)


def test_without_bubblewrap_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    answer = Bubblewrap((), ()).probe()
    assert (answer.ok, "apt install bubblewrap" in answer.how_to_get) == (False, True)


def test_a_bubblewrap_that_may_not_work_is_found_out_by_trying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    answer = Bubblewrap((), ()).probe()
    assert answer.reason == "bwrap: No permissions to create new namespace"
    assert "unprivileged_userns_clone" in answer.how_to_get


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_every_jump_of_the_filter_stays_in_the_filter(machine: str) -> None:
    program = no_outside_sockets(machine)
    assert program is not None
    steps = [program[at : at + 8] for at in range(0, len(program), 8)]
    for number, step in enumerate(steps):
        if step[0] in {0x15, 0x35}:
            assert number + 1 + max(step[2], step[3]) < len(steps)
    assert steps[-1][0] == 0x06


def test_there_is_no_filter_for_a_processor_that_we_do_not_know() -> None:
    assert no_outside_sockets("riscv64") is None
