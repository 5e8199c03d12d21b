"""The tools: `codex` has the two that run a turn, `conversation_tools` the four of August 2025, `own` our own."""
