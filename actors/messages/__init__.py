"""Messages that the actors tell each other, and the ports that the packages above implement. Leaves: no logic."""
