"""Requests that a client repeats after their daemon was lost: the same id and arguments are the same turn.

Only a request that the bridge names as lost can be repeated: clients number their requests anew in each process, and
some use one id for all. The key goes into the history with the input, where it is kept for a day. The id of the
conversation that a request begins follows from the key, so that it is found even if the client never got it.
"""

import json
from hashlib import sha256
from uuid import UUID, uuid4

from msgspec import Struct

from actors.messages.conversation import FindInput
from actors.vocabulary.errors import GreenroomError, UnknownConversation
from actors.vocabulary.ids import ConversationId, RequestId
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.identifiers import conversation_id, fresh_conversation
from transports.dialects.kit.script import Script, command
from transports.jsonrpc import Params

GIVEN_KEPT = 4096  # ids of conversations; a client that numbers its requests never needs one of them


class RepeatableMessage(Struct, frozen=True):
    """A request that sends a message. `own`: the id for a conversation that it begins.

    `again`: it was lost before; `where`: its conversation, if known. `follows`: the client has sent messages on an
    earlier connection, where an equal request may have begun the conversation with this id.
    """

    key: str
    own: ConversationId
    again: bool = False
    where: ConversationId | None = None
    follows: bool = False

    def place(self) -> Script[tuple[ConversationId, bool]]:
        """The conversation for a first message, and whether that message is already there.

        On the first connection of a client nothing is looked up: nothing can be there.
        """
        if not self.again and not self.follows:
            return self.own, False
        for conversation in dict.fromkeys((self.where or self.own, self.own)):
            try:
                yield from command(conversation, FindInput(key=self.key))
            except UnknownConversation:
                if conversation == self.own:
                    return self.own, False
            except GreenroomError:
                continue  # the conversation exists, without this input
            else:
                if self.again:
                    return conversation, True
        return fresh_conversation(), False


def new_message() -> RepeatableMessage:
    """A message that its client can't repeat."""
    return RepeatableMessage(str(uuid4()), fresh_conversation())


NO_MESSAGE = RepeatableMessage("", ConversationId(""))


class Repeats:
    def __init__(self, speaker: str) -> None:
        """`speaker`: the name of the client's process, beyond the life of this daemon."""
        self._speaker = speaker
        self._follows = False  # the client has sent messages on a connection before this one
        self._lost: Bounded[RequestId, ConversationId | None] = Bounded()
        self._given: Bounded[ConversationId, None] = Bounded(GIVEN_KEPT)

    def note_lost(self, params: Params) -> None:
        """Note a lost connection, and the requests whose answers never came. Unreadable entries are ignored."""
        self._follows = True
        entries = params.get("requests") if isinstance(params, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            number = entry.get("id") if isinstance(entry, dict) else None
            if isinstance(number, int | str) and not isinstance(number, bool):
                self._lost[number] = _conversation_id_or_none(entry.get("threadId"))

    def identify(self, request: RequestId, name: str, arguments: object) -> RepeatableMessage:
        content = json.dumps([self._speaker, request, name, arguments], sort_keys=True)
        key = sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        own = ConversationId(str(UUID(bytes=sha256(key.encode()).digest()[:16], version=4)))
        if request in self._lost:
            return RepeatableMessage(key, own, again=True, where=self._lost.pop(request))
        if own in self._given:
            return RepeatableMessage(key, fresh_conversation())
        self._given[own] = None
        return RepeatableMessage(key, own, follows=self._follows)


def _conversation_id_or_none(thread: object) -> ConversationId | None:
    try:
        return conversation_id(thread) if isinstance(thread, str) else None
    except ValueError:
        return None
