"""The functional core of the registry: which conversation is live, who is owed what, how often one may fail.

Pure in that it touches nothing outside: messages in, effects out.
"""

from actors.routing.core import SAID_TO_IT, Routing
from actors.routing.entry import caller_of

__all__ = ["SAID_TO_IT", "Routing", "caller_of"]
