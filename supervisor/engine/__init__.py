"""Everything behind the socket: journal, loop, actors and agents, started in order and stopped in reverse order."""
