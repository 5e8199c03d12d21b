"""The conversation methods that Codex servers of 2025 speak beside MCP: plain JSON-RPC on the same connection.

`methods` is the table, which is given to an MCP dialect; the state of a connection is in its client's state. MCP's
own tools speak Codex's names of our events, too: `events`, `work`, `questions`.
"""
