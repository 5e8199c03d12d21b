"""Attempts to get out of the real sandbox."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from actors.vocabulary.settings import DangerFullAccess, ReadOnly, WorkspaceWrite
from supervisor.disk.pins import missing_roots, pins_of
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import Watched, alive, command, confined, limited, new_token
from tests.supervisor.work.place import CLOSED, SANDBOX, Place, git, on_linux

pytestmark = on_linux
NETWORK = CLOSED.model_copy(update={"network_access": True})


# --- writing -------------------------------------------------------------------------------------------------------


def test_everything_may_be_read_and_the_workspace_written(place: Place) -> None:
    did = place.run("sh", "-c", f"cat '{place.outside}/secret' > copy; echo $CODEX_SANDBOX_NETWORK_DISABLED; pwd")
    assert did.exit_code == 0
    assert (place.workspace / "copy").read_text() == "readable\n"
    assert did.stdout == f"1\n{place.workspace}\n"


def test_read_only_writes_nothing_but_devices(place: Place) -> None:
    script = "echo > /dev/null && touch /dev/shm/x && ! touch x && ! touch /tmp/x && ! touch ~/x"
    assert place.run("bash", "-c", script, policy=ReadOnly(), HOME=str(place.workspace)).exit_code == 0
    assert list(place.workspace.iterdir()) == []


@pytest.mark.parametrize("way", ["{}/new", "../outside/new", "link/new", "link-to-file"])
def test_a_path_outside_is_not_written_by_any_name(place: Place, way: str) -> None:
    (place.workspace / "link").symlink_to(place.outside)
    (place.workspace / "link-to-file").symlink_to(place.outside / "secret")
    did = place.run("sh", "-c", 'echo changed > "$0"', way.format(place.outside))
    assert did.exit_code != 0
    assert (place.outside / "secret").read_text() == "readable\n"
    assert not (place.outside / "new").exists()


def test_a_link_made_inside_leads_nowhere_either(place: Place) -> None:
    did = place.run("sh", "-c", f"ln -s '{place.outside}' out; ln '{place.outside}/secret' hard; echo > out/new")
    assert did.exit_code != 0
    assert not (place.outside / "new").exists()
    assert not (place.workspace / "hard").exists()


def test_mounts_cannot_be_undone_from_inside(place: Place) -> None:
    """Root keeps no right inside, and a namespace made inside gives none back."""
    script = (
        "mount -o remount,rw,bind /; umount /proc; unshare -Um mount -o remount,rw,bind /; "
        f"nsenter -t 1 -m true; touch '{place.outside}/new' || echo safe; grep CapEff /proc/self/status"
    )
    did = place.run("sh", "-c", script)
    assert did.stdout.split() == ["safe", "CapEff:", "0000000000000000"]


def test_the_hosts_kernel_settings_are_out_of_reach(place: Place) -> None:
    did = place.run(
        "sh", "-c", "for f in sys/kernel/hostname self/oom_score_adj; do : >> /proc/$f && echo open; done; true"
    )
    assert did.stdout == ""


def test_further_roots_are_writable_and_missing_ones_left_out_with_a_notice(place: Place) -> None:
    other = place.outside / "root"
    other.mkdir()
    policy = CLOSED.model_copy(update={"writable_roots": (other, place.outside / "missing")})
    assert place.run("touch", f"{other}/x", policy=policy).exit_code == 0
    (said,) = missing_roots(pins_of(policy, place.workspace, None), policy, place.workspace)
    assert said.startswith(f"writable root left out, there is no such directory: {place.outside / 'missing'}")


def test_a_linked_workspace_is_the_real_one(place: Place) -> None:
    (place.outside / "link").symlink_to(place.workspace)
    assert place.run("touch", "x", cwd=place.outside / "link").exit_code == 0
    assert (place.workspace / "x").exists()


def test_a_linked_root_opens_what_it_means(place: Place) -> None:
    real = place.outside / "real"
    real.mkdir()
    (place.outside / "linked-root").symlink_to(real)
    policy = CLOSED.model_copy(update={"writable_roots": (place.outside / "linked-root",)})
    assert place.run("touch", str(place.outside / "linked-root/x"), policy=policy).exit_code == 0
    assert (real / "x").exists()


def test_the_temporary_directory_is_writable_if_the_policy_says_so(place: Place) -> None:
    temporary = place.outside / "temporary"
    temporary.mkdir()
    open_policy = WorkspaceWrite(exclude_slash_tmp=True)
    assert place.run("touch", f"{temporary}/x", policy=open_policy, TMPDIR=str(temporary)).exit_code == 0
    assert place.run("touch", f"{temporary}/y", policy=CLOSED, TMPDIR=str(temporary)).exit_code != 0


def test_our_own_files_are_protected_or_hidden_even_inside_a_root(place: Place) -> None:
    ours, sockets = place.workspace / "ours", place.workspace / "sockets"
    for directory in (ours, sockets):
        directory.mkdir()
        (directory / "file").write_text("x")
    place.sandbox = Sandbox(Protection(closed=(ours,), hidden=(sockets,)))
    did = place.run("sh", "-c", "cat ours/file; cat sockets/file; touch ours/new; touch sockets/new; touch new")
    assert did.stdout == "x"
    assert sorted(path.name for path in place.workspace.rglob("*") if path.is_file()) == ["file", "file", "new"]


# --- .git ----------------------------------------------------------------------------------------------------------


def test_hooks_and_configuration_of_the_repository_are_closed_and_git_still_reads(place: Place) -> None:
    git(place.workspace, "init")
    attack = "touch .git/hooks/x; echo > .git/config; mv .git g; rm -rf .git"
    script = f"{attack}; git -c safe.directory='*' status --short && touch y"
    did = place.run("sh", "-c", script)
    assert did.exit_code == 0
    assert not (place.workspace / ".git/hooks/x").exists()
    assert "[core]" in (place.workspace / ".git/config").read_text()


def test_the_repository_behind_a_worktree_is_closed_even_where_its_directory_is_a_root(place: Place) -> None:
    main, tree = place.outside / "main", place.workspace / "tree"
    main.mkdir()
    git(main, "init")
    git(main, "commit", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", str(tree))
    policy = CLOSED.model_copy(update={"writable_roots": (place.outside,)})
    script = "touch $0/.git/hooks/x $0/.git/worktrees/tree/x; echo > .git; touch $0/ok"
    did = place.run("sh", "-c", script, str(main), policy=policy, cwd=tree)
    assert did.exit_code == 0
    assert (main / "ok").exists()
    assert not (main / ".git/hooks/x").exists()
    assert not (main / ".git/worktrees/tree/x").exists()
    assert (tree / ".git").read_text().startswith("gitdir:")


def test_a_repository_that_is_not_there_cannot_be_made_and_nothing_is_left_of_its_place(place: Place) -> None:
    did = place.run("sh", "-c", "mkdir -p .git/hooks; git init; echo x > .git; mv .git away; rmdir .git; ls -A .git")
    assert did.exit_code == 0
    assert did.stdout == ""
    assert list(place.workspace.iterdir()) == []


def test_the_place_is_held_until_the_last_command_beside_has_ended(place: Place) -> None:
    env = {"PATH": os.environ["PATH"]}
    with ExitStack() as first, ExitStack() as second:
        for stack in (first, second):
            stack.enter_context(SANDBOX.confine(CLOSED, place.workspace, ["true"], env))
        first.close()
        assert (place.workspace / ".git").is_dir()
        second.close()
        assert not (place.workspace / ".git").exists()


def test_a_file_made_from_outside_in_a_closed_place_is_kept(place: Place) -> None:
    with SANDBOX.confine(CLOSED, place.workspace, ["true"], {"PATH": os.environ["PATH"]}):
        git(place.workspace, "init")
    assert (place.workspace / ".git/config").exists()


OPEN_TMPDIR = CLOSED.model_copy(update={"exclude_tmpdir_env_var": False})


@pytest.mark.parametrize(
    "planted",
    [
        "ln -s / .git",
        "ln -s '{workspace}' .git",
        "echo 'gitdir: {workspace}' > .git",
        "mkdir x && mkfifo x/commondir && echo 'gitdir: x' > .git",
        "truncate -s 8T .git",
    ],
)
def test_leftovers_in_a_temporary_directory_close_nothing_for_the_next_command(place: Place, planted: str) -> None:
    shared = place.outside / "shared"
    shared.mkdir()
    script = f"cd $TMPDIR && {planted}".format(workspace=place.workspace)
    assert place.run("sh", "-c", script, policy=OPEN_TMPDIR, TMPDIR=str(shared)).exit_code == 0
    did = place.run("sh", "-c", "touch x && ls -d /proc/[0-9]*", policy=OPEN_TMPDIR, TMPDIR=str(shared))
    assert did.exit_code == 0
    assert f"/proc/{os.getpid()}" not in did.stdout.split()


def test_a_repository_of_a_temporary_directory_is_closed(place: Place) -> None:
    shared = place.outside / "shared"
    shared.mkdir()
    git(shared, "init")
    script = "touch $TMPDIR/.git/x || touch $TMPDIR/y"
    assert place.run("sh", "-c", script, policy=OPEN_TMPDIR, TMPDIR=str(shared)).exit_code == 0
    assert not (shared / ".git/x").exists()
    assert (shared / "y").exists()


def test_a_pointer_that_is_no_pointer_holds_nobody_up(place: Place) -> None:
    own = place.outside / "own"
    own.mkdir()
    os.mkfifo(own / "commondir")
    for pointer in (f"gitdir: {own}", "gitdir: \0", "gitdir: " + "x" * 300):
        (place.workspace / ".git").write_text(pointer)
        assert place.run("touch", "x").exit_code == 0


def test_the_hosts_processes_stay_unseen_whatever_a_repository_is_a_link_to(place: Place) -> None:
    (place.workspace / ".git").symlink_to("/")
    did = place.run("sh", "-c", "ls -d /proc/[0-9]*")
    assert f"/proc/{os.getpid()}" not in did.stdout.split()


# --- network and neighbours ----------------------------------------------------------------------------------------

CONNECT = """
import socket, sys
where = sys.argv[1]
family = socket.AF_INET if where.isdigit() else socket.AF_UNIX
address = ("127.0.0.1", int(where)) if where.isdigit() else where.replace("@", "\\0")
socket.socket(family).connect(address)
"""


@pytest.fixture
def listener() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


def test_without_network_not_even_the_hosts_loopback_answers(place: Place, listener: str) -> None:
    assert place.python(CONNECT, listener).exit_code != 0
    assert place.python(CONNECT, listener, policy=ReadOnly()).exit_code != 0
    assert place.python(CONNECT, listener, policy=NETWORK).exit_code == 0


@pytest.mark.parametrize("abstract", [False, True], ids=["file", "abstract"])
def test_a_socket_of_the_host_cannot_be_reached_with_or_without_network(place: Place, *, abstract: bool) -> None:
    name = f"@greenroom-{new_token()}" if abstract else str(place.workspace / "socket")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name.replace("@", "\0"))
        server.listen()
        assert place.python(CONNECT, name).exit_code != 0
        assert place.python(CONNECT, name, policy=NETWORK).exit_code != 0


def test_a_loopback_of_its_own_and_pairs_of_sockets_work_for_test_suites(place: Place) -> None:
    script = """
