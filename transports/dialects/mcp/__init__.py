"""The Model Context Protocol, as a server that Codex clients of 2025 know, without what was wrong with theirs.

`methods` has its tables, `calls` are the tools, `sinks` write events, `elicitation` asks for approvals, `dialect`
speaks it. Other methods on the same connection are given to the dialect as a table.
"""
