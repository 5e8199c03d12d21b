"""The functional core of the registry: which conversation is live, who is owed what, how often one may fail.

Pure in that it touches nothing outside: messages in, effects out.
"""

from actors.routing.core import Routing

__all__ = ["Routing"]
