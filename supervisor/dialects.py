"""Which dialects this program speaks: a name that a hello may say, and what makes one for a client. A table."""

from supervisor.config import Config
from transports.dialects.control.dialect import ControlDialect
from transports.hello import Dialects


def dialects(config: Config) -> Dialects:
    in_flight = config.greenroom.limits.requests_in_flight
    return {"control": lambda client, _: ControlDialect(client, in_flight)}
