"""ACP, as editors speak it: every conversation of the daemon is a session."""
