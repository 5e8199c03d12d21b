"""The wire languages: each translates between its lines and our messages, and owns nothing else."""
