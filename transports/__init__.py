"""Who routes: bytes to messages and back. Knows actors, and nothing of the supervisor."""
