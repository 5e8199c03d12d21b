"""Logging: the files, the form of a record, and the redaction of secrets."""
