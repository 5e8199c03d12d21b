"""The table in docs/processes.md, row by row, against what a command in each sandbox can really do."""

import json
import os
import socket
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from actors.vocabulary.settings import ReadOnly, SandboxPolicy, WorkspaceWrite
from supervisor.work.sandbox.roots import Protection
from supervisor.work.sandbox.sandbox import Sandbox
from tests.supervisor.work.commands import new_token
from tests.supervisor.work.place import Place, git, on_linux

pytestmark = on_linux
PAGE = Path(__file__).resolve().parents[4] / "docs/processes.md"
PROBE = Path(__file__).with_name("probe.py")
OPEN = WorkspaceWrite()
COLUMNS: dict[str, SandboxPolicy] = {
    "`read-only`": ReadOnly(),
    "`workspace-write`": OPEN,
    "with `network_access`": OPEN.model_copy(update={"network_access": True}),
}


def table() -> tuple[list[str], dict[str, list[str]]]:
    text = PAGE.read_text(encoding="utf-8").split("<!-- sandbox: begin -->")[1].split("<!-- sandbox: end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.strip().splitlines()]
    return rows[0][1:], {row[0]: row[1:] for row in rows[2:]}


@pytest.mark.parametrize("column", COLUMNS)
def test_the_table_of_the_sandbox_is_what_a_command_can_do(place: Place, column: str) -> None:
    names, rows = table()
    assert set(names) == set(COLUMNS)
    said = {what: row[names.index(column)] for what, row in rows.items()}
    with tempfile.TemporaryDirectory(dir="/var/tmp") as elsewhere:  # not below a temporary directory of commands
        assert probed(place, COLUMNS[column], Path(elsewhere)) == said


def probed(place: Place, policy: SandboxPolicy, elsewhere: Path) -> dict[str, str]:
    base = place.outside
    for name in ("root/packages/app/.claude", "ours/config/us", "ours/run", "scratch"):
        (base / name).mkdir(parents=True)
    (elsewhere / "secret").touch()
    token = new_token()
    unix = Path("/tmp") / token[:20]
    git(place.workspace, "init")
    git(place.workspace, "config", "core.hooksPath", ".hooks")
    git(base / "root/packages/app", "init")
    (base / "root/packages/app/lib").mkdir()
    git(base / "root/packages/app", "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    git(base, "init", "--bare", "root/bare")
    os.mkfifo(elsewhere / "pipe")
    (base / "ours/config/us/config.toml").touch()
    (place.workspace / "out").symlink_to(elsewhere)
    place.sandbox = Sandbox(
        Protection(
            closed=(base / "ours/config/us",),
            files=(base / "ours/codex.toml",),
            hidden=(base / "ours/run",),
        )
    )
    if isinstance(policy, WorkspaceWrite):
        policy = policy.model_copy(update={"writable_roots": (base / "root", base / "ours")})
    where: dict[str, Any] = {
        "root": str(base / "root"),
        "ours": str(base / "ours"),
        "elsewhere": str(elsewhere),
        "secret": str(elsewhere / "secret"),
        "pipe": str(elsewhere / "pipe"),
        "tmp": f"/tmp/{token}",
        "unix": str(unix),
        "abstract": "\0" + token,
        "pid": os.getpid(),
    }
    with ExitStack() as stack:
        stack.callback(os.close, os.open(elsewhere / "pipe", os.O_RDONLY | os.O_NONBLOCK))
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        where["port"] = server.getsockname()[1]
        for address in (str(unix), "\0" + token):
            listener = stack.enter_context(socket.socket(socket.AF_UNIX))
            listener.bind(address)
            listener.listen()
        stack.callback(unix.unlink)
        did = place.run(
            *(sys.executable, "-SE", str(PROBE), json.dumps(where)), policy=policy, TMPDIR=str(base / "scratch")
        )
    assert did.exit_code == 0, did.stderr
    Path(where["tmp"]).unlink(missing_ok=True)
    return {what: "yes" if could else "no" for what, could in json.loads(did.stdout).items()}
