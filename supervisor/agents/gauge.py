"""The fullness of a context in tokens: estimated from bytes, corrected by the last report of a server. Pure."""

from msgspec import Struct

TOKENS_PER_BYTE = 0.3  # before anything was reported: text and code have some 3.5 bytes a token
LEAST, MOST = 0.05, 1.2  # bounds of a reported rate; beyond them a server counts something else
MOST_OVERHEAD = 100_000  # bytes of instructions and tools: ours have a tenth of it, and some servers many tools
PICTURE_BYTES = 4_000  # that a picture counts as; providers charge 300 to 1,600 tokens for one


class Gauge(Struct, frozen=True):
    """The last report: `load` bytes were `tokens` tokens. 0: no report yet."""

    load: int = 0
    tokens: int = 0

    def rate(self, overhead: int) -> float:
        """Return the tokens a byte. `overhead`: the bytes of a request that are not history."""
        if not self.tokens:
            return TOKENS_PER_BYTE
        return min(MOST, max(LEAST, self.tokens / max(1, self.load + overhead)))

    def at_most(self, load: int) -> int:
        """Return an upper bound on the tokens of a request with this load, whatever its overhead."""
        if not self.tokens:
            return round((load + MOST_OVERHEAD) * TOKENS_PER_BYTE)
        return round(self.tokens + max(0, load - self.load) * MOST)

    def estimate(self, load: int, overhead: int) -> int:
        """Return the tokens of a request with this load."""
        if not self.tokens:
            return round((load + overhead) * TOKENS_PER_BYTE)
        return max(0, round(self.tokens + (load - self.load) * self.rate(overhead)))
