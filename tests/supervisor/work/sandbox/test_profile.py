"""The macOS profile as text, and the message where no sandbox works."""

import shutil
from pathlib import Path

import pytest

from supervisor.work.sandbox.bubblewrap import Bubblewrap
from supervisor.work.sandbox.order import Order
from supervisor.work.sandbox.roots import Root, Roots
from supervisor.work.sandbox.seatbelt import Seatbelt, profile
from supervisor.work.sandbox.seccomp import filter_program

NASTY = Path('/tmp/a"b) (allow default) \\x')


def test_a_path_is_a_parameter_and_never_text_of_the_profile() -> None:
    roots = Roots(writable=(Root(NASTY, -1),))
    with Seatbelt().confine(Order(roots, Path("/w"), ("ls", "-l"), {}, network=False)) as inside:
        runs, define, defined, flag, text, *rest = inside.argv
    assert (runs, define, defined, flag, rest) == (
        "/usr/bin/sandbox-exec",
        "-D",
        f"WRITABLE_0={NASTY}",
        "-p",
        ["--", "ls", "-l"],
    )
    assert '(allow file-write* (subpath (param "WRITABLE_0")))' in text
    assert 'a"b' not in text


def test_closing_rules_come_after_opening_ones_for_the_last_rule_wins() -> None:
    text = profile(["READ_ONLY_0", "HIDDEN_0", "WRITABLE_0", "WRITABLE_1"], network=False)
    writable, closed, hidden = (text.index(f'"{name}_0"') for name in ("WRITABLE", "READ_ONLY", "HIDDEN"))
    assert text.index("(deny file-write*)") < writable < text.index('"WRITABLE_1"') < closed < hidden
    assert "(deny network*)" in text


def test_with_the_network_on_unix_sockets_stay_shut_but_for_those_named() -> None:
    text = profile(["SOCKET_0"], network=True)
    assert "(deny network*)" not in text
    shut = text.index("(deny network-outbound (remote unix-socket))")
    assert shut < text.index('(allow network-outbound (remote unix-socket (path-literal (param "SOCKET_0"))))')


def test_a_missing_path_is_closed_without_being_made_and_its_parents_stay() -> None:
    roots = Roots((Root(Path("/w"), -1),), closed=(Path("/w/.git"), Path("/w/a/us")), hidden=(Path("/run/us"),))
    with Seatbelt().confine(Order(roots, Path("/w"), ("ls",), {"A": "b"}, network=True)) as inside:
        assert "READ_ONLY_0=/w/.git" in inside.argv
        assert "READ_ONLY_1=/w/a/us" in inside.argv
        assert "ANCHOR_0=/w/a" in inside.argv
        assert "HIDDEN_0=/run/us" in inside.argv
        assert (inside.keeper, inside.env) == (False, {"A": "b"})


def test_brackets_balance() -> None:
    text = profile(["WRITABLE_0", "ANCHOR_0", "READ_ONLY_0", "HIDDEN_0", "SOCKET_0"], network=False)
    assert text.count("(") == text.count(")")


def test_without_sandbox_exec_the_reason_is_given() -> None:
    if shutil.which("sandbox-exec"):
        pytest.skip("this is a Mac")
    answer = Seatbelt().probe()
    assert (answer.ok, "sandbox-exec" in answer.reason) == (False, True)


def test_without_bubblewrap_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    answer = Bubblewrap(search=()).probe()
    assert (answer.ok, "apt install bubblewrap" in answer.how_to_get) == (False, True)


def test_the_systems_bubblewrap_goes_before_one_that_a_project_has_put_on_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("system", "project"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "bwrap").write_text(f"#!/bin/sh\necho {folder} >&2; exit 1\n")
        (tmp_path / folder / "bwrap").chmod(0o755)
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("PATH", f"{tmp_path}/project::.:/usr/bin")
    assert Bubblewrap(search=(str(tmp_path / "system"),)).probe().reason == "system"


def test_a_bubblewrap_of_the_current_directory_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bwrap").write_text("#!/bin/sh\n")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ":.:relative")
    assert Bubblewrap(search=()).probe().reason == "bwrap is not installed"


def test_a_bubblewrap_that_may_not_work_is_found_out_by_trying(tmp_path: Path) -> None:
    tool = tmp_path / "bwrap"
    tool.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    tool.chmod(0o755)
    answer = Bubblewrap(search=(str(tmp_path),)).probe()
    assert answer.reason == "bwrap: No permissions to create new namespace"
    assert "unprivileged_userns_clone" in answer.how_to_get


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
@pytest.mark.parametrize("opened", [False, True])
def test_every_jump_of_the_filter_stays_in_the_filter(machine: str, *, opened: bool) -> None:
    written = filter_program(machine, unix_sockets=opened)
    assert written is not None
    steps = [written[at : at + 8] for at in range(0, len(written), 8)]
    for number, step in enumerate(steps):
        if step[0] in {0x15, 0x35, 0x45}:
            assert number + 1 + max(step[2], step[3]) < len(steps)
    assert steps[-1][0] == 0x06


def test_there_is_no_filter_for_a_processor_that_we_do_not_know() -> None:
    assert filter_program("riscv64") is None
