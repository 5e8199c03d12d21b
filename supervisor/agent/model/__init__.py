"""One response of a model: what it reads, what it says, over which wire, with which retries. Runs on the loop thread.

Knows nothing of turns, tools, journals or clients; docs/models.md says how the pieces fit.
"""
