"""Commands as processes: started, read, and ended with all processes that they began.

Knows nothing of models, approvals or sandboxes; docs/processes.md explains the whole. Loop thread only.
"""
