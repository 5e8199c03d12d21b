"""Requests that a client repeats after their daemon was lost: the same id and arguments are the same turn.

Only a request that the bridge names as lost can be repeated: clients number their requests anew in each process, and
some use one id for all. The key goes into the history with the input, where it is kept for a day.
"""

import json
from hashlib import sha256
from uuid import UUID, uuid4

from msgspec import Struct

from actors.messages.conversation import FindInput
from actors.vocabulary.errors import GreenroomError, UnknownConversation
from actors.vocabulary.ids import ConversationId, RequestId
from transports.dialects.kit.bounded import Bounded
from transports.dialects.kit.identifiers import conversation_id
from transports.dialects.kit.script import Script, command
from transports.jsonrpc import Params


class RepeatableMessage(Struct, frozen=True):
    """A request that sends a message. `again`: it was lost before; `where`: its conversation, if known."""

    key: str
    again: bool = False
    where: ConversationId | None = None

    def place(self) -> Script[tuple[ConversationId, bool]]:
        """The conversation for a first message, and whether that message is already there.

        Its id follows from the key, so that it is found even if the client never got it; unless that id is taken.
        """
        own = ConversationId(str(UUID(bytes=sha256(self.key.encode()).digest()[:16], version=4)))
        for conversation in dict.fromkeys((self.where or own, own)):
            try:
                yield from command(conversation, FindInput(key=self.key))
            except UnknownConversation:
                if conversation == own:
                    return own, False
            except GreenroomError:
                continue  # the conversation exists, without this input
            else:
                if self.again:
                    return conversation, True
        return ConversationId(str(uuid4())), False


class Repeats:
    def __init__(self, speaker: str) -> None:
        """`speaker`: the name of the client's process, beyond the life of this daemon."""
        self._speaker = speaker
        self._lost: Bounded[RequestId, ConversationId | None] = Bounded()

    def note_lost(self, params: Params) -> None:
        """Note the requests whose answers the client never got. Unreadable entries are ignored."""
        entries = params.get("requests") if isinstance(params, dict) else None
        for entry in entries if isinstance(entries, list) else ():
            number = entry.get("id") if isinstance(entry, dict) else None
            if isinstance(number, int | str) and not isinstance(number, bool):
                self._lost[number] = _conversation_id_or_none(entry.get("threadId"))

    def identify(self, request: RequestId, name: str, arguments: object) -> RepeatableMessage:
        content = json.dumps([self._speaker, request, name, arguments], sort_keys=True)
        key = sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        if request not in self._lost:
            return RepeatableMessage(key)
        return RepeatableMessage(key, again=True, where=self._lost.pop(request))


def _conversation_id_or_none(thread: object) -> ConversationId | None:
    try:
        return conversation_id(thread) if isinstance(thread, str) else None
    except ValueError:
        return None
