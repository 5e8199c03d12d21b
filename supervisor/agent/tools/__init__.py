"""What a model may do beside talk: run a command, apply a patch, keep a plan."""
