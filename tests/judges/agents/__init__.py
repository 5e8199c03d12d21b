"""Agents of other projects, from npm: their programs, and a model that all of them can ask."""
