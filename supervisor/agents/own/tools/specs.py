"""The tools as they are described to models. Data."""

from functools import lru_cache
from typing import Any

from actors.vocabulary.settings import ApprovalPolicy, Settings, WorkspaceWrite
from supervisor.agents.own.model.request import ToolSpec
from supervisor.agents.own.tools.patch_grammar import KNOWS_PATCHES, PATCH_BRIEF, PATCH_GRAMMAR
from supervisor.agents.own.tools.time_limit import TimeLimit, time_limit
from supervisor.config.bounds import Bounds

SHELL = "shell"
SHELL_NAMES = frozenset({SHELL, "container.exec"})
APPLY_PATCH = "apply_patch"
UPDATE_PLAN = "update_plan"
JOB = "job"

HISTORY = (
    " git that changes history (add, commit, merge, …) is run as it is, without escalation: the user is asked. "
    "Give it a call of its own, in the repository's directory; git config, rebase and push need escalation."
)
_COMMAND: dict[str, Any] = {
    "command": {
        "type": "array",
        "items": {"type": "string"},
        "description": 'The program and its arguments. For shell syntax: ["bash", "-lc", "…"].',
    },
    "workdir": {"type": "string", "description": "Directory to run it in, relative to the working directory."},
    "background": {
        "type": "string",
        "enum": ["turn", "conversation"],
        "description": "Run it as a job and go on: until your turn is over, or, for a server that the user wants to "
        "keep, for as long as it runs. It has no time limit.",
    },
}
_ESCALATION: dict[str, Any] = {
    "with_escalated_permissions": {
        "type": "boolean",
        "description": "Ask the user to run it outside the sandbox.",
    },
    "justification": {
        "type": "string",
        "description": "With escalation: one sentence for the user, why it is needed.",
    },
}
_STEP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "step": {"type": "string", "description": "The step."},
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
    },
    "required": ["step", "status"],
    "additionalProperties": False,
}


def shell(settings: Settings, bounds: Bounds) -> ToolSpec:
    offers_escalation = (
        settings.approval_policy is ApprovalPolicy.ON_REQUEST and settings.sandbox.mode != "danger-full-access"
    )
    asks = settings.approval_policy is not ApprovalPolicy.NEVER and isinstance(settings.sandbox, WorkspaceWrite)
    return _shell(time_limit(None, bounds), offers_escalation=offers_escalation, asks=asks)


@lru_cache(16)  # four for each pair of limits, which only another config changes
def _shell(limit: TimeLimit, *, offers_escalation: bool, asks: bool) -> ToolSpec:
    timeout = f"Milliseconds until it is ended; {limit.ms:.0f} if you name none, at most {limit.most}."
    properties = {
        **_COMMAND,
        "timeout": {"type": "number", "description": timeout},
        **(_ESCALATION if offers_escalation else {}),
    }
    return ToolSpec(
        SHELL, f"Runs a command and returns its output.{HISTORY if asks else ''}", _object(properties, "command")
    )


def _object(properties: dict[str, Any], required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [required], "additionalProperties": False}


PLAN = ToolSpec(
    UPDATE_PLAN,
    "Shows the user the plan and how far it is.",
    _object(
        {
            "explanation": {"type": "string", "description": "Why the plan is what it is."},
            "plan": {"type": "array", "items": _STEP, "description": "The steps in order."},
        },
        "plan",
    ),
)
JOB_SPEC = ToolSpec(
    JOB,
    "Sees to commands in the background: lists them, reads new output, writes to one, waits for its end, ends it.",
    _object(
        {
            "do": {"type": "string", "enum": ["list", "read", "write", "wait", "end"]},
            "job": {"type": "string", "description": "The job's id; not for list."},
            "input": {"type": "string", "description": "For write: the text, with its newline."},
            "end_input": {"type": "boolean", "description": "For write: close its input afterwards."},
            "seconds": {"type": "number", "description": "For read and wait: how long to wait at most. Default 30."},
        },
        "do",
    ),
)
_PATCH_INPUT: dict[str, Any] = {
    "input": {"type": "string", "description": "The whole patch, from *** Begin Patch to *** End Patch."}
}
PATCH = ToolSpec(APPLY_PATCH, PATCH_GRAMMAR, _object(_PATCH_INPUT, "input"))
BRIEF_PATCH = ToolSpec(APPLY_PATCH, PATCH_BRIEF, _object(_PATCH_INPUT, "input"))


def patch(settings: Settings) -> ToolSpec:
    """Describe the tool, with its grammar for models that were not trained on it."""
    return BRIEF_PATCH if KNOWS_PATCHES.search(settings.model) else PATCH
