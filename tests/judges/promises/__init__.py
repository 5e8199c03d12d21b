"""A judge that knows nothing of Greenroom: promises of any server of the `codex mcp` shape, tried over stdio.

    python -m tests.judges.promises 'greenroom mcp'

A promise is a sentence and a function that tries it; cases_*.py have them. Each is tried on a server, a home and a
scripted model of its own (`trial`), by a client that sees nothing but the wire (`client`).
"""
