"""Logging: sinks, levels and context.

Call `configure` once, at an entry point; all other code calls `structlog.get_logger(__name__)`. Logs never go to
stdout, which is a wire. Records are redacted on the way out, so no caller can forget it. Any thread may log.
"""

import logging
import os
import sys
from pathlib import Path
from typing import TextIO

import structlog
from msgspec import Struct
from structlog.stdlib import ProcessorFormatter
from structlog.typing import Processor

from supervisor.logs.flood_filter import FloodFilter
from supervisor.logs.log_file import LogFile
from supervisor.logs.records import redact

# Our loggers, at the configured level; those of libraries (httpx, asyncio, pykka) log only from a warning on.
OURS = ("actors", "greenroom", "supervisor", "transports")

# These run on the caller's thread before the record exists: only there is the context, and none of them can fail.
_EARLY: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True, key="ts"),
)


class TerminalHandler(logging.StreamHandler[TextIO]):
    """Readable text for a person. A failure is counted, as of a full disk: the terminal may have gone."""

    failures = 0

    def emit(self, record: logging.LogRecord) -> None:
        try:
            super().emit(record)
        except RecursionError:  # the only error that the standard library lets through to the caller
            self.failures += 1

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802 - logging's own name for it
        self.failures += 1


class Logs(Struct, frozen=True):
    """The sinks in use. Closing them leaves logging silent, as before `configure`."""

    sinks: tuple[LogFile | TerminalHandler, ...]

    @property
    def failures(self) -> int:
        """Records that could not be written, or not whole."""
        return sum(sink.failures for sink in self.sinks)

    def close(self) -> None:
        root = logging.getLogger()
        for sink in self.sinks:
            root.removeHandler(sink)
            sink.close()
        silence()


def configure(
    file: Path | None,
    level: str = "info",
    *,
    terminal: TextIO | None = None,
    max_bytes: int = 10 << 20,
    backups: int = 3,
) -> Logs:
    """Send JSON lines to the file and readable text to the terminal; either may be left out."""
    if terminal is not None and terminal in (sys.stdout, sys.__stdout__):
        raise ValueError("logs never go to stdout")
    sinks: list[LogFile | TerminalHandler] = []
    if file is not None:
        sinks.append(LogFile(file, max_bytes, backups))
        sinks[-1].setFormatter(_formatter(structlog.processors.JSONRenderer()))
    if terminal is not None:
        sinks.append(TerminalHandler(terminal))
        colours = terminal.isatty() and not os.environ.get("NO_COLOR")
        sinks[-1].setFormatter(_formatter(_for_people(colours=colours)))
    for sink in sinks:
        sink.addFilter(FloodFilter())
    _route(sinks, logging.getLevelNamesMapping()[level.upper()])
    return Logs(tuple(sinks))


def silence() -> None:
    """Turn logging off, for programs that don't configure it: structlog's own default prints to stdout."""
    _route([logging.NullHandler()], logging.CRITICAL)


def _formatter(renderer: Processor) -> logging.Formatter:
    return ProcessorFormatter(
        foreign_pre_chain=list(_EARLY),
        processors=[
            ProcessorFormatter.remove_processors_meta,
            structlog.processors.StackInfoRenderer(),
            structlog.processors.format_exc_info,
            redact,
            renderer,
        ],
    )


def _for_people(*, colours: bool) -> Processor:
    plain = structlog.dev.plain_traceback  # structlog would use rich, if that is installed
    return structlog.dev.ConsoleRenderer(
        colors=colours, timestamp_key="ts", pad_event_to=28, exception_formatter=plain
    )


def _route(handlers: list[LogFile | TerminalHandler] | list[logging.NullHandler], level: int) -> None:
    root = logging.getLogger()
    ours = (LogFile, TerminalHandler, logging.NullHandler)
    for old in [handler for handler in root.handlers if isinstance(handler, ours)]:
        root.removeHandler(old)
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(max(level, logging.WARNING))
    for name in OURS:
        logging.getLogger(name).setLevel(level)
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *_EARLY, ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        # Loggers are made at import time, before `configure` is called; they must notice the call.
        cache_logger_on_first_use=False,
    )
