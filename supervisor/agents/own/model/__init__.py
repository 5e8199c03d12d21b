"""One response of a model: its request, its stream, the wires and the retries. Runs on the loop thread.

Knows nothing of turns, tools, journals or clients; docs/models.md says how the pieces fit.
"""
