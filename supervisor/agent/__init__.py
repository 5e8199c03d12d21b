"""One turn's work: models, tools, approvals, processes, sandbox; on the loop thread."""
