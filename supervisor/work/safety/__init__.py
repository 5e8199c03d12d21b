"""Decisions about commands and patches: run, ask or refuse. Runs nothing, changes no file."""
