"""Failures of a server, in words for a person and for the model. A leaf.

ServerError
├── Unavailable    it can't be used now: it did not start, or is not to be started yet
├── Ended          it ended, or the connection to it, in the middle of a call
├── TimedOut       a call took longer than it may
└── CallFailed     it answered with an error, or with no valid answer
"""


class ServerError(Exception):
    """A problem with a server, in one line."""


class Unavailable(ServerError):
    pass


class Ended(ServerError):
    pass


class ServerTimedOut(ServerError):
    pass


class CallFailed(ServerError):
    pass
