"""MCP itself: revisions, handshake, decoding, tools, questions, tasks, and the state of one connection."""