import socket
one, other = socket.socketpair(); one.send(b"x"); assert other.recv(1) == b"x"
with socket.create_server(("127.0.0.1", 0)) as server: socket.create_connection(server.getsockname()).close()
"""
    assert place.python(script).exit_code == 0


def test_a_process_outside_is_neither_seen_nor_signalled(place: Place) -> None:
    """A single process of ours is tried by its number, so that a sandbox that fails harms nobody else."""
    with subprocess.Popen(["sleep", "300"]) as outside:
        did = place.run("sh", "-c", f"kill -9 {outside.pid}; ls /proc/{outside.pid}", policy=NETWORK)
        assert did.exit_code != 0
        assert outside.poll() is None
        outside.kill()


# --- ends ----------------------------------------------------------------------------------------------------------

SURVIVE = """
import os, signal, time
for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(s, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 100)
        time.sleep(300)
    os._exit(0)
os.wait()
"""


def test_a_daemon_does_not_survive_its_sandbox(place: Place) -> None:
    token = new_token()
    assert place.python(SURVIVE, token).exit_code == 0
    assert not alive(token)


def test_the_sandbox_dies_with_a_daemon_that_is_killed(place: Place) -> None:
    token = new_token()
    with SANDBOX.confine(CLOSED, place.workspace, ["sh", "-c", f"echo ready; sleep 300; : {token}"], {}) as inside:
        host = (
            "import os, subprocess, sys, time; p = subprocess.Popen(sys.argv[2:], "
            "pass_fds=[*map(int, sys.argv[1].split(','))]); "
            "time.sleep(300)"
        )
        fds = ",".join(map(str, inside.pass_fds))
        argv = [sys.executable, "-c", host, fds, *inside.argv]
        with subprocess.Popen(argv, stdout=subprocess.PIPE, pass_fds=inside.pass_fds) as daemon:
            assert daemon.stdout is not None
            assert daemon.stdout.readline() == b"ready\n"
            daemon.kill()
            daemon.stdout.read()  # the pipe ends with the last process that holds it
    deadline = time.monotonic() + 5  # the kernel takes the namespace down just after the pipe
    while alive(token) and time.monotonic() < deadline:
        time.sleep(0.005)
    assert not alive(token)


def test_exit_codes_and_signals_come_through(place: Place) -> None:
    assert place.run("sh", "-c", "exit 7").exit_code == 7
    assert place.run("sh", "-c", "kill -9 $$").exit_code == 137


def test_no_such_program_is_an_error_of_its_own(place: Place) -> None:
    env = {"PATH": os.environ["PATH"]}
    for program in ("no-such-program", "./no-such-program"):
        with (
            pytest.raises(FileNotFoundError, match="no-such-program"),
            SANDBOX.confine(CLOSED, place.workspace, [program], env),
        ):
            pass
    with pytest.raises(FileNotFoundError), SANDBOX.confine(CLOSED, place.workspace / "gone", ["true"], env):
        pass


def test_full_access_is_no_sandbox(place: Place) -> None:
    with SANDBOX.confine(DangerFullAccess(), place.workspace, ["a", "b"], {"X": "1"}) as inside:
        assert (inside.argv, inside.env, inside.keeper, inside.pass_fds) == (("a", "b"), {"X": "1"}, False, ())


def test_marks_of_a_sandboxed_process_are_seen_from_outside(place: Place) -> None:
    """The next daemon finds the process by them, should the kernel not have ended it with the last."""
    ready = place.workspace / "ready"
    ready.write_text("ready\n", encoding="utf-8")
    instance = str(place.outside)  # of this test only, for others run beside it

    async def work() -> list[str]:
        watched = Watched()
        async with Processes(place.outside / "ledger", instance, 0.2) as processes:
            argv = ("tail", "-f", str(ready))  # it speaks itself, so nothing is in the middle of an exec any more
            with SANDBOX.confine(CLOSED, place.workspace, argv, {"PATH": os.environ["PATH"]}) as inside:
                run = asyncio.create_task(processes.run(confined(command(*argv), inside), watched.output))
                await watched.spoke.wait()
                seen = alive("GREENROOM_INSTANCE=" + instance)
                run.cancel()
                await asyncio.wait([run])
        return seen

    assert len(limited(work())) == 3  # the keeper, the first process of the namespace, the command
