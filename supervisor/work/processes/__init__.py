"""Commands as processes: started, read, and ended so that nothing of them stays behind.

Knows nothing of models, approvals or sandboxes; docs/processes.md explains the whole. Loop thread only.
"""
