"""Who routes: bytes to messages and back. Knows actors, and nothing of the supervisor."""

PROTOCOL = 1  # of the first line; stands here because a client can load nothing more to say it
