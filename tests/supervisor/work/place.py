"""A workspace, something beside it, and a way to run things in the real sandbox."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from actors.vocabulary.settings import Pin, SandboxPolicy, WorkspaceWrite
from supervisor.disk.pins import pins_of
from supervisor.disk.workspace import client_tmpdir
from supervisor.work.processes.command import Finished
from supervisor.work.processes.processes import Processes
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import INSTANCE, Watched, command, confined, limited

SANDBOX = Sandbox()
CLOSED = WorkspaceWrite(exclude_slash_tmp=True, exclude_tmpdir_env_var=True)  # tests live in /tmp themselves
on_linux = pytest.mark.skipif(
    sys.platform != "linux" or not SANDBOX.availability.ok, reason=SANDBOX.availability.reason or "needs Linux"
)


@dataclass(frozen=True)
class Did:
    exit_code: int
    stdout: str
    stderr: str = ""
    said: tuple[str, ...] = ()


@dataclass
class Place:
    workspace: Path
    outside: Path
    sandbox: Sandbox = SANDBOX

    def run(
        self,
        *argv: str,
        policy: SandboxPolicy = CLOSED,
        cwd: Path | None = None,
        start: Path | None = None,
        pins: Sequence[Pin] | None = None,
        **env: str,
    ) -> Did:
        async def work() -> Did:
            watched, plain = Watched(), command(*argv, env=env)
            async with Processes(self.outside / "ledger", INSTANCE, 0.2) as processes:
                with self.sandbox.confine(
                    policy, cwd or self.workspace, argv, plain.env, start=start, pins=pins
                ) as inside:
                    result = await processes.run(confined(plain, inside), watched.output)
            assert isinstance(result, Finished)
            said = (*inside.notices, *inside.aftermath)
            return Did(result.exit_code, watched.output.stdout.text(), watched.output.stderr.text(), said)

        return limited(work())

    def python(self, script: str, *args: str, policy: SandboxPolicy = CLOSED) -> Did:
        return self.run(sys.executable, "-SE", "-c", script, *args, policy=policy)

    def talk(self, policy: SandboxPolicy = CLOSED, cwd: Path | None = None, **env: str) -> "Talk":
        """Begin a conversation."""
        where = cwd or self.workspace
        return Talk(self, policy, where, pins_of(policy, where, client_tmpdir(env)), env)


@dataclass(frozen=True)
class Talk:
    place: Place
    policy: SandboxPolicy
    cwd: Path
    pins: tuple[Pin, ...]
    env: dict[str, str]

    def sh(self, script: str, *args: str, start: Path | None = None) -> Did:
        argv = ("sh", "-c", script, *args)
        return self.place.run(*argv, policy=self.policy, cwd=self.cwd, start=start, pins=self.pins, **self.env)


def git(directory: Path, *args: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]
    env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    subprocess.run(["git", *identity, *args], cwd=directory, env=env, check=True, capture_output=True)
