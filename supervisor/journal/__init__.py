"""The durable log of all conversations: one SQLite file, written by one thread of one process.

Implements actors.vocabulary.ports.Journal and keeps event bodies as bytes, without knowing their meaning.
See docs/journal.md.
"""

from supervisor.journal.retention import Retention
from supervisor.journal.store import SqliteJournal

__all__ = ["Retention", "SqliteJournal"]
