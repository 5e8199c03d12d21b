"""W: commands and patches of several conversations that move, link, copy and replace each other's directories.

Whatever they do between two calls, nothing outside the roots and nothing that is closed is ever changed.
"""

import contextlib
import os
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from actors.vocabulary.settings import Pin, WorkspaceWrite
from supervisor.disk.pins import pins_of
from supervisor.work.patch.apply import apply_plan
from supervisor.work.patch.errors import PatchError
from supervisor.work.patch.grammar import parse
from supervisor.work.patch.plan import plan_patch
from supervisor.work.reach.readable import Reach
from supervisor.work.safety.roots import are_writable
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
from tests.faults.conftest import Measure
from tests.faults.report import Row
from tests.supervisor.work.place import git, on_linux

pytestmark = on_linux
STEPS = {"quick": 60, "soak": 6_000}
WORLD = 30  # steps before a new world: an old one has little left that can be moved
OPERATIONS = 4  # of one command
CLOSED = WorkspaceWrite(exclude_slash_tmp=True)
PLACES = (
    *("shared", "shared/a", "shared/a/p", "shared/a/p/.git", "shared/a/p/.git/config", "shared/a/p/.git/hooks"),
    *("shared/a/p/f", "shared/a/p/sub", "shared/q", "shared/q/pkg", "shared/q/pkg/.git", "shared/q/pkg/.git/config"),
    *("shared/q/cfg", "shared/q/cfg/ours", "shared/q/cfg/ours/config.toml", "shared/q/cfg/later.toml", "shared/b"),
    *("shared/b/p", "shared/q/HEAD", "shared/q/objects", "shared/q/refs", "shared/q/.git", "shared/late"),
    *("home", "home/f", "home/d", "home/d/g", "home/.ssh", "shared/a/p/home"),
)
SCRIPTS = (
    *("mv {0} {1}", "mv -T {0} {1}", "ln -sfn {0} {1}", "ln -sfT {0} {1}", "ln {0} {1}", "cp -r {0} {1}"),
    *("cp -rT {0} {1}", "rm -rf {0}", "mkdir -p {0}", "rmdir {0}", "echo evil > {0}", "touch {0}/evil"),
    *("echo evil > {0}/evil", "git init -q {0}", "chmod 4777 {0}", "mount --bind {0} {1}", "umount {0}"),
    *("cd {0} && echo evil > config", "cd {0} && rm -rf ..?* .[!.]* *", "echo evil > /proc/1/root{0}"),
    *("mkdir -p {0}/objects {0}/refs; echo 'ref: refs/heads/x' > {0}/HEAD", "tar cf - {0} | tar xf - -C {1}"),
)


@dataclass(frozen=True)
class Conversation:
    cwd: Path
    policy: WorkspaceWrite
    pins: tuple[Pin, ...]
    env: dict[str, str]


