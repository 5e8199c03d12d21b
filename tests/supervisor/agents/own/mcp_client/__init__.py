"""Tools of MCP servers, against a server that misbehaves on demand."""
