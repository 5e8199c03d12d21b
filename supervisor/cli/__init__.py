"""The command line: a module for each family of verbs, which imports only the drawing code that it needs."""
