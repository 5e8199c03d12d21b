"""The base class of all tables of the configuration, and the types of their keys.

Has no keys itself. Values must have TOML's own type: "4" is not 4, and 1 is not true.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.types import Strict

from supervisor.config.key_types import Expect

DECADE_SECONDS = 10 * 365 * 24 * 3600  # beyond any use, and still accepted by timers


class ConfigTable(BaseModel):
    """A table. Unknown keys are left out here; `shape.unknown_keys` warns about them."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True, defer_build=True)

    def __deepcopy__(self, _memo: dict[int, Any] | None = None) -> Self:
        """Return the table itself, which never changes: pydantic would copy each default for every configuration."""
        return self

    @model_validator(mode="before")
    @classmethod
    def _empty_means_unset(cls, tree: Any) -> Any:
        # TOML has no null, and a null in a client's override map becomes an empty string.
        if not isinstance(tree, Mapping):
            return tree
        fields = cls.model_fields
        return {
            key: value
            for key, value in tree.items()
            if value != "" or key not in fields or fields[key].default is not None
        }


def _home_expanded(path: Path) -> Path:
    try:
        path = path.expanduser()
    except RuntimeError as error:
        raise ValueError("unknown home") from error
    if not path.is_absolute():
        raise ValueError("relative")
    return path


# Bounds are either here or in the field, never in both: of two, pydantic silently takes the wider.
Flag = Annotated[bool, Strict()]
Integer = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
WholeNumber = Annotated[int, Strict(), Field(ge=0, le=2**53), Expect("a whole number, at least 0")]
Positive = Annotated[int, Strict(), Field(ge=1, le=2**53), Expect("a whole number, at least 1")]
Seconds = Annotated[float, Strict(), Field(ge=0, le=DECADE_SECONDS), Expect("a number, at least 0")]
PositiveSeconds = Annotated[float, Strict(), Field(gt=0, le=DECADE_SECONDS), Expect("a number, more than 0")]
Milliseconds = Annotated[int, Strict(), Field(ge=1, le=DECADE_SECONDS * 1000), Expect("a whole number, at least 1")]
TokenNumber = Annotated[int, Strict(), Field(ge=1_000, le=1 << 30), Expect("a whole number, at least 1000")]
MemoryBytes = Annotated[int, Strict(), Field(ge=65_536, le=256 << 20)]
DiskBytes = Annotated[int, Strict(), Field(ge=1 << 20, le=1 << 40)]
AbsolutePath = Annotated[Path, AfterValidator(_home_expanded), Expect("an absolute path (~ is allowed)")]
VariableName = Annotated[
    str,
    Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"),
    Expect("the name of an environment variable, never the secret itself"),
]
HttpUrl = Annotated[str, Field(pattern=r"^https?://"), Expect("a URL that starts with http:// or https://")]
