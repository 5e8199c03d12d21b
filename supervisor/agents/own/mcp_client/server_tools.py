"""A server's tools as it lists them, without the SDK's types. Plain data."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

Json = dict[str, Any]  # as servers send it; no key is certain to be there


class ServerTool(Struct, frozen=True, eq=False):
    """A tool, as one list of its server has it.

    `only_reads` and `destroys` are hints by the server, which are not checked; None where it gives none.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    only_reads: bool = False
    destroys: bool | None = None
    fingerprint: str = ""  # of the whole description, including parts that are too long to be kept here
