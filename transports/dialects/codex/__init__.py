"""The conversation methods that Codex servers of 2025 speak beside MCP: plain JSON-RPC on the same connection.

`methods` is the table, which the MCP dialect reads; what a connection has open lies on its desk.
"""
