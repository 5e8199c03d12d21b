"""The functional core of the registry: live conversations, unanswered requests, failures and how many are allowed.

Pure in that it touches nothing outside: messages in, effects out.
"""

from actors.routing.core import Routing

__all__ = ["Routing"]
