"""The tools of a model: run a command, apply a patch, keep a plan."""
