"""The fullness of a context in tokens: estimated from bytes, corrected by what a response reported. Pure."""

from msgspec import Struct

TOKENS_PER_BYTE = 0.3  # before anything was reported: text and code have some 3.5 bytes a token
LEAST, MOST = 0.05, 1.2  # of what a report may teach; beyond that a server counts something else
MOST_OVERHEAD = 100_000  # bytes of instructions and tools: ours have a tenth of it, and some servers many tools
PICTURE_BYTES = 4_000  # that a picture counts as; providers charge 300 to 1,600 tokens for one


class Gauge(Struct, frozen=True):
    """The last report: a load of so many bytes was so many tokens. 0: nothing yet."""

    load: int = 0
    tokens: int = 0

    def rate(self, overhead: int) -> float:
        """Return tokens a byte. `overhead`: the bytes of a request that are no part of the history."""
        if not self.tokens:
            return TOKENS_PER_BYTE
        return min(MOST, max(LEAST, self.tokens / max(1, self.load + overhead)))

    def at_most(self, load: int) -> int:
        """Return more tokens than a request with this load can have, without a look at what else is in it."""
        if not self.tokens:
            return round((load + MOST_OVERHEAD) * TOKENS_PER_BYTE)
        return round(self.tokens + max(0, load - self.load) * MOST)

    def estimated(self, load: int, overhead: int) -> int:
        """Return the tokens of a request with this load."""
        if not self.tokens:
            return round((load + overhead) * TOKENS_PER_BYTE)
        return max(0, round(self.tokens + (load - self.load) * self.rate(overhead)))
