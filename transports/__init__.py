"""The routes between clients and actors: bytes to messages and back. Knows nothing of the supervisor."""

PROTOCOL = 1  # of the first line; stands here because a client can load nothing more to say it
SERVER = "codex-mcp-server"  # the name that Codex clients look for
