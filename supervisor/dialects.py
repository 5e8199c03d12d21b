"""Which dialects this program speaks: a name that a hello may say, and what makes one for a client. A table."""

from supervisor.config import Config
from supervisor.version import VERSION
from transports.dialects.control.dialect import ControlDialect
from transports.dialects.mcp.dialect import McpDialect
from transports.dialects.mcp.options import McpOptions, with_hello
from transports.hello import Dialects


def dialects(config: Config) -> Dialects:
    in_flight = config.greenroom.limits.requests_in_flight
    options = mcp_options(config)
    return {
        "control": lambda client, _: ControlDialect(client, in_flight),
        "mcp": lambda client, said: McpDialect(client, with_hello(options, said)),
    }


def mcp_options(config: Config) -> McpOptions:
    mcp = config.greenroom.mcp
    return McpOptions(
        version=VERSION,
        tools=mcp.tools,
        twin_notifications=mcp.twin_notifications,
        answer_cancelled=mcp.answer_cancelled,
        stream_meta=mcp.stream_meta,
        unanswerable_seconds=mcp.unanswerable_seconds,
        progress_seconds=mcp.progress_seconds,
        requests_in_flight=config.greenroom.limits.requests_in_flight,
    )
