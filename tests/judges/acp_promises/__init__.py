"""A judge that knows nothing of Greenroom: promises of any ACP agent (protocol 1), tried over stdio.

    python -m tests.judges.acp_promises -- opencode acp

A promise is a sentence and a function that tries it; cases_*.py have them. Each is tried on an agent, a home and a
scripted model of its own (`trial`), by a client that sees nothing but the wire (`client`).
"""
