"""The families of events, and their common members. A leaf; the events themselves are in `events`."""

from math import copysign, isfinite, isnan
from pathlib import Path
from sys import float_info
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field

from actors.vocabulary.settings import FROZEN

MOST = 2**63 - 1
LARGEST = float_info.max


def _within_64_bits(value: Any) -> Any:
    """Read a number that no column and few clients can hold as the largest they can: history stays readable."""
    return max(-MOST, min(value, MOST)) if type(value) is int else value


def _finite(value: Any) -> Any:
    """Read a number that JSON can't express as the nearest that it can."""
    if not isinstance(value, float) or isfinite(value):
        return value
    return 0.0 if isnan(value) else copysign(LARGEST, value)


Whole = Annotated[int, BeforeValidator(_within_64_bits)]
Number = Annotated[float, BeforeValidator(_finite)]


class Duration(BaseModel):
    model_config = FROZEN
    secs: Whole = Field(0, description="Whole seconds.")
    nanos: Whole = Field(0, description="The rest, in nanoseconds.")

    @classmethod
    def from_seconds(cls, seconds: float) -> Self:
        return cls(secs=int(seconds), nanos=int(seconds % 1 * 1e9))

    @property
    def seconds(self) -> float:
        return self.secs + self.nanos / 1e9


class BaseEvent(BaseModel):
    model_config = FROZEN

    activity: ClassVar[str] = ""  # what the conversation is busy with from then on, for people; empty: as before

    type: str


class DurableEvent(BaseEvent):
    synced: ClassVar[bool] = False  # a power cut must not take it: something was said, decided, ended
    headline: ClassVar[bool] = False  # after it the row that `ls` and a wake-up read is not true any more
    terminal: ClassVar[bool] = False  # its turn is over
    said_by_client: ClassVar[bool] = False  # it is as long as a client's message may be
    read_by_models: ClassVar[bool] = False  # the transcript that a model gets depends on it


class AgentEvent(DurableEvent):
    """An event that an agent may emit."""


FORM_LIMITS = {  # the least and the most, as JSON Schema calls them
    "string": ("minLength", "maxLength"),
    "number": ("minimum", "maximum"),
    "integer": ("minimum", "maximum"),
    "boolean": ("", ""),
    "array": ("minItems", "maxItems"),
}
FormValue = str | bool | int | Number | tuple[str, ...]


class FormField(BaseModel):
    """A field of a server's form."""

    model_config = FROZEN
    name: str = Field(description="The name under which it is told.")
    title: str = Field("", description="What it is called for people.")
    description: str = Field("", description="What it means.")
    type: Literal["string", "number", "integer", "boolean", "array"] = Field(
        "string", description="What it is. array: some of the choices."
    )
    choices: tuple[str, ...] = Field((), description="What it can be; empty: anything of its type.")
    names: tuple[str, ...] = Field(
        (), description="What each of the choices is called for people, if the server says."
    )
    required: bool = Field(False, description="Whether the server needs it.")
    default: FormValue | None = Field(None, description="What a plain yes sends.")
    least: Number | None = Field(None, description="The smallest number, the shortest text, or the fewest choices.")
    most: Number | None = Field(None, description="The largest number, the longest text, or the most choices.")
    format: str = Field("", description="What the text has to look like: email, uri, date, date-time.")


FileAdd = dict[Literal["add"], dict[Literal["content"], str]]


class UpdatedFile(BaseModel):
    model_config = FROZEN
    unified_diff: str = Field(description="The change, one line of context, no file header.")
    move_path: Path | None = Field(None, description="New path of the file, if it moves.")


FileUpdate = dict[Literal["update"], UpdatedFile]
FileChange = Literal["delete"] | FileAdd | FileUpdate
