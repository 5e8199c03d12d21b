"""The guess whether the sandbox made a command fail, from the command's own words. Pure.

There is no other sign: a refused system call looks to a program like a missing right, and the exit code is its own.
"""

import re
from collections.abc import Mapping

from actors.vocabulary.settings import SandboxPolicy, WorkspaceWrite
from supervisor.agents.own.tools.command_result import CommandResult

# The system's words for a right that is missing, as programs print them, and the names that libraries have for those.
MISSING_RIGHT = re.compile(
    r"permission denied|operation not permitted|read-only file ?system|not permitted|access denied|cannot write"
    r"|can't write|unwritable|not writable|\b(EACCES|EPERM|EROFS)\b",
    re.IGNORECASE,
)
# The same for a network that is not there.
MISSING_NETWORK = re.compile(
    r"network is unreachable|could ?n[o']t resolve|temporary failure in name resolution|name or service not known"
    r"|no address associated|connection refused|failed to connect|could not connect|connection error|no route to host"
    r"|\b(ENETUNREACH|EAI_AGAIN|ENOTFOUND|ENETDOWN|EHOSTUNREACH)\b",
    re.IGNORECASE,
)
MESSAGES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides in which language programs speak
LINE = 300  # characters of a failure, in a question
LOOKED_AT = 64 * 1024  # characters of the end of each stream: a program says why it stops when it stops


def may_be_held_back(ran: CommandResult, policy: SandboxPolicy, env: Mapping[str, str]) -> bool:
    """Tell whether the sandbox may be the reason. Words in another language than English can't be read: it may."""
    return _line_that_tells(ran, policy) != "" or not _speaks_english(env)


def failure_of(ran: CommandResult) -> str:
    """Describe the failure in a line: the exit code, and the line that gives the reason, or else the last line."""
    lines = [line for line in _end(ran).splitlines() if line.strip()]
    why = next((line for line in reversed(lines) if MISSING_RIGHT.search(line) or MISSING_NETWORK.search(line)), "")
    said = " ".join((why or (lines[-1] if lines else "")).split())[:LINE]
    return f"exit code {ran.exit_code}{said and f': {said}'}"


def _line_that_tells(ran: CommandResult, policy: SandboxPolicy) -> str:
    has_network = isinstance(policy, WorkspaceWrite) and policy.network_access
    words = (MISSING_RIGHT,) if has_network else (MISSING_RIGHT, MISSING_NETWORK)
    end = _end(ran)
    return next((found[0] for pattern in words if (found := pattern.search(end))), "")


def _end(ran: CommandResult) -> str:
    return f"{ran.stdout[-LOOKED_AT:]}\n{ran.stderr[-LOOKED_AT:]}"


def _speaks_english(env: Mapping[str, str]) -> bool:
    language = next((env[name] for name in MESSAGES if env.get(name)), "C")
    return language.startswith(("C", "POSIX", "en"))
