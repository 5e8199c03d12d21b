"""Quoting of words as a command line. The dialects quote the same way, so the code is in transports."""

from transports.quoting import quoted, quoted_command

__all__ = ["quoted", "quoted_command"]
