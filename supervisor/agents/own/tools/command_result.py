"""The result of a command, and the text that the model is told of it. Pure."""

import json

from msgspec import Struct

from supervisor.agents.own.tools.time_limit import TimeLimit
from supervisor.agents.own.tools.tool_result import ToolResult, failure
from supervisor.config.bounds import Bounds
from supervisor.formats.head_and_tail import head_and_tail
from supervisor.work.processes.command import NotStarted

UNPRINTABLE = {code: "\ufffd" for code in range(32) if chr(code) not in "\t\n\r\x1b"}  # six characters each in JSON
NOT_FOUND = 127  # outside the sandbox a missing program would be missing, too


class CommandResult(Struct, frozen=True):
    """The result of a command, as the model and all clients see it."""

    exit_code: int
    stdout: str
    stderr: str
    duration_s: float
    timed_out: bool = False
    not_started: str | None = None
    notices: tuple[str, ...] = ()

    @property
    def maybe_sandbox_failure(self) -> bool:
        """The command failed in a way that the sandbox may have caused."""
        return self.exit_code not in {0, NOT_FOUND} and self.not_started is None and not self.timed_out

    def tool_result(self, limit: TimeLimit, bounds: Bounds) -> ToolResult:
        """Compose the text for the model: both streams, their head and tail, and how much is missing between."""
        if self.not_started is not None:
            return failure("tool", self.not_started)
        output = self.stdout if not self.stderr else f"{self.stdout}\n[stderr]\n{self.stderr}".lstrip("\n")
        if self.timed_out:
            output = f"{limit.timeout_text}\n{output}"
        notices = (*self.notices, *([limit.cap_notice] if limit.cap_notice else ()))
        output = "".join(f"[{notice}]\n" for notice in notices) + output
        told = head_and_tail(output.translate(UNPRINTABLE), bounds.model_output_bytes, bounds.model_output_lines)
        metadata = {"exit_code": self.exit_code, "duration_seconds": round(self.duration_s, 1)}
        text = json.dumps({"output": told, "metadata": metadata}, ensure_ascii=False)
        return failure("time_out", text, limit.timeout_notice) if self.timed_out else ToolResult(text)


def not_started(result: NotStarted) -> CommandResult:
    return CommandResult(-1, "", str(result), 0.0, not_started=str(result))
