"""Which dialects this program speaks: a name that a hello may say, and what makes one for a client. A table."""

from typing import TYPE_CHECKING

import structlog

from supervisor.config import Config
from supervisor.version import VERSION
from transports.dialect import Client, Dialect
from transports.dialects.control.dialect import ControlDialect
from transports.hello import Dialects, Options

if TYPE_CHECKING:
    from transports.dialects.mcp.options import McpOptions

log = structlog.get_logger()


def dialects(config: Config) -> Dialects:
    in_flight = config.greenroom.limits.requests_in_flight
    return {
        "control": lambda client, _: ControlDialect(client, in_flight),
        "mcp": lambda client, said: _mcp(config, client, said),
    }


def load_the_rest() -> None:
    """What being ready does not wait for. Whoever needs it sooner, or when it could not be had now, loads it then."""
    try:
        import transports.dialects.mcp.dialect  # noqa: F401  # for its effect on the next import of it
    except (OSError, ImportError) as error:  # a crowd came at once and left us no descriptor to read a file with
        log.warning("dialects.loaded_later", reason=str(error))


def _mcp(config: Config, client: Client, said: Options) -> Dialect:
    from transports.dialects.mcp.dialect import McpDialect
    from transports.dialects.mcp.options import with_hello

    return McpDialect(client, with_hello(mcp_options(config), said))


def mcp_options(config: Config) -> "McpOptions":
    from transports.dialects.mcp.options import McpOptions

    mcp = config.greenroom.mcp
    return McpOptions(
        version=VERSION,
        tools=mcp.tools,
        twin_notifications=mcp.twin_notifications,
        answer_cancelled=mcp.answer_cancelled,
        stream_meta=mcp.stream_meta,
        progress_seconds=mcp.progress_seconds,
        requests_in_flight=config.greenroom.limits.requests_in_flight,
    )
