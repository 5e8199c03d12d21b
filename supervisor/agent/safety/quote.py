"""Words as a command line; the dialects quote the same way, so it lives with them."""

from transports.quoting import quoted, quoted_command

__all__ = ["quoted", "quoted_command"]
