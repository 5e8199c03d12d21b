"""The Model Context Protocol, as a server that Codex clients of 2025 know, without what was wrong with theirs.

`methods` is its table, `calls` are the tools, `readers` and their sinks write events, `questions` asks for approvals,
`dialect` speaks it. The conversation methods on the same connection are next door, in `codex`.
"""
