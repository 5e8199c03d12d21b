"""Tools of MCP servers: connections that conversations share, and one call of a tool.

Only `live.py` and its imports know the SDK, which is imported when the first server is started.
"""
