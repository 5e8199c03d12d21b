"""A server's tools as it lists them, without the SDK's types. Plain data."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Json = dict[str, Any]  # as servers say it; only a key that was looked for is known


class ServerTool(Struct, frozen=True, eq=False):
    """A tool, as one list of its server has it.

    What it says of itself is a hint, for nobody has checked it; None where it says nothing.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    only_reads: bool = False
    destroys: bool | None = None
    fingerprint: str = ""  # of all that the server says of it, also of what is too long to be kept here
