"""The tools as they are described to models. Data."""

from collections.abc import Iterator
from typing import Any

from actors.vocabulary.settings import ApprovalPolicy, Settings
from supervisor.agent.model.request import ToolSpec

SHELL = "shell"
SHELL_NAMES = frozenset({SHELL, "container.exec"})
APPLY_PATCH = "apply_patch"
UPDATE_PLAN = "update_plan"

_COMMAND: dict[str, Any] = {
    "command": {
        "type": "array",
        "items": {"type": "string"},
        "description": 'The program and its arguments. For shell syntax: ["bash", "-lc", "…"].',
    },
    "workdir": {"type": "string", "description": "Directory to run it in, relative to the working directory."},
    "timeout": {"type": "number", "description": "Milliseconds until it is ended."},
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


def tools_for(settings: Settings) -> tuple[ToolSpec, ...]:
    return tuple(_tools_for(settings))


def _tools_for(settings: Settings) -> Iterator[ToolSpec]:
    offers_escalation = (
        settings.approval_policy is ApprovalPolicy.ON_REQUEST and settings.sandbox.mode != "danger-full-access"
    )
    properties = {**_COMMAND, **_ESCALATION} if offers_escalation else _COMMAND
    yield ToolSpec(SHELL, "Runs a command and returns its output.", _object(properties, "command"))
    if settings.include_plan_tool:
        properties = {
            "explanation": {"type": "string", "description": "Why the plan is what it is."},
            "plan": {"type": "array", "items": _STEP, "description": "The steps in order."},
        }
        yield ToolSpec(UPDATE_PLAN, "Shows the user the plan and how far it is.", _object(properties, "plan"))
    if settings.include_apply_patch_tool:
        properties = {"input": {"type": "string", "description": "The whole patch, from *** Begin Patch on."}}
        yield ToolSpec(APPLY_PATCH, "Edits files by a patch.", _object(properties, "input"))


def _object(properties: dict[str, Any], required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [required], "additionalProperties": False}
