"""The dialects of this program, by the name in a hello: each entry makes the dialect for one client. On the loop.

The config is looked up when a client connects and after each reload, never kept.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from msgspec.structs import replace

from supervisor.config.ceiling import widest
from supervisor.config.connection_settings import with_connection
from supervisor.config.limits import LimitsTable
from supervisor.config.whole_config import Config
from supervisor.daemon.seal_key import seal_key
from supervisor.paths import Paths
from supervisor.version import VERSION
from transports.dialect import Client, Dialect
from transports.dialects.control.dialect import ControlDialect
from transports.hello import Dialects, Options

if TYPE_CHECKING:
    from transports.dialects.acp.options import AcpOptions
    from transports.dialects.mcp.protocol.options import McpOptions

log = structlog.get_logger()


def dialects(config: Callable[[], Config], paths: Paths, instance: str = "") -> Dialects:
    """Return the table. `instance`: the id of this run of the daemon."""
    secret = cache(partial(seal_key, Path(paths.seal_file)))
    return {
        "acp": lambda client, hello: _acp(config, client, hello, instance),
        "control": lambda client, _: _control(config().greenroom.limits, client),
        "mcp": lambda client, hello: _mcp(lambda: mcp_options(config(), hello, secret()), client),
    }


def _control(limits: LimitsTable, client: Client) -> Dialect:
    return ControlDialect(client, limits.requests_in_flight, limits.subscriptions)


def load_the_rest() -> None:
    """Import the dialects that a start does not wait for. If that fails, the first client of each imports it."""
    try:
        import transports.dialects.acp.dialect
        import transports.dialects.codex.methods
        import transports.dialects.mcp.dialect  # noqa: F401  # so that the next import of them is fast
    except (OSError, ImportError) as error:  # many clients came at once and left no descriptor to read a file with
        log.warning("dialects.loaded_later", reason=str(error))


def _acp(config: Callable[[], Config], client: Client, hello: Options, instance: str) -> Dialect:
    from transports.dialects.acp.dialect import AcpDialect

    return AcpDialect(client, lambda: acp_options(config(), hello, instance))


def acp_options(config: Config, hello: Options, instance: str) -> "AcpOptions":
    """The options of one connection: the config, and over it the settings in the hello of its bridge."""
    from transports.dialects.acp.options import AcpOptions, with_hello

    acp = with_connection(config.greenroom.acp, hello.get("settings"), "acp")
    options = AcpOptions(
        version=VERSION,
        instance=instance,
        if_busy=acp.if_busy,
        load_bytes=acp.load_bytes,
        requests_in_flight=config.greenroom.limits.requests_in_flight,
        subscriptions=config.greenroom.limits.subscriptions,
    )
    options = with_hello(options, hello)
    named = (config.greenroom.mcp.max_sandbox, config.sandbox_mode, options.person.sandbox)
    return replace(options, widest=widest(named))


def _mcp(options: Callable[[], "McpOptions"], client: Client) -> Dialect:
    from transports.dialects.codex.methods import METHODS
    from transports.dialects.mcp.dialect import McpDialect

    return McpDialect(client, options, METHODS)


def mcp_options(config: Config, hello: Options, secret: bytes) -> "McpOptions":
    """The options of one connection: the config, and over it the settings in the hello of its bridge."""
    from transports.dialects.mcp.protocol.options import McpOptions, with_hello

    mcp = with_connection(config.greenroom.mcp, hello.get("settings"))
    options = McpOptions(
        version=VERSION,
        secret=secret,
        tools=mcp.tools,
        twin_notifications=mcp.twin_notifications,
        answer_cancelled=mcp.answer_cancelled,
        stream_meta=mcp.stream_meta,
        gone_s=mcp.caller_gone_seconds if mcp.on_caller_gone == "interrupt" else None,
        progress_seconds=mcp.progress_seconds,
        requests_in_flight=config.greenroom.limits.requests_in_flight,
        subscriptions=config.greenroom.limits.subscriptions,
    )
    return with_hello(options, hello)
