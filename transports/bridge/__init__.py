"""The program between a client and the daemon, which outlives any number of daemons. Standard library only.

It moves lines of JSON-RPC, a message each, and knows no method: a dialect's `Replay` says what its messages mean.
"""
