"""The pauses before a server is started again, by how its lives have ended. Pure."""

QUIET_S = 60.0  # a life that lasted this long forgives the ends before
RETRY_FIRST_S, RETRY_MOST_S = 30.0, 600.0  # after a start that failed: each try may cost a turn the start's time-out
CRASH_MOST_S = 60.0  # after an end: at once, then after 1, 2, 4 s…


class Restarts:
    def __init__(self) -> None:
        self._failures = 0
        self._again_at = 0.0

    def wait_s(self, now: float) -> float:
        """Return the seconds until the server may be started; 0 or less: now."""
        return self._again_at - now

    def note_answer(self) -> None:
        self._failures = 0

    def note_end(self, now: float) -> float:
        """Take note of a life that has ended, and return the pause: none after the first."""
        self._failures += 1
        pause_s = min(2.0 ** (self._failures - 2), CRASH_MOST_S) if self._failures > 1 else 0.0
        self._again_at = now + pause_s
        return pause_s

    def note_no_start(self, began: float, now: float) -> float:
        """Take note of a start that failed, and return the pause."""
        self._failures = self._failures + 1 if now - began < QUIET_S else 1
        pause_s = min(RETRY_FIRST_S * 2.0 ** (self._failures - 1), RETRY_MOST_S)
        self._again_at = now + pause_s
        return pause_s
