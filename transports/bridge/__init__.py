"""The program between a client and the daemon, which outlives any number of daemons. Standard library only.

Moves lines of JSON-RPC, one message each, and knows no method: a dialect's `Replay` interprets its messages.
"""
