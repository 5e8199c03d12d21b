"""The process of a home: how it begins, is found, is one, and serves its socket."""
