"""Our own agent: a model with our tools. The rest of the daemon reaches it by `supervisor.agents.backend` alone."""
