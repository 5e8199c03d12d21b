"""Names that were asked for and are not on disk yet. Part of the registry's core; pure.

A name is claimed before the disk is asked whether it is free, and until the request has its one answer. So nobody
else gets it between the look at the disk and the commit.
"""

from typing import Generic, TypeVar

from msgspec import Struct

from actors.messages.conversation import SessionInput
from actors.vocabulary.ids import Caller, ConversationId

Request = TypeVar("Request")


class NameClaim(Struct, Generic[Request], frozen=True):
    """A name for a conversation, and the request that waits until it is known to be free."""

    name: str
    conversation: ConversationId
    request: Request


class Naming(Struct):
    """The search for a name that is free, for a conversation without one.

    `held`: the message that is to bring the name, and those after it; `left`: the names that were not tried yet.
    """

    caller: Caller
    left: list[str]
    held: list[SessionInput]


class Names(Generic[Request]):
    def __init__(self) -> None:
        self._claims: dict[Caller, NameClaim[Request]] = {}
        self._held: dict[str, list[NameClaim[Request]]] = {}  # all for the same conversation

    def __len__(self) -> int:
        return len(self._claims)

    def claim(self, caller: Caller, claim: NameClaim[Request]) -> bool:
        """Claim a name; False if another conversation may be about to get it."""
        held = self._held.get(claim.name, [])
        if any(other.conversation != claim.conversation for other in held):
            return False
        self._claims[caller] = claim
        self._held[claim.name] = [*held, claim]
        return True

    def claimed_by(self, caller: Caller) -> NameClaim[Request] | None:
        return self._claims.get(caller)

    def settle(self, caller: Caller) -> None:
        """Give up the claim of this request, because its one answer is out: the name is on disk, or free."""
        claim = self._claims.pop(caller, None)
        if claim is None:
            return
        left = [other for other in self._held.pop(claim.name) if other is not claim]
        if left:
            self._held[claim.name] = left
