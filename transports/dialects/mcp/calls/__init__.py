"""The tools: `codex` are the two that run a turn, `typed` the four of the wire of August 2025, `own` our own."""
