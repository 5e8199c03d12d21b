"""Files and directories, looked at without surprises: bounded reading, folders by component, search paths."""
