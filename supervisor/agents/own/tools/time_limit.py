"""The time that a command gets, as its model asked within the limits, and the words about it. Pure."""

from msgspec import Struct

from supervisor.config.bounds import Bounds


class TimeLimit(Struct, frozen=True):
    """The limit of one command, in milliseconds. `most`: the most for any command."""

    ms: float
    most: int
    requested_ms: float | None = None

    @property
    def cap_notice(self) -> str | None:
        """The words for a model that asked for more than there is; None if it did not."""
        if self.requested_ms is None or self.requested_ms <= self.ms:
            return None
        return (
            f"a timeout of {self.requested_ms:.0f} milliseconds was asked for, {self.most} are possible "
            "(greenroom.limits.command_timeout_most_ms)"
        )

    @property
    def timeout_notice(self) -> str:
        """The words for people when the command did not end in time."""
        return f"command timed out after {self.ms:.0f} milliseconds"

    @property
    def timeout_text(self) -> str:
        """The words for the model when the command did not end in time, with a way on."""
        longer = (
            f"call again with a larger timeout (at most {self.most})"
            if self.ms < self.most
            else "it can't have longer: do it in smaller steps"
        )
        return (
            f"{self.timeout_notice}\n[it was ended, with all that it had started; its output until then follows. "
            f"If it needs longer, {longer}]"
        )


def time_limit(asked: float | None, bounds: Bounds) -> TimeLimit:
    """Return the limit for a command. A configured default above the maximum raises the maximum."""
    most = max(bounds.command_timeout_most_ms, bounds.command_timeout_ms)
    return TimeLimit(min(asked or bounds.command_timeout_ms, most), most, asked)
