"""The whole configuration as one frozen value: the shape of the file, and of the result."""

from pydantic import Field

from supervisor.config.own import Greenroom
from supervisor.config.shared import SharedKeys


class Config(SharedKeys):
    """The configuration. In the result, profile and overrides are merged in; `profiles` is kept to be shown."""

    greenroom: Greenroom = Field(Greenroom(), description="Keys of Greenroom alone.")
