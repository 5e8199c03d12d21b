"""The arguments that a model wrote for a call, parsed into values, or into a text about its mistakes. Pure."""

from typing import Annotated, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from actors.vocabulary.events import PlanStep
from actors.vocabulary.json_values import has_too_many_values
from supervisor.config.bounds import DEFAULTS, Bounds

MAX_TIMEOUT_MS = 24 * 3600 * 1000
MAX_WAIT_S = 600.0  # for a job; a model that wants more asks again
MAX_LINE = 1 << 40  # a number that files and columns can hold
MAX_DEPTH = 10  # levels of folders; further down a model lists anew from there
MAX_PATTERN = 4_096  # characters of a pattern: it travels as an argument
MAX_CONTEXT = 50  # lines around a match; read_file shows more
MAX_MATCHES = 10_000  # far more than fit into a result
TIMEOUT_NAMES = AliasChoices("timeout", "timeout_ms")  # newer models were trained on the second name
MISTAKES_SHOWN = 10  # mistakes named of one call; a model that made more has to begin anew anyhow


class BadArguments(Exception):
    """The arguments can't be used. The text goes back to the model."""


class ShellArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    command: Annotated[tuple[str, ...], Field(min_length=1)]
    workdir: str | None = None
    timeout: Annotated[float, Field(gt=0, le=MAX_TIMEOUT_MS)] | None = Field(None, validation_alias=TIMEOUT_NAMES)
    with_escalated_permissions: bool = False
    justification: str | None = None
    background: Literal["turn", "conversation"] | None = None


class JobArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    do: Literal["list", "read", "write", "wait", "end"] = "read"
    job: str = ""
    input: str = ""
    end_input: bool = False
    seconds: Annotated[float, Field(ge=0, le=MAX_WAIT_S)] = 30.0


class PatchArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    input: str


class ReadArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    path: str
    offset: Annotated[int, Field(ge=1, le=MAX_LINE)] = 1
    limit: Annotated[int, Field(ge=1)] | None = None


class ListArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    path: str = "."
    depth: Annotated[int, Field(ge=1, le=MAX_DEPTH)] = 1


class SearchArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    pattern: Annotated[str, Field(min_length=1, max_length=MAX_PATTERN)]
    path: str = "."
    glob: Annotated[str, Field(max_length=MAX_PATTERN)] = ""
    ignore_case: bool = False
    context: Annotated[int, Field(ge=0, le=MAX_CONTEXT)] = 0
    max_matches: Annotated[int, Field(ge=1, le=MAX_MATCHES)] = 100


class ViewArguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    path: str


class StepArguments(PlanStep):
    model_config = ConfigDict(extra="forbid")


class PlanArguments(BaseModel):
    """The arguments of update_plan. Strict: an unknown field is content that the model meant to show."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    explanation: str | None = None
    plan: tuple[StepArguments, ...]


Arguments = TypeVar("Arguments", bound=BaseModel)


def parse_arguments(kind: type[Arguments], text: str, bounds: Bounds = DEFAULTS) -> Arguments:
    if has_too_many_values(text.encode("utf-8", "replace"), bounds.answer_event_values):
        raise BadArguments(
            bounds.describe_excess("answer_event_values", "the function arguments have too many values")
        )
    try:
        return kind.model_validate_json(text or "{}")
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        mistakes = "; ".join(map(_describe, wrong[:MISTAKES_SHOWN]))
        more = f"; and {len(wrong) - MISTAKES_SHOWN} more" if len(wrong) > MISTAKES_SHOWN else ""
        raise BadArguments(f"failed to parse function arguments: {mistakes}{more}") from None


def _describe(wrong: ErrorDetails) -> str:
    return f"{'.'.join(str(part) for part in wrong['loc'])[:200] or 'arguments'}: {wrong['msg'][:200]}"
