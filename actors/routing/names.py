"""Names that were asked for and are not on disk yet, and the search for the name of a conversation without one.

A name is claimed before the disk is asked whether it is free, and until the request has its one answer. So nobody
else gets it between the look at the disk and the commit. Part of the registry's core; pure.
"""

from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from actors.messages.conversation import Send, SessionInput, ToConversation
from actors.messages.journal import FindName
from actors.messages.routing import ClaimName, NameClaimed, SayNameClaimed
from actors.routing.decisions import Decisions, HandOver, Refuse
from actors.routing.entry import Entry
from actors.vocabulary.errors import GreenroomError, NameTaken
from actors.vocabulary.ids import Caller, ConversationId
from actors.vocabulary.items import text_of
from actors.vocabulary.naming import names_for, refused_name
from actors.vocabulary.records import Head
from actors.vocabulary.settings import Task

NAMING_LENGTH = 400  # characters of a message that a name is made of; its first words are among them


class Naming(Struct):
    """The search for a name that is free, for a conversation without one.

    `held`: the message that is to bring the name, and those after it; `left`: the names that were not tried yet.
    """

    conversation: ConversationId
    caller: Caller
    left: list[str]
    held: list[SessionInput]


class NameClaim(Struct, frozen=True):
    """A name for a conversation, and the request that waits until it is known to be free. None: a Create."""

    name: str
    conversation: ConversationId
    caller: Caller
    request: ToConversation | ClaimName | Naming | None


def naming_by(message: SessionInput, entry: Entry) -> Naming | None:
    """The search that this message begins, if the conversation has no name as far as is known."""
    if not isinstance(message, ToConversation) or not isinstance(message.command, Send) or message.caller is None:
        return None
    send, head = message.command, entry.head
    if send.name is not None or send.task is not Task.ANSWER or (head is not None and head.name is not None):
        return None
    about = head.preview if head else ""
    names = names_for(about or text_of(send.items)[:NAMING_LENGTH], message.conversation)
    return Naming(message.conversation, message.caller, [*names], [message]) if names else None


def name_taken(name: str) -> NameTaken:
    return NameTaken(f"another conversation is called {name!r}; choose another name")


class Names:
    def __init__(self) -> None:
        self._claims: dict[Caller, NameClaim] = {}
        self._held: dict[str, list[NameClaim]] = {}  # all for the same conversation
        self._searches: dict[ConversationId, Naming] = {}
        self._newly_named: dict[ConversationId, Caller] = {}  # until the name is on disk

    def __len__(self) -> int:
        return len(self._claims)

    # --- claims ---------------------------------------------------------------------------------------------------

    def claim(self, claim: NameClaim) -> GreenroomError | None:
        """Claim a name at once. It is granted if the disk, which is asked next, does not know it either."""
        if (refusal := refused_name(claim.name)) is not None:
            return refusal
        held = self._held.get(claim.name, [])
        if any(other.conversation != claim.conversation for other in held):
            return name_taken(claim.name)
        self._claims[claim.caller] = claim
        self._held[claim.name] = [*held, claim]
        return None

    def settle(self, caller: Caller) -> None:
        """Give up the claim of this request, because its one answer is out: the name is on disk, or free."""
        claim = self._claims.pop(caller, None)
        if claim is None:
            return
        left = [other for other in self._held.pop(claim.name) if other is not claim]
        if left:
            self._held[claim.name] = left

    def ask(self, claim: NameClaim) -> Decisions:
        """Claim a name for a request, which waits until it is known that the disk does not know it either."""
        refusal = self.claim(claim)
        return self._refuse(claim, refusal) if refusal else [FindName(claim.name, claim.caller)]

    def take_owner(self, caller: Caller, owner: ConversationId | None) -> Decisions:
        """Go on with the request, as the disk says whose name it is; it is free, or its own, or refused."""
        claim = self._claims.get(caller)
        if claim is None:
            return []  # settled meanwhile
        if owner not in {None, claim.conversation}:
            return self._refuse(claim, name_taken(claim.name))
        match claim.request:
            case Naming() as naming:
                self._newly_named[claim.conversation] = caller
                return self._go_on(naming, claim.name)
            case ToConversation() as renaming:
                return [HandOver(claim.conversation, renaming)]
            case ClaimName() as asked:
                return [SayNameClaimed(asked.reply_to, NameClaimed())]
            case None:
                return []
            case _:
                assert_never(claim.request)

    def refuse(self, caller: Caller, error: GreenroomError) -> Decisions:
        """Refuse a name because the disk could not be asked for it."""
        claim = self._claims.get(caller)
        return self._refuse(claim, error) if claim else [Refuse(caller, error)]

    def _refuse(self, claim: NameClaim, refusal: GreenroomError) -> Decisions:
        match claim.request:
            case Naming() as naming:
                self.settle(claim.caller)
                return self._try_next(naming)
            case ClaimName() as asked:
                self.settle(claim.caller)
                return [SayNameClaimed(asked.reply_to, NameClaimed(refusal))]
            case _:
                return [Refuse(claim.caller, refusal)]

    # --- searches -------------------------------------------------------------------------------------------------

    def search(self, naming: Naming) -> Decisions:
        """Find a free name for a conversation that has none. The message brings it, and all later ones wait.

        It is claimed like a name that a client asks for, so that no two conversations get the same.
        """
        self._searches[naming.conversation] = naming
        return self._try_next(naming)

    def held_for(self, conversation: ConversationId) -> list[SessionInput] | None:
        """The messages that wait for the name of the conversation; None if none is being searched."""
        naming = self._searches.get(conversation)
        return naming.held if naming else None

    def _try_next(self, naming: Naming) -> Decisions:
        if not naming.left:
            return self._go_on(naming, "")
        return self.ask(NameClaim(naming.left.pop(0), naming.conversation, naming.caller, naming))

    def _go_on(self, naming: Naming, name: str) -> Decisions:
        """Go on with the messages that waited for a name; an empty name says that none was found."""
        first, *others = self._searches.pop(naming.conversation).held
        if isinstance(first, ToConversation) and isinstance(first.command, Send):
            first = replace(first, command=replace(first.command, name=name))
        return [HandOver(naming.conversation, message) for message in (first, *others)]

    def note_head(self, head: Head) -> None:
        """Note a stored row: a claim ends when the name, or the words that it was made of, are on disk."""
        if (head.name or head.preview) and (caller := self._newly_named.pop(head.conversation, None)):
            self.settle(caller)

    def forget(self, conversation: ConversationId) -> None:
        self._newly_named.pop(conversation, None)
