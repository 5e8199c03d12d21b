"""The conversation methods that Codex servers of 2025 speak beside MCP: plain JSON-RPC on the same connection.

`methods` is the table, which an MCP dialect is given; what a connection has open is in its client's state.
"""
