"""`greenroom service`: a systemd user unit, or a launchd agent, that keeps the daemon running."""

import os
import plistlib
import shutil
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from supervisor.cli.kit import exits
from supervisor.cli.kit.problems import Problem
from supervisor.paths import locate

UNIT = "greenroom.service"
LABEL = "dev.greenroom.daemon"
WATCHDOG_S = 30  # in this time the daemon reports three times that it is well
STOP_S = 60  # twice the default drain time
CARRIED_VARIABLES = (
    "GREENROOM_HOME",
    "CODEX_HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
)  # for the same files as in the shell


def run(chosen: Namespace) -> int:
    return {"install": _install, "uninstall": _uninstall, "status": _status}[chosen.what](chosen)


def unit() -> str:
    """The systemd unit. KillMode=mixed: TERM to the daemon alone, which ends its commands; KILL to the rest."""
    environment = "".join(
        f"Environment={_quote_assignment(f'{name}={value}')}\n" for name, value in _carried_variables().items()
    )
    return f"""[Unit]
Description=Greenroom, a supervisor for coding-agent conversations

[Service]
Type=notify
NotifyAccess=main
ExecStart={_quote_path(sys.executable)} -m supervisor
ExecReload=/bin/kill -HUP $MAINPID
{environment}WorkingDirectory=/
KillMode=mixed
TimeoutStopSec={STOP_S}
WatchdogSec={WATCHDOG_S}
Restart=on-failure
RestartSec=1

[Install]
WantedBy=default.target
"""


def agent() -> str:
    """The launchd agent. Launchd kills the whole process group, after the daemon has had its time."""
    wanted = {
        "Label": LABEL,
        "ProgramArguments": [sys.executable, "-m", "supervisor"],
        "EnvironmentVariables": _carried_variables(),
        "WorkingDirectory": "/",
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ExitTimeOut": STOP_S,
        "ProcessType": "Interactive",
    }
    return plistlib.dumps(wanted).decode()


def _install(chosen: Namespace) -> int:
    text = agent() if _mac() else unit()
    if chosen.print:
        print(text, end="")
        return 0
    file = _file()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    print(f"wrote {file}")
    if chosen.no_start:
        return 0
    for command in _starting(file):
        _do(command, f"run `{' '.join(command)}` to start it")
    print("the service runs, and starts when you log in" if _mac() else _runs())
    return 0


def _runs() -> str:
    user = os.environ.get("USER", "$USER")
    return (
        "the service runs, and starts when you log in; "
        f"run `loginctl enable-linger {user}` to start it when the machine starts"
    )


def _uninstall(_: Namespace) -> int:
    file = _file()
    if not file.exists():
        raise Problem("the service is not installed", "`greenroom service install` installs it")
    for command in _stopping(file):
        _do(command, "stop the service by hand, then try again")
    file.unlink()
    if not _mac():
        _do(["systemctl", "--user", "daemon-reload"], "")
    print(f"removed {file}; conversations are kept")
    return 0


def _status(_: Namespace) -> int:
    file = _file()
    if not file.exists():
        print("not installed")
        return exits.NOT_WELL
    print(f"installed: {file}")
    expected = agent() if _mac() else unit()
    if file.read_text(encoding="utf-8", errors="surrogateescape") != expected:
        print("the file differs from what `greenroom service install` would write now; --print shows that file")
    command = ["launchctl", "list", LABEL] if _mac() else ["systemctl", "--user", "is-active", UNIT]
    if shutil.which(command[0]) is None:
        print(f"{command[0]} was not found, so the state of the service is unknown")
        return exits.NOT_WELL
    found = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
    print("active" if found.returncode == 0 else (found.stdout.strip() or found.stderr.strip() or "not active"))
    return exits.OK if found.returncode == 0 else exits.NOT_WELL


def _starting(file: Path) -> list[list[str]]:
    if _mac():
        return [["launchctl", "bootstrap", f"gui/{os.getuid()}", str(file)]]
    return [["systemctl", "--user", "daemon-reload"], ["systemctl", "--user", "enable", "--now", UNIT]]


def _stopping(file: Path) -> list[list[str]]:
    if _mac():
        return [["launchctl", "bootout", f"gui/{os.getuid()}", str(file)]]
    return [["systemctl", "--user", "disable", "--now", UNIT]]


def _do(command: list[str], advice: str) -> None:
    if shutil.which(command[0]) is None:
        raise Problem(f"{command[0]} was not found", advice)
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # our own words
    if done.returncode != 0:
        raise Problem(f"`{' '.join(command)}` failed: {done.stderr.strip() or done.stdout.strip()}", advice)


def _file() -> Path:
    if _mac():
        return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist"
    base = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(base if Path(base).is_absolute() else Path.home() / ".config") / "systemd" / "user" / UNIT


def _carried_variables() -> dict[str, str]:
    locate()  # refuses the paths that the daemon would refuse
    return {name: os.environ[name] for name in CARRIED_VARIABLES if os.environ.get(name)}


def _quote_path(path: str) -> str:
    """Quote a path for systemd, to which % and blanks have a meaning."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if any(character.isspace() or character == '"' for character in path) else escaped


def _quote_assignment(text: str) -> str:
    """Quote an assignment for systemd, to which escapes and % have a meaning here, but $ has none."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("\n", "\\n")
    return f'"{escaped}"'


def _mac() -> bool:
    return sys.platform == "darwin"
