"""The arguments that a model wrote for a call, parsed into values, or into a text that tells it what was wrong."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from actors.vocabulary.events import PlanStep
from supervisor.agent.bounds import DEFAULTS, Bounds
from supervisor.agent.model.decoding import intricate

MAX_TIMEOUT_MS = 24 * 3600 * 1000
TOLD = 10  # mistakes told of one call; a model that made more has to begin anew anyhow


class BadArguments(Exception):
    """The arguments can't be used. The text goes back to the model."""


class ShellArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    workdir: str | None = None
    timeout: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_MS)] | None = None
    with_escalated_permissions: bool = False
    justification: str | None = None


class PatchArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    input: str


class StepArguments(PlanStep):
    model_config = ConfigDict(extra="forbid")


class PlanArguments(BaseModel):
    """Strict: an unknown field is content that the model meant to show, and we would drop it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    explanation: str | None = None
    plan: tuple[StepArguments, ...]


Arguments = TypeVar("Arguments", bound=BaseModel)


def parsed(kind: type[Arguments], text: str, bounds: Bounds = DEFAULTS) -> Arguments:
    if intricate(text.encode("utf-8", "replace"), bounds.answer_event_values):
        raise BadArguments(bounds.beyond("answer_event_values", "the function arguments have too many values"))
    try:
        return kind.model_validate_json(text or "{}")
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        told = "; ".join(map(_told, wrong[:TOLD]))
        more = f"; and {len(wrong) - TOLD} more" if len(wrong) > TOLD else ""
        raise BadArguments(f"failed to parse function arguments: {told}{more}") from None


def _told(wrong: ErrorDetails) -> str:
    return f"{'.'.join(str(part) for part in wrong['loc'])[:200] or 'arguments'}: {wrong['msg'][:200]}"
