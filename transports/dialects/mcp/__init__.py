"""The Model Context Protocol, as a server that Codex clients of 2025 know, without the faults of Codex's own.

`methods` has its tables, `calls` are the tools, `sinks` write events, `elicitation` asks for approvals, `dialect`
speaks it. The table of further methods on the same connection is given to the dialect.
"""
