"""The judges that `make judges` installs beside this file, run within bounds, and the servers they judge."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.warden import MARK

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODULES = Path(os.environ.get("JUDGES_MODULES") or HERE / "node_modules")  # where they are installed
NODE = MODULES / ".bin" / "node"  # 22 or newer, whatever the machine's own is
PYTHON = HERE / ".venv" / "bin" / "python"
LIMIT_S = 50.0  # for any judge; each takes seconds
END_S = 5.0
KEPT = ("PATH", "LANG", "TMPDIR", MARK)  # of our environment: a judge finds nothing of the person's who runs it


def needs(*files: Path) -> pytest.MarkDecorator:
    missing = [os.path.relpath(file, HERE) for file in files if not file.exists()]
    return pytest.mark.skipif(bool(missing), reason=f"`make judges` has not installed {', '.join(missing)}")


def package(name: str) -> Path:
    return MODULES.joinpath(*name.split("/"))


def judge(
    command: Sequence[object],
    home: Path,
    env: Mapping[str, str] | None = None,
    *,
    code: int = 0,
    limit_s: float = LIMIT_S,
) -> str:
    """Run a judge; its standard output. All its processes are ended when it is over or out of time."""
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=home,
        env={**kept, "HOME": str(home), **(env or {})},
        start_new_session=True,
    )
    try:
        said, complained = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        end_group(process)
        said, complained = process.communicate(timeout=END_S)
        raise AssertionError(f"{command[0]} was not done in time:\n{said[-3000:]}\n{complained[-3000:]}") from None
    end_group(process)
    assert process.returncode == code, f"{process.returncode}\n{said[-6000:]}\n{complained[-3000:]}"
    return said


def end_group(process: "subprocess.Popen[str]") -> None:
    """End the process group, which was made for this process."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def judged(base: Path, home: Path, module: str = "supervisor.cli.app mcp", *arguments: str) -> Path:
    """A program without arguments that is `greenroom mcp` in this home, for judges that pass no environment on."""
    program = base / f"server-{module.partition(' ')[0]}"
    words = " ".join(arguments)
    program.write_text(
        f"#!/bin/sh\nexport GREENROOM_HOME='{home}' PYTHONPATH='{ROOT}'\n"
        f"exec '{sys.executable}' -P -m {module} {words} \"$@\"\n"
    )
    program.chmod(0o700)
    return program
