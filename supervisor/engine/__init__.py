"""Everything but the doors: journal, loop, actors and agents, started in order and stopped in the mirror of it."""
