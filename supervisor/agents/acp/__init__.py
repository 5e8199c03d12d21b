"""Agents that are programs of others and speak ACP, the Agent Client Protocol. We are their client.

`docs/agents.md` has who owns what.
"""
