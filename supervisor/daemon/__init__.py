"""The daemon of a home: its start, how clients find it, the lock that keeps it the only process, its socket."""
