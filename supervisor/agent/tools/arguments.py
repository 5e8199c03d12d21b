"""What a model wrote as arguments of a call, made into values, or into a text that tells it what was wrong."""

from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from actors.events import PlanStep

MAX_TIMEOUT_MS = 24 * 3600 * 1000


class BadArguments(Exception):
    """The text goes back to the model."""


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
    """Strict: what we do not know here, the model meant to show to somebody."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    explanation: str | None = None
    plan: tuple[StepArguments, ...]


Arguments = TypeVar("Arguments", bound=BaseModel)


def parsed(kind: type[Arguments], text: str) -> Arguments:
    try:
        return kind.model_validate_json(text or "{}")
    except ValidationError as error:
        told = "; ".join(
            f"{'.'.join(str(part) for part in one['loc']) or 'arguments'}: {one['msg']}" for one in error.errors()
        )
        raise BadArguments(f"failed to parse function arguments: {told}") from error
