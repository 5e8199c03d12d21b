"""The tools: the two of Codex that run a turn, the four of August 2025, and our own."""
