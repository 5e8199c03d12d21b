"""The routes between clients and actors: bytes to messages and back. Knows nothing of the supervisor."""

PROTOCOL = 1  # the version in the hello; defined here so that a client need load nothing else
SERVER = "codex-mcp-server"  # Codex clients look for this name