class World:
    """Two projects in a directory that both may write, a file outside, and protected files in a project."""

    def __init__(self, base: Path, seed: int, *, stranger: bool) -> None:
        self.base = base
        self.chance = random.Random(seed)
        for name in ("shared/a/p", "shared/q/pkg", "shared/q/cfg/ours", "home/d", "home/.ssh"):
            (base / name).mkdir(parents=True)
        git(base / "shared/a/p", "init")
        git(base / "shared/q/pkg", "init")
        for name in ("home/f", "home/d/g", "shared/q/cfg/ours/config.toml", "shared/a/p/f"):
            (base / name).write_text("mine\n")
        self.sandbox = Sandbox(
            Protection(closed=(base / "shared/q/cfg/ours",), files=(base / "shared/q/cfg/later.toml",))
        )
        shared, late = base / "shared", base / "shared/late"
        self.talks = [
            self._talk(shared / "a/p", CLOSED.model_copy(update={"writable_roots": (shared, late)})),
            self._talk(shared / "q", CLOSED.model_copy(update={"writable_roots": (shared,)})),
        ]
        # A conversation to which the projects are a part of its temporary directory may change them, as documented.
        self.kept = ["home", "shared/q/cfg/ours"]
        if stranger:
            (base / "elsewhere").mkdir()
            self.talks.append(self._talk(base / "elsewhere", CLOSED, TMPDIR=str(shared)))
        else:
            self.kept += ["shared/a/p/.git", "shared/q/pkg/.git"]
        self.before = self.seen()

    def _talk(self, cwd: Path, policy: WorkspaceWrite, **env: str) -> Conversation:
        tmpdir = Path(env["TMPDIR"]) if env else None
        return Conversation(cwd, policy, pins_of(policy, cwd, tmpdir), {"PATH": os.environ["PATH"], **env})

    def seen(self) -> dict[str, tuple[object, ...]]:
        return dict(row for name in self.kept for row in _tree(self.base / name))

    def step(self) -> str:
        talk = self.chance.choice(self.talks)
        return self._patch(talk) if self.chance.random() < 0.3 else self._command(talk)

    def _place(self) -> Path:
        return self.base / self.chance.choice(PLACES)

    def _command(self, talk: Conversation) -> str:
        parts = (self.chance.choice(SCRIPTS).format(self._place(), self._place()) for _ in range(OPERATIONS))
        script = "; ".join(f"({part})" for part in parts)
        start = self.chance.choice((talk.cwd, self._place(), Path("/")))
        with (
            contextlib.suppress(OSError),
            self.sandbox.confine(
                talk.policy, talk.cwd, ["sh", "-c", script], talk.env, start=start, pins=talk.pins
            ) as inside,
        ):
            subprocess.run(
                inside.argv,
                env=inside.env,
                cwd=inside.cwd,
                pass_fds=inside.pass_fds,
                capture_output=True,
                timeout=30,
                check=False,
            )
        return f"in {start}: {script}"

    def _patch(self, talk: Conversation) -> str:
        names = [self._place() / self.chance.choice(("", "f", "config", "HEAD")) for _ in range(2)]
        text = "\n".join(f"*** Add File: {name}\n+evil" for name in names[: self.chance.choice((1, 2))])
        if self.chance.random() < 0.3:
            text = f"*** Delete File: {names[0]}"
        with contextlib.suppress(PatchError, OSError):
            plan = plan_patch(parse(f"*** Begin Patch\n{text}\n*** End Patch"), Reach(talk.cwd))
            with self.sandbox.roots(talk.policy, talk.cwd, talk.pins, {}) as roots:
                if are_writable(roots, plan.touched_paths):
                    apply_plan(plan, pinned={root.path: root.identity() for root in roots.writable})
        return text


def _tree(path: Path) -> Iterator[tuple[str, tuple[object, ...]]]:
    """All facts of a folder: names, inodes, modes, links and contents."""
    if not os.path.lexists(path):
        return
    found = path.lstat()
    content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
    yield str(path), (found.st_ino, found.st_mode, found.st_uid, content, path.is_symlink())
    if path.is_dir() and not path.is_symlink():
        for below in sorted(path.iterdir()):
            yield from _tree(below)


def lived(base: Path, row: Row, steps: int, *, stranger: bool) -> None:
    while row.times < steps:
        seed = random.SystemRandom().getrandbits(32)
        world = World(base / f"{seed}", seed, stranger=stranger)
        done: list[str] = []
        for _ in range(WORLD):
            done.append(world.step())
            row.times += 1
            assert world.seen() == world.before, f"seed {seed}: " + "\n".join(done)
        subprocess.run(["rm", "-rf", world.base], check=True)


NAMES = {False: "moved, linked and replaced between calls", True: "the same beside one with it all as its `$TMPDIR`"}


@pytest.mark.parametrize("stranger", [False, True])
def test_nothing_outside_the_roots_changes(tmp_path: Path, measure: Measure, *, stranger: bool) -> None:
    with measure("W", NAMES[stranger]) as row:
        lived(tmp_path, row, STEPS["quick"], stranger=stranger)


@pytest.mark.soak(takes_s=500)
@pytest.mark.parametrize("stranger", [False, True])
def test_nothing_outside_the_roots_changes_for_long(tmp_path: Path, measure: Measure, *, stranger: bool) -> None:
    with measure("W", NAMES[stranger]) as row:
        lived(tmp_path, row, STEPS["soak"], stranger=stranger)
