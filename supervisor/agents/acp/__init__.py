"""Third-party agents that speak ACP, the Agent Client Protocol. Greenroom is their client.

`docs/agents.md` describes the parts.
"""
