"""Moments as texts for clients. Pure."""

from datetime import UTC, datetime


def moment(seconds: float) -> str:
    """The moment in UTC, to the millisecond: 2026-01-31T12:00:00.000Z."""
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
