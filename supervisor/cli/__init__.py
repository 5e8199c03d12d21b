"""The command line: a module per family of verbs, each importing only what it draws with."""
