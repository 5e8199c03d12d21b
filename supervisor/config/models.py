"""The whole configuration, as one frozen value: what the file may say, and what holds in the end."""

from pydantic import Field

from supervisor.config.own import Greenroom
from supervisor.config.shared import SharedKeys


class Config(SharedKeys):
    """`profile` and the overrides are already worked in; `profiles` is kept for those who show it."""

    greenroom: Greenroom = Field(Greenroom(), description="Keys of Greenroom alone.")
