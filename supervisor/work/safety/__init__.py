"""Decisions about commands and patches: run, ask or refuse. Pure: runs nothing, opens no file."""
