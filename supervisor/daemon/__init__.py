"""The daemon of a home: its start, the way to it for clients, the lock that keeps it the only process, its socket."""
