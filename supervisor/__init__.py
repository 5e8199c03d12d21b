"""Who wires and carries out: config, paths, logs, the journal on disk, the agent, the command line."""
