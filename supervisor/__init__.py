"""The program: config, paths, logs, the journal on disk, the agent, the command line, the daemon."""
